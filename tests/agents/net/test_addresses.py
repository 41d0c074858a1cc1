"""Row ssrf-2: which IP addresses are public."""

import pytest

from agents.net.addresses import reach_of

PRIVATE = [
    # This machine
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",  # noqa: S104 — judged, not bound
    "0.1.2.3",
    "::1",
    "::",
    # Networks of one's own
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "fc00::1",
    "fdff:ffff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    # A scope names an interface of this machine, whatever stands before it
    "fe80::1%eth0",
    "2606:4700::1111%1",
    # For documents, benchmarks, protocols
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
    "2001:db8::1",
    "3fff::1",
    "2001:2::1",
    "2001:20::1",
    "100::1",
    "5f00::1",
    # To many, or to nobody
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "ff0e::1",
    # One address in another
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "::10.0.0.1",
    "::8.8.8.8",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::192.168.1.1",
    "64:ff9b:1::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2002:c0a8:101::1",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:192.168.0.1",
]

METADATA = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2606:4700::5efe:169.254.169.254",
]

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:82a::200e",
    "2001:200::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]

NONE = [
    "",
    "localhost",
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "127.0.0.1 ",
    "127.0.0.1/32",
    "[::1]",
    "127.0.0.1:80",
    "１２７.0.0.1",
    "::ffff:127.1",
    "1.1.1.1\x00",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_a_network_of_ones_own_is_private(address: str) -> None:
    assert reach_of(address) == "private"


@pytest.mark.parametrize("address", METADATA)
def test_what_clouds_answer_on_is_told_apart(address: str) -> None:
    assert reach_of(address) == "metadata"


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert reach_of(address) == "public"


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_address_is_not_judged(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        reach_of(text)
