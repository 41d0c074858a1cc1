"""Which IP addresses are public.

The standard library's ``is_global`` follows the registry of its day and looks neither into
addresses that carry another one nor at what clouds answer on, so the lists stand here:
https://www.iana.org/assignments/iana-ipv4-special-registry and its sibling for IPv6 (2026-11).
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal

Reach = Literal["public", "private", "metadata"]
"""Who can be reached: everybody; this machine and its networks; what a cloud tells its machines,
credentials among it."""

_ORDER: Final[tuple[Reach, ...]] = ("public", "private", "metadata")

_PRIVATE_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; the kernel takes it for this machine
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a carrier's customers, or by a mesh of machines
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast
    )
)
# Nothing else of IPv6 is given out to machines that everybody may reach.
_GLOBAL_6: Final = IPv6Network("2000::/3")
_PRIVATE_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocols: Teredo, ORCHID, benchmarks
        "2001:db8::/32",
        "3fff::/20",
    )
)
_METADATA_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "169.254.0.0/16",  # link-local, where nearly all clouds answer
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
    )
)
_METADATA_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "fd00:ec2::/32",  # Amazon
        "fd20:ce::/32",  # Google
        "fd00:c1::/32",  # Oracle
        "fd00:42::/32",  # Scaleway
    )
)

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_6TO4: Final = IPv6Network("2002::/16")
# Translators of a network's own: the IPv4 address stands at its end.
_OTHERS_WITH_4_AT_END: Final = (
    IPv6Network("::/96"),
    IPv6Network("::ffff:0:0:0/96"),
    IPv6Network("64:ff9b:1::/48"),
)
# The first half of the interface of an address that tunnels to the IPv4 address in the second.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def reach_of(address: str) -> Reach:
    """Return who can be reached at an IP address.

    An address that carries another reaches whom that one reaches.

    Raises:
        ValueError: It is no IP address as the system writes them.
    """
    found = ip_address(address)
    if isinstance(found, IPv4Address):
        return _reach_of_4(found)
    if found.scope_id is not None:
        # It names an interface of this machine.
        return _worst(_reach_of_6(IPv6Address(int(found))), "private")
    return _reach_of_6(found)


def _reach_of_4(address: IPv4Address) -> Reach:
    if any(address in network for network in _METADATA_4):
        return "metadata"
    return "private" if any(address in network for network in _PRIVATE_4) else "public"


def _reach_of_6(address: IPv6Address) -> Reach:
    if any(address in network for network in _METADATA_6):
        return "metadata"
    if address in _MAPPED or address in _NAT64:
        return _reach_of_4(_last_4(address))
    own: Reach = "public"
    if address not in _GLOBAL_6 or any(address in network for network in _PRIVATE_6):
        own = "private"
    return _worst(own, *map(_reach_of_4, _carried(address)))


def _carried(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses to which something on the way may lead on."""
    if address in _6TO4:
        yield IPv4Address((int(address) >> 80) & 0xFFFF_FFFF)
    if address.teredo is not None:
        yield from address.teredo
    is_isatap = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
    if is_isatap or any(address in network for network in _OTHERS_WITH_4_AT_END):
        yield _last_4(address)


def _last_4(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _worst(*reaches: Reach) -> Reach:
    return max(reaches, key=_ORDER.index)
