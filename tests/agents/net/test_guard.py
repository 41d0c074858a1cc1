"""Row ssrf-1: nothing is connected to that a caller may not reach; no attempt leaves."""

import pytest

from agents.net import AddressRefused, BadAddress, Guard, NetError, fetch
from tests.agents.net.world import PUBLIC, PUBLIC_6, Web, World

NAMES = {
    "localhost": [["127.0.0.1", "::1"]],
    "localhost.": [["127.0.0.1"]],
    "localhost.localdomain": [["127.0.0.1"]],
    "ip6-localhost": [["::1"]],
    "inside.example": [["10.0.0.1"]],
    "10.0.0.1.nip.example": [["10.0.0.1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "mapped.example": [["::ffff:169.254.169.254"]],
    "nat64.example": [["64:ff9b::a00:1"]],
    "sixtofour.example": [["2002:a00:1::1"]],
    "several.example": [["10.0.0.1", "192.168.0.1", "fd00::1"]],
    "scoped.example": [["fe80::1%lo"]],
    "nonsense.example": [["not an address"]],
}

HOSTILE = [
    # This machine, written as people do not write it
    "http://127.0.0.1/",
    "http://127.0.0.1:11434/v1",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://localhost../",
    "http://localhost.localdomain/",
    "http://ip6-localhost/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    # What clouds tell their machines
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://mapped.example/",
    "http://100.100.100.200/",
    # Networks of one's own
    "http://10.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[fec0::1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:a00:1::]/",
    "http://inside.example/",
    "http://10.0.0.1.nip.example/",
    "http://nat64.example/",
    "http://sixtofour.example/",
    "http://several.example/",
    "http://scoped.example/",
    "http://nonsense.example/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    # Another host than the one that is seen
    "http://public.example@127.0.0.1/",
    "http://public.example:80@10.0.0.1/",
    "http://public.example%40127.0.0.1/",
    "http://public.example#@127.0.0.1/",
    "http://127.0.0.1\\@public.example/",
    "http://public.example\\@127.0.0.1/",
    "http://[::1]#.public.example/",
    "http://127.0.0.1?.public.example/",
    "http://127.0.0.1%00.public.example/",
    "http://127.0.0.1\t.public.example/",
    "http:///127.0.0.1/",
    "http://:80/",
    "//127.0.0.1/",
    # Other ways than the web's
    "file:///etc/passwd",
    "ftp://10.0.0.1/",
    "gopher://127.0.0.1:6379/_INFO",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "data:text/plain,hello",
    "ws://127.0.0.1/",
    "javascript:alert(1)",
    "",
    "http://",
    "http://[/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:0/",
    "http://" + "a" * 300 + ".example/",
    "http://" + "a" * 64 + ".example/",
]


@pytest.mark.parametrize("url", HOSTILE)
async def test_a_hostile_address_is_never_connected_to(world: World, url: str) -> None:
    world.names |= NAMES

    with pytest.raises(NetError):
        await fetch(url, guard=Guard())

    assert world.attempts == []


def test_the_table_is_as_long_as_was_asked() -> None:
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://0xa9fea9fe/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/",
        "http://100.100.100.200/",
    ],
)
async def test_what_clouds_tell_their_machines_is_out_of_reach_for_superusers_too(
    world: World, url: str
) -> None:
    world.names |= NAMES

    with pytest.raises(AddressRefused, match="only QANOT_PRIVATE_HOSTS"):
        await fetch(url, guard=Guard(may_reach_private=True))

    assert world.attempts == []


async def test_a_refusal_says_who_may_allow_it(world: World) -> None:
    with pytest.raises(AddressRefused, match="a superuser or QANOT_PRIVATE_HOSTS may allow it"):
        await fetch("http://10.0.0.1/", guard=Guard())


async def test_a_public_server_is_connected_to(world: World, web: Web) -> None:
    world.names["public.example"] = [[PUBLIC]]

    fetched = await fetch("http://public.example/page", guard=Guard())

    assert (fetched.status, fetched.body) == (200, b"hello")
    assert world.attempts == [(PUBLIC, 80)]
    assert web.asked[0].host == "public.example"


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    world: World, web: Web
) -> None:
    world.names["flips.example"] = [[PUBLIC], ["127.0.0.1"]]

    await fetch("http://flips.example/", guard=Guard())
    with pytest.raises(AddressRefused):
        await fetch("http://flips.example/", guard=Guard())

    assert world.attempts == [(PUBLIC, 80)]


async def test_of_mixed_answers_only_public_addresses_are_tried(world: World, web: Web) -> None:
    world.names["mixed.example"] = [["10.0.0.1", PUBLIC_6, PUBLIC, "::ffff:127.0.0.1"]]

    await fetch("http://mixed.example/", guard=Guard())

    assert set(world.attempts) <= {(PUBLIC_6, 80), (PUBLIC, 80)}
    assert (PUBLIC, 80) in world.attempts


@pytest.mark.parametrize("host", ["127.0.0.1", "inside.example", "0x7f.1", "192.168.0.7"])
async def test_with_permission_private_addresses_are_connected_to(
    world: World, web: Web, host: str
) -> None:
    world.names |= NAMES

    fetched = await fetch(f"http://{host}:8080/", guard=Guard(may_reach_private=True))

    assert fetched.status == 200
    assert len(world.attempts) == 1


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("inside.example", "http://inside.example/"),
        ("Inside.Example.", "http://INSIDE.example./"),
        ("inside.example:8080", "http://inside.example:8080/"),
        ("inside.example:80", "http://inside.example/"),
        ("10.0.0.1", "http://inside.example/"),
        ("10.0.0.1:80", "http://10.0.0.1/"),
        ("169.254.169.254", "http://metadata.google.internal/"),
    ],
)
async def test_a_listed_host_is_connected_to(world: World, web: Web, listed: str, url: str) -> None:
    world.names |= NAMES
    world.names["inside.example."] = NAMES["inside.example"]

    fetched = await fetch(url, guard=Guard(private_hosts=frozenset({listed})))

    assert fetched.status == 200


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("inside.example", "http://several.example/"),
        ("inside.example:8080", "http://inside.example/"),
        ("example", "http://inside.example/"),
        ("10.0.0.1:8080", "http://10.0.0.1/"),
        ("::1", "http://[::1:80]/"),
        # A name leads wherever its owner likes: to credentials only by their own address.
        ("metadata.google.internal", "http://metadata.google.internal/"),
    ],
)
async def test_a_list_allows_what_it_says_and_no_more(world: World, listed: str, url: str) -> None:
    world.names |= NAMES

    with pytest.raises(BadAddress):
        await fetch(url, guard=Guard(private_hosts=frozenset({listed})))

    assert world.attempts == []


async def test_listed_addresses_of_ipv6_are_written_with_or_without_brackets(
    world: World,
) -> None:
    for listed in ("::1", "[::1]", "[::1]:8080"):
        guard = Guard(private_hosts=frozenset({listed}))
        with pytest.raises(NetError, match="cannot be reached"):
            await fetch("http://[::1]:8080/", guard=guard)

    assert world.attempts == [("::1", 8080)] * 3


async def test_proxies_of_the_environment_are_not_asked(
    world: World, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.names["public.example"] = [[PUBLIC]]
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:3128")

    await fetch("http://public.example/", guard=Guard())

    assert world.attempts == [(PUBLIC, 80)]
