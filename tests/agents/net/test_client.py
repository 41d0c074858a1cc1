"""One request within its bounds."""

import asyncio
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web as http

from agents.net import (
    AddressRefused,
    BadAddress,
    Guard,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
    fetch,
)
from tests.agents.net.world import PUBLIC, Web, World, certified

URL = "http://public.example/"
ELSEWHERE = "http://elsewhere.example/"


@pytest.fixture(autouse=True)
def _names(world: World) -> None:
    world.names |= {
        "public.example": [[PUBLIC]],
        "elsewhere.example": [["93.184.215.15"]],
        "inside.example": [["10.0.0.1"]],
    }


def _moved(to: str, *, status: int = 302) -> http.Response:
    return http.Response(status=status, headers={"Location": to})


# --- redirects ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "//127.0.0.1/",
        "http://[::ffff:7f00:1]/",
        "http://inside.example/",
        "file:///etc/passwd",
        "http://public.example@127.0.0.1/",
        "http://[/",
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(
    world: World, web: Web, location: str
) -> None:
    web.answers = [_moved(location)]

    with pytest.raises(BadAddress):
        await fetch(URL, guard=Guard())

    assert world.attempts == [(PUBLIC, 80)]


async def test_a_listed_host_does_not_lead_to_one_that_is_not(world: World, web: Web) -> None:
    web.answers = [_moved("http://192.168.0.1/")]

    with pytest.raises(AddressRefused):
        await fetch("http://inside.example/", guard=Guard(private_hosts=frozenset(["10.0.0.1"])))

    assert world.attempts == [("10.0.0.1", 80)]


async def test_redirects_are_followed_to_the_answer(world: World, web: Web) -> None:
    web.answers = [_moved("/two"), _moved(f"{ELSEWHERE}three#part")]

    fetched = await fetch(URL, guard=Guard())

    assert fetched.url == f"{ELSEWHERE}three"
    assert [request.path for request in web.asked] == ["/", "/two", "/three"]


async def test_redirects_without_end_are_given_up(world: World, web: Web) -> None:
    web.answers = [_moved("/again") for _ in range(9)]

    with pytest.raises(TooManyRedirects):
        await fetch(URL, guard=Guard(), max_redirects=3)

    assert len(web.asked) == 4


async def test_a_redirect_that_leads_nowhere_is_the_answer(world: World, web: Web) -> None:
    web.answers = [http.Response(status=302, text="moved")]

    fetched = await fetch(URL, guard=Guard())

    assert (fetched.status, fetched.body) == (302, b"moved")


@pytest.mark.parametrize(
    ("location", "is_carried"), [("/two", True), (ELSEWHERE, False), (f"{URL[:-1]}:81/", False)]
)
async def test_credentials_stay_with_the_server_that_they_are_for(
    world: World, web: Web, location: str, is_carried: bool
) -> None:
    web.answers = [_moved(location)]
    secrets = {"Authorization": "Bearer s", "X-Api-Key": "s", "Cookie": "s=1"}

    await fetch(URL, guard=Guard(), headers=secrets | {"Accept-Language": "uz"})

    last = web.asked[-1].headers
    assert all((name in last) is is_carried for name in secrets)
    assert last["Accept-Language"] == "uz"
    assert last["User-Agent"] == "Qanot"


async def test_content_is_not_sent_on_to_another_server(world: World, web: Web) -> None:
    web.answers = [_moved(ELSEWHERE, status=307)]

    with pytest.raises(BadAddress, match="another server"):
        await fetch(URL, guard=Guard(), method="POST", body=b"secret")

    assert world.attempts == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(302, "GET", b""), (303, "GET", b""), (307, "POST", b"said"), (308, "POST", b"said")],
)
async def test_a_redirect_on_the_same_server_keeps_what_its_status_says(
    world: World, web: Web, status: int, method: str, body: bytes
) -> None:
    web.answers = [_moved("/two", status=status)]

    await fetch(URL, guard=Guard(), method="POST", body=b"said")

    assert (web.asked[-1].method, web.bodies[-1]) == (method, body)


async def test_https_does_not_lead_to_http(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = certified("public.example", tmp_path)
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", client)
    served = Web()
    served.answers = [_moved("/two"), _moved("http://public.example/plain")]
    world.server = await served.start(server)

    with pytest.raises(BadAddress, match="from https to http"):
        await fetch("https://public.example/", guard=Guard())

    assert [request.path for request in served.asked] == ["/", "/two"]
    assert world.attempts == [(PUBLIC, 443)] * 2
    await served.stop()


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    world: World, tmp_path: Path
) -> None:
    served = Web()
    world.server = await served.start(certified("public.example", tmp_path)[0])

    with pytest.raises(Unreachable, match="certificate"):
        await fetch("https://public.example/", guard=Guard())

    assert served.asked == []
    await served.stop()


async def test_cookies_are_neither_kept_nor_sent(world: World, web: Web) -> None:
    moved = _moved("/two")
    moved.set_cookie("seen", "1")
    web.answers = [moved]

    await fetch(URL, guard=Guard())

    assert "Cookie" not in web.asked[-1].headers


# --- sizes -------------------------------------------------------------------------------


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _members(data: bytes) -> bytes:
    return gzip.compress(data[:5]) + gzip.compress(data[5:])


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("gzip", _members),
        ("gzip", lambda data: gzip.compress(data) + b"what is left"),
        ("deflate", zlib.compress),
        ("deflate", _raw_deflate),
    ],
)
async def test_an_answer_is_unpacked(
    world: World, web: Web, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    text = bytes(range(256)) * 700
    web.answers = [http.Response(body=pack(text), headers={"Content-Encoding": encoding})]

    fetched = await fetch(URL, guard=Guard(), max_bytes=len(text))

    assert fetched.body == text


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zlib.compress, _raw_deflate])
async def test_an_answer_that_unfolds_to_too_much_is_given_up(
    world: World, web: Web, pack: Callable[[bytes], bytes]
) -> None:
    encoding = {bytes: "identity", gzip.compress: "gzip"}.get(pack, "deflate")
    packed = pack(bytes(20 * 2**20))
    web.answers = [http.Response(body=packed, headers={"Content-Encoding": encoding})]

    with pytest.raises(TooLarge):
        await fetch(URL, guard=Guard(), max_bytes=100_000)


async def test_an_answer_without_a_length_is_measured(world: World, web: Web) -> None:
    endless = http.Response(body=b"x" * 200_000)
    endless.enable_chunked_encoding()
    web.answers = [endless]

    with pytest.raises(TooLarge):
        await fetch(URL, guard=Guard(), max_bytes=100_000)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"whatever"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"whatever", mtime=0), mtime=0)),
        ("gzip", b"not packed at all"),
        ("gzip", gzip.compress(b"whatever" * 99, mtime=0)[:-12]),
    ],
)
async def test_an_answer_that_cannot_be_unpacked_is_none(
    world: World, web: Web, encoding: str, body: bytes
) -> None:
    web.answers = [http.Response(body=body, headers={"Content-Encoding": encoding})]

    with pytest.raises(Unreachable):
        await fetch(URL, guard=Guard())


async def test_a_head_has_no_body_whatever_its_length_says(world: World, web: Web) -> None:
    web.answers = [http.Response(body=b"x" * 1000)]

    fetched = await fetch(URL, guard=Guard(), method="HEAD", max_bytes=10)

    assert (fetched.status, fetched.body) == (200, b"")


# --- time, and servers that are away ---------------------------------------------------------


async def test_a_server_that_says_nothing_is_given_up(world: World, web: Web) -> None:
    web.may_answer.clear()

    with pytest.raises(TooSlow):
        await fetch(URL, guard=Guard(), timeout_s=0.05)

    assert world.attempts == [(PUBLIC, 80)]
    web.may_answer.set()


async def test_a_server_that_hangs_up_is_unreachable(world: World) -> None:
    def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        writer.close()

    rude = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    world.server = rude.sockets[0].getsockname()
    async with rude:
        with pytest.raises(Unreachable):
            await fetch(URL, guard=Guard())


async def test_a_name_that_nobody_knows_is_unreachable(world: World) -> None:
    with pytest.raises(Unreachable, match="no such host"):
        await fetch("http://unknown.example/", guard=Guard())


async def test_headers_of_an_answer_have_lower_case_names(world: World, web: Web) -> None:
    web.answers = [http.Response(text="", headers={"X-Seen": "1"})]

    fetched = await fetch(URL, guard=Guard(), accept="text/html")

    assert fetched.headers["x-seen"] == "1"
    assert web.asked[0].headers["Accept"] == "text/html"
