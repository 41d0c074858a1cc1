"""Who may be asked: decided on the address that is connected to, in the moment of connecting.

A check ahead of the connection would be worth nothing: the name may lead elsewhere a moment later,
and every parser reads odd addresses its own way. Here the address comes from the socket's own
call, whatever was written, resolved or redirected before.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from ssl import SSLContext
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from agents.net.addresses import reach_of
from agents.net.errors import AddressRefused, BadAddress

SCHEMES: Final = ("http", "https")
PRIVATE: Final = "this address is private: a superuser or QANOT_PRIVATE_HOSTS may allow it"
METADATA: Final = (
    "this address belongs to the machine's own surroundings: only QANOT_PRIVATE_HOSTS may allow it"
)

# Family, type, protocol, canonical name and (host, port, …), as the system's resolver gives them.
_AddressInfo = tuple[int, int, int, str, tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Guard:
    """What one caller may reach; the default is the public internet and nothing else.

    Args:
        may_reach_private: True where the address comes from somebody who may reach this machine
            and its networks anyway. What a cloud tells its machines stays out of reach.
        private_hosts: ``host`` or ``host:port`` which anybody may have asked, wherever the name
            leads; to what a cloud tells its machines it leads only where that address itself is
            in the list.
    """

    may_reach_private: bool = False
    private_hosts: frozenset[str] = frozenset()

    def trusts(self, url: URL | str) -> bool:
        """Return whether the host that an address names is in the list."""
        try:
            named = URL(url)
            return self._lists(named.raw_host or "", named.port or 0)
        except ValueError:
            return False

    def connector(
        self,
        url: URL | str | None = None,
        *,
        ssl: bool | SSLContext = True,
        limit: int = 100,
        keepalive_timeout: float | None = 15.0,
    ) -> aiohttp.TCPConnector:
        """Return a connector that opens no connection which this guard refuses.

        Args:
            url: Where its requests go. A connector for a listed host must not be used for others.
            limit: Connections at a time.
            keepalive_timeout: Seconds for which an idle connection is kept.
        """
        is_trusted = url is not None and self.trusts(url)
        check = partial(self.check, is_trusted=is_trusted)
        return aiohttp.TCPConnector(
            resolver=_Resolver(check),
            socket_factory=partial(_open_socket, check),
            ssl=ssl,
            limit=limit,
            keepalive_timeout=keepalive_timeout,
        )

    def check(self, address: str, port: int, *, is_trusted: bool = False) -> None:
        """Refuse an IP address that may not be connected to.

        Raises:
            AddressRefused: It may not.
        """
        try:
            reach = reach_of(address)
        except ValueError as exc:
            raise AddressRefused("this is no address that can be checked") from exc
        if reach == "public" or self._lists(address, port):
            return
        if reach == "metadata":
            raise AddressRefused(METADATA, is_closed_to_all=True)
        if not (self.may_reach_private or is_trusted):
            raise AddressRefused(PRIVATE)

    def _lists(self, host: str, port: int) -> bool:
        listed = _listed(self.private_hosts)
        host = _plain(host)
        return (host, port) in listed or (host, None) in listed


def web_address(text: str) -> URL:
    """Return the address of a web server.

    Raises:
        BadAddress: It is none, or names a user: such a one is written to mislead, and a password
            in it would be seen wherever the address is.
    """
    try:
        url = URL(text)
        port = url.port
    except ValueError as exc:
        raise BadAddress("the address is not valid") from exc
    if url.scheme not in SCHEMES:
        raise BadAddress("the address has to begin with http:// or https://")
    if not url.raw_host or not port:
        raise BadAddress("the address names no host")
    if url.raw_user is not None or url.raw_password is not None:
        raise BadAddress("an address with a user name in it is not asked")
    return url


class _Resolver(AbstractResolver):
    """The system's resolver, without the addresses that a check refuses."""

    def __init__(self, check: Callable[[str, int], None]) -> None:
        self._check = check
        self._system = aiohttp.DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name that may be connected to.

        Raises:
            AddressRefused: There are only others.
        """
        allowed: list[ResolveResult] = []
        refusal: AddressRefused | None = None
        for found in await self._found(host, port, family):
            try:
                self._check(found["host"], found["port"])
            except AddressRefused as exc:
                refusal = exc
            else:
                allowed.append(found)
        if not allowed:
            raise refusal or OSError(f"no address is known for {host}")
        return allowed

    async def _found(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> list[ResolveResult]:
        try:
            return await self._system.resolve(host, port, family)
        except UnicodeError as exc:
            # Names too long for DNS fail in the codec, before anybody is asked.
            raise OSError(f"no address is known for {host[:80]}") from exc

    async def close(self) -> None:
        """Close the system's resolver."""
        await self._system.close()


def _open_socket(check: Callable[[str, int], None], info: _AddressInfo) -> socket.socket:
    """Return a socket for an address just before it is connected; the last word."""
    family, kind, protocol, _, where = info
    host, port = where[0], where[1]
    if family not in (socket.AF_INET, socket.AF_INET6):
        raise AddressRefused("only addresses of the internet are asked")
    if not (isinstance(host, str) and isinstance(port, int)):
        raise AddressRefused("this is no address that can be checked")
    check(host, port)
    return socket.socket(family, kind, protocol)


@lru_cache(maxsize=32)
def _listed(hosts: frozenset[str]) -> frozenset[tuple[str, int | None]]:
    return frozenset(_entry(host) for host in hosts)


def _entry(text: str) -> tuple[str, int | None]:
    """Return the host and the port that a line of the list names."""
    host, colon, port = text.rpartition(":")
    # Without brackets, an address of IPv6 has no port: "::1".
    has_port = colon and port.isdecimal() and (":" not in host or host.endswith("]"))
    return (_plain(host), int(port)) if has_port else (_plain(text), None)


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()
