"""One guarded request: bounded in time, size and redirects, and with nothing to give away."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from yarl import URL

from agents.net.bodies import read_body
from agents.net.errors import (
    BadAddress,
    NetError,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)
from agents.net.guard import Guard, web_address

TIMEOUT_S: Final = 15.0
MAX_BYTES: Final = 5 * 2**20
MAX_REDIRECTS: Final = 3
USER_AGENT: Final = "Qanot"

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# These two ask for the same request once more, elsewhere; the others for a plain GET.
_SAME_AGAIN: Final = frozenset({307, 308})
# What may follow a redirect to another server; any other header may be a credential.
_HARMLESS: Final = frozenset({"accept", "accept-language", "user-agent"})


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, whatever its status.

    Args:
        headers: Names in lower case; of several with one name, the first.
        body: Decompressed.
        url: Where it came from, after redirects.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


@dataclass(frozen=True, slots=True)
class _Request:
    """One request of a chain of redirects."""

    url: URL
    method: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)

    def redirected(self, response: aiohttp.ClientResponse) -> "_Request | None":
        """Return the request that an answer asks for; None where it is the last answer.

        Raises:
            BadAddress: It must not be sent.
        """
        location = response.headers.get("Location")
        if response.status not in _REDIRECTS or not location:
            return None
        url = web_address(_joined(self.url, location))
        if self.url.scheme == "https" and url.scheme != "https":
            raise BadAddress("the answer leads from https to http")
        is_same_server = url.origin() == self.url.origin()
        is_plain = self.method in ("GET", "HEAD")
        if response.status in _SAME_AGAIN and not is_plain and not is_same_server:
            raise BadAddress("the answer sends what was sent on to another server")
        keeps_body = is_plain or response.status in _SAME_AGAIN
        return _Request(
            url,
            self.method if keeps_body else "GET",
            self.headers if is_same_server else _harmless(self.headers),
            self.body if keeps_body and is_same_server else None,
        )


async def fetch(
    url: str,
    *,
    guard: Guard,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    accept: str = "*/*",
    timeout_s: float = TIMEOUT_S,
    max_bytes: int = MAX_BYTES,
    max_redirects: int = MAX_REDIRECTS,
) -> Fetched:
    """Ask one address, and follow its redirects, each checked anew.

    No cookies, no proxy of the environment, no headers or content for a server that was not
    asked by the caller.

    Args:
        accept: The ``Accept`` header.
        timeout_s: For everything, redirects included.
        max_bytes: Of the decompressed answer.

    Raises:
        NetError: There is no answer that may be had; its subclasses say why.
    """
    sent = {"User-Agent": USER_AGENT, "Accept": accept, **(headers or {})}
    request = _Request(web_address(url), method.upper(), sent, body)
    try:
        async with asyncio.timeout(timeout_s):
            for _ in range(max_redirects + 1):
                async with _opened(request, guard) as response:
                    following = request.redirected(response)
                    if following is None:
                        return await _fetched(response, max_bytes)
                request = following
    except TimeoutError as exc:
        raise TooSlow("the answer did not come in time") from exc
    raise TooManyRedirects("the answer led on too often")


@asynccontextmanager
async def _opened(request: _Request, guard: Guard) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """Send a request over a connection of its own."""
    session = aiohttp.ClientSession(
        connector=guard.connector(request.url, limit=1),
        cookie_jar=aiohttp.DummyCookieJar(),
        # What a bomb unfolds to must be measured while it does: bodies.py.
        auto_decompress=False,
        trust_env=False,
    )
    async with session:
        try:
            async with session.request(
                request.method,
                request.url,
                headers={"Accept-Encoding": "gzip, deflate", **request.headers},
                data=request.body,
                allow_redirects=False,
                # The whole has its limit already.
                timeout=aiohttp.ClientTimeout(total=None),
            ) as response:
                yield response
        except (NetError, TimeoutError):
            raise
        except aiohttp.InvalidURL as exc:
            raise BadAddress("the address is not valid") from exc
        except aiohttp.ClientConnectorDNSError as exc:
            raise Unreachable("no such host is known") from exc
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as exc:
            raise Unreachable("the server has no certificate that can be trusted") from exc
        except aiohttp.ClientConnectorError as exc:
            raise Unreachable("the server cannot be reached") from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise Unreachable("the connection broke off") from exc


async def _fetched(response: aiohttp.ClientResponse, max_bytes: int) -> Fetched:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        headers.setdefault(name.lower(), value)
    body = await read_body(response, max_bytes=max_bytes)
    return Fetched(response.status, headers, body, str(response.url))


def _joined(base: URL, location: str) -> str:
    try:
        return str(base.join(URL(location)).with_fragment(None))
    except ValueError as exc:
        raise BadAddress("the answer leads to no valid address") from exc


def _harmless(headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
