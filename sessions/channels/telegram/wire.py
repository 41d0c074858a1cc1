"""aiogram's session over our guarded connections; what it raises holds neither token nor address.

Imported at the first use of a bot only (``client``): aiogram takes 3 s and 120 MB.
"""

import asyncio
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Any, Final, cast

import aiohttp
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramNetworkError,
    TelegramServerError,
)
from aiogram.methods import GetMe, TelegramMethod
from aiogram.methods.base import TelegramType

from agents.net import NetError, TooLarge, Unreachable
from agents.net.bodies import read_body
from sessions.channels.telegram.servers import Server

CONNECT_S: Final = 10.0
REQUEST_S: Final = 30.0
MAX_ANSWER_BYTES: Final = 16 * 2**20
# What a file's download names as its method in errors.
NO_METHOD: Final = GetMe()

BROKEN: Final = (aiohttp.ClientError, NetError, asyncio.TimeoutError, OSError)
NEVER_LEFT: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    NetError,
)


class NotReached(TelegramNetworkError):
    """No connection was made: nothing left."""


class Unanswered(TelegramNetworkError):
    """The request left and no answer came: nobody knows whether it was taken."""


def open_bot(token: str, server: Server) -> Bot:
    """Return a bot over the running loop's session to its server; light to make."""
    return Bot(token, session=GuardedSession(server))


class GuardedSession(AiohttpSession):
    """Sends a bot's requests over the loop's session to its server."""

    def __init__(self, server: Server) -> None:
        """Keep the server; nothing is opened before the first request."""
        super().__init__(api=TelegramAPIServer.from_base(server.base_url), timeout=REQUEST_S)
        self._server = server

    async def create_session(self) -> aiohttp.ClientSession:
        """Return the running loop's session, which all its bots share."""
        return self._server.session()

    async def close(self) -> None:
        """Leave the session open: it is not this bot's own (``client.close_bots``)."""

    async def make_request(
        self,
        bot: Bot,
        method: TelegramMethod[TelegramType],
        timeout: int | None = None,  # noqa: ASYNC109 — aiogram's signature
    ) -> TelegramType:
        """Ask the Bot API.

        Raises:
            NotReached: Nothing left.
            Unanswered: It left, and no answer came.
            TelegramAPIError: It was refused; the class says how.
        """
        # Reads files, where the method sends some.
        form = self.build_form_data(bot=bot, method=method)
        url = self.api.api_url(token=bot.token, method=method.__api_method__)
        try:
            status, body = await self._post(url, form, float(timeout or REQUEST_S))
        except BROKEN as error:
            failed = _translated(error, method)
        else:
            return self._checked(bot, method, status, body)
        # Here, where it has no context: aiohttp's own errors hold the address, and so the token.
        raise failed

    async def _post(self, url: str, form: aiohttp.FormData, timeout_s: float) -> tuple[int, bytes]:
        async with self._server.session().post(
            url,
            data=form,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=timeout_s, connect=CONNECT_S),
        ) as answer:
            return answer.status, await read_body(answer, max_bytes=MAX_ANSWER_BYTES)

    def _checked(
        self, bot: Bot, method: TelegramMethod[TelegramType], status: int, body: bytes
    ) -> TelegramType:
        content = body.decode(errors="replace")
        try:
            return cast(TelegramType, self.check_response(bot, method, status, content).result)
        except ClientDecodeError:
            pass
        # A gateway's error page, whose text may be anything: only its status is told.
        if status == HTTPStatus.OK:
            raise Unanswered(method, "the answer is none of the Bot API's")
        raise TelegramServerError(method, f"HTTP {status} without an answer of the Bot API")

    async def stream_content(
        self,
        url: str,
        headers: dict[str, Any] | None = None,  # Any: as aiogram declares it
        timeout: int = 30,  # noqa: ASYNC109 — aiogram's signature
        chunk_size: int = 65_536,
        raise_for_status: bool = True,
    ) -> AsyncGenerator[bytes, None]:
        """Yield a file's bytes.

        Raises:
            NotReached: Nobody was there.
            Unanswered: It broke off.
            TelegramServerError: It was refused.
        """
        try:
            async with self._server.session().get(
                url,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(sock_read=timeout, connect=CONNECT_S),
            ) as answer:
                if raise_for_status and answer.status != HTTPStatus.OK:
                    raise TelegramServerError(NO_METHOD, f"HTTP {answer.status}")
                async for chunk in answer.content.iter_chunked(chunk_size):
                    yield chunk
        except BROKEN as error:
            failed = _translated(error, NO_METHOD)
        else:
            return
        raise failed


def _translated(error: Exception, method: TelegramMethod[Any]) -> TelegramNetworkError:
    """Tell what happened by its kind alone.

    Any: what the method would have returned does not matter.
    """
    is_open = isinstance(error, TooLarge | Unreachable)
    if isinstance(error, NEVER_LEFT) and not is_open:
        return NotReached(method, type(error).__name__)
    return Unanswered(method, type(error).__name__)
