"""The connections under both SDKs: their own clients, over aiohttp, through the guard.

Both SDKs come with a transport over aiohttp, whose parser is C. This one does the same, and in
addition opens each connection through ``agents.net``: a team gives an account's address, so it
must not lead to this machine and its networks. Proxies of the environment are not used, since
they would connect in our place.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

import aiohttp
import httpx2
from yarl import URL

from agents.net import Guard, NetError, TooLarge, Unreachable
from agents.net.bodies import unpacked
from agents.net.guard import web_address
from agents.providers.endpoint import Endpoint

# The SDKs' own number, but an idle connection is kept for the next message of a conversation
# rather than for 5 s: a new one costs a TLS handshake before the first token.
MAX_CONNECTIONS: Final = 1000
KEPT_S: Final = 30.0
CHUNK_BYTES: Final = 16 * 2**10
# More than any model writes: 128k tokens, each an event of 400 bytes, are 51 MB. Whoever sends more
# means to fill the memory.
MAX_ANSWER_BYTES: Final = 64 * 2**20
# What is got is a list of models; the longest known one has half a megabyte.
MAX_LIST_BYTES: Final = 4 * 2**20
# Loading the certificates takes 20 ms, nearly all of what a client costs: once, with this module,
# instead of on the loop for each account.
TLS: Final = httpx2.create_ssl_context()

# From the special to the general: the first that fits is raised.
_ERRORS: Final[tuple[tuple[type[Exception], type[httpx2.RequestError]], ...]] = (
    (aiohttp.ConnectionTimeoutError, httpx2.ConnectTimeout),
    (aiohttp.ServerTimeoutError, httpx2.ReadTimeout),
    (aiohttp.InvalidURL, httpx2.UnsupportedProtocol),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.ClientError, httpx2.ReadError),
)


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """Return the client that an SDK is given for an endpoint."""
    guard = Guard(endpoint.may_reach_private, endpoint.private_hosts)
    return httpx2.AsyncClient(
        transport=GuardedTransport(guard),
        # A redirect would carry the prompt to an address that nobody chose.
        follow_redirects=False,
        trust_env=False,
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests over aiohttp; the loop of the first one is the loop of all."""

    def __init__(self, guard: Guard) -> None:
        """Keep the guard; nothing is opened before the first request."""
        self._guard = guard
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return the answer's beginning.

        Raises:
            httpx2.RequestError: There is none; where the guard refused the address, that is the
                cause.
        """
        limits = request.extensions.get("timeout", {})
        with _translated():
            url = web_address(str(request.url))
            response = await self._session(url).request(
                method=request.method,
                url=url,
                headers=request.headers,
                data=await request.aread() or None,
                allow_redirects=False,
                compress=False,
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    sock_connect=limits.get("connect"),
                    sock_read=limits.get("read"),
                    connect=limits.get("pool"),
                ),
            )
        most = MAX_LIST_BYTES if request.method == "GET" else MAX_ANSWER_BYTES
        return httpx2.Response(
            response.status,
            # The body is unpacked here, where its length is watched.
            headers=[row for row in response.raw_headers if row[0].lower() != b"content-encoding"],
            stream=_Body(response, most),
            extensions={"http_version": b"HTTP/1.1"},
        )

    async def aclose(self) -> None:
        """Close the connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    def _session(self, url: URL) -> aiohttp.ClientSession:
        """Return the session for a host that is listed, or for one that is not."""
        is_trusted = self._guard.trusts(url)
        session = self._sessions.get(is_trusted)
        if session is None:
            session = self._sessions[is_trusted] = aiohttp.ClientSession(
                connector=self._guard.connector(
                    url, ssl=TLS, limit=MAX_CONNECTIONS, keepalive_timeout=KEPT_S
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return session


class _Body(httpx2.AsyncByteStream):
    """An answer's bytes as they come, unpacked, and no more than agreed."""

    def __init__(self, response: aiohttp.ClientResponse, max_bytes: int) -> None:
        self._response = response
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._response.content.iter_chunked(CHUNK_BYTES)
        encoding = self._response.headers.get("Content-Encoding", "")
        with _translated():
            async for part in unpacked(chunks, encoding=encoding, max_bytes=self._max_bytes):
                yield part

    async def aclose(self) -> None:
        """Give the connection back, or close it where something is left on it."""
        with _translated():
            self._response.release()
            await self._response.wait_for_close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (TooLarge, Unreachable) as exc:
        raise httpx2.DecodingError(str(exc)) from exc
    except NetError as exc:
        raise httpx2.UnsupportedProtocol(str(exc)) from exc
    except aiohttp.ClientError as exc:
        ours = next(ours for theirs, ours in _ERRORS if isinstance(exc, theirs))
        raise ours(str(exc)) from exc
