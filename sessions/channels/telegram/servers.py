"""Where a bot's API is, and the one HTTP session that an event loop keeps to it."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from django.conf import settings

from agents.net import Guard
from agents.net.guard import web_address
from sessions.models import ChannelAccount

TELEGRAM: Final = "https://api.telegram.org"
# Long polls hold theirs; the chats of a busy worker share the others.
CONNECTIONS: Final = 300
# Shorter than the server's: a request over a connection that it just closed would be lost, and
# nobody would know whether it was taken.
KEEPALIVE_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class Server:
    """A Bot API server as one account may reach it.

    Args:
        base_url: Without a slash at its end.
        may_reach_private: True where a superuser gave the address.
    """

    base_url: str
    may_reach_private: bool = False

    def session(self) -> aiohttp.ClientSession:
        """Return the running loop's session, opened at its first use."""
        return _opened_here().of(self)


def server_of(account: ChannelAccount) -> Server:
    """Return the server that an account's bot is asked at.

    Raises:
        BadAddress: Its address is none.
    """
    base_url = account.base_url.rstrip("/") or TELEGRAM
    web_address(base_url)
    return Server(base_url, account.may_reach_private)


async def close_sessions() -> None:
    """Close what was opened on the running loop."""
    opened = _LOOPS.pop(asyncio.get_running_loop(), None)
    if opened is not None:
        await opened.aclose()


@asynccontextmanager
async def own_sessions() -> AsyncIterator[None]:
    """Ask over sessions that are the caller's alone, and close them.

    For who asks a few times only, perhaps on a loop on which others ask as well: closing the
    loop's own sessions would cut those off.
    """
    opened = _Opened()
    token = _own.set(opened)
    try:
        yield
    finally:
        _own.reset(token)
        await opened.aclose()


class _Opened:
    """The sessions of one event loop, or of one caller."""

    def __init__(self) -> None:
        self._sessions: dict[Server, aiohttp.ClientSession] = {}

    def of(self, server: Server) -> aiohttp.ClientSession:
        session = self._sessions.get(server)
        if session is None or session.closed:
            session = self._sessions[server] = aiohttp.ClientSession(
                connector=self._connector(server), trust_env=False
            )
        return session

    async def aclose(self) -> None:
        for session in self._sessions.values():
            await session.close()

    def _connector(self, server: Server) -> aiohttp.TCPConnector:
        guard = Guard(server.may_reach_private, frozenset(settings.QANOT_PRIVATE_HOSTS))
        return guard.connector(
            server.base_url, ssl=_tls(), limit=CONNECTIONS, keepalive_timeout=KEEPALIVE_S
        )


_LOOPS: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Opened]" = WeakKeyDictionary()
_own: ContextVar[_Opened | None] = ContextVar("own_sessions", default=None)


def _opened_here() -> _Opened:
    return _own.get() or _LOOPS.setdefault(asyncio.get_running_loop(), _Opened())


@cache
def _tls() -> ssl.SSLContext:
    """Load the certificates once: that takes 20 ms."""
    return ssl.create_default_context(cafile=certifi.where())
