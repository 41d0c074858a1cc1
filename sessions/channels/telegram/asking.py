"""The Bot API's methods around receiving, without aiogram: a poller is 120 MB smaller for it.

Updates stay as they came, fields that nobody knows yet included. All these methods may be asked
again without harm, so that it does not matter whether a request left that was not answered.
"""

import json
from http import HTTPStatus
from typing import Final

import aiohttp
from pydantic import BaseModel, JsonValue, ValidationError

from agents.net import AddressRefused, NetError
from agents.net.bodies import read_body
from sessions.channels.telegram.servers import Server, server_of
from sessions.channels.telegram.tokens import token_of
from sessions.models import ChannelAccount

CONNECT_S: Final = 10.0
ANSWER_S: Final = 20.0
MAX_ANSWER_BYTES: Final = 32 * 2**20


class AskError(Exception):
    """The Bot API did not do what it was asked; no text holds the token or an address."""


class Unreachable(AskError):
    """Nobody answered, or nothing that makes sense.

    Args:
        is_address_refused: We did not ask: the address is private.
    """

    def __init__(self, detail: str, *, is_address_refused: bool = False) -> None:
        super().__init__(detail)
        self.is_address_refused = is_address_refused


class Refused(AskError):
    """The Bot API said no.

    Args:
        status: 400, 401, 403, 404, 409, 429 or 5xx.
        description: In its own words.
        retry_after_s: Seconds that it wants to be left alone.
    """

    def __init__(self, status: int, description: str, *, retry_after_s: int = 0) -> None:
        super().__init__(f"{status}: {description}")
        self.status = status
        self.description = description
        self.retry_after_s = retry_after_s

    @property
    def is_token_refused(self) -> bool:
        """Return whether the token is no bot's, or no longer."""
        # A token that never was one leads to an address that is none: 404.
        return self.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND)


class _Parameters(BaseModel):
    retry_after: int = 0


class _Answer(BaseModel):
    ok: bool
    result: JsonValue = None
    error_code: int = 0
    description: str = ""
    parameters: _Parameters = _Parameters()


async def ask(
    account: ChannelAccount, method: str, *, longer_s: float = 0.0, **parameters: JsonValue
) -> JsonValue:
    """Ask about an account's bot; return the result as it came.

    Args:
        longer_s: Seconds that the answer may take beyond the usual ones, as a long poll does.

    Raises:
        KeyMissing: The token cannot be had now.
        NotAToken: It has not the form of one.
        BadAddress: The address of its Bot API server is none.
        AskError: It did not work.
    """
    token, server = token_of(account), server_of(account)
    return await ask_at(server, token, method, longer_s=longer_s, **parameters)


async def ask_at(
    server: Server, token: str, method: str, *, longer_s: float = 0.0, **parameters: JsonValue
) -> JsonValue:
    """Ask about the bot of a token that has no row yet, as ``ask``.

    Raises:
        AskError: It did not work.
    """
    try:
        status, body = await _post(server, token, method, longer_s, parameters)
    except (TimeoutError, aiohttp.ClientError, NetError, OSError) as error:
        # By its kind alone: aiohttp's own texts hold the address, and so the token.
        kind, is_refused = type(error).__name__, isinstance(error, AddressRefused)
    else:
        return _result(status, body)
    raise Unreachable(kind, is_address_refused=is_refused)


async def _post(
    server: Server, token: str, method: str, longer_s: float, parameters: dict[str, JsonValue]
) -> tuple[int, bytes]:
    async with server.session().post(
        f"{server.base_url}/bot{token}/{method}",
        json=parameters,
        allow_redirects=False,
        timeout=aiohttp.ClientTimeout(total=ANSWER_S + longer_s, connect=CONNECT_S),
    ) as answer:
        return answer.status, await read_body(answer, max_bytes=MAX_ANSWER_BYTES)


def _result(status: int, body: bytes) -> JsonValue:
    try:
        answer = _Answer.model_validate(json.loads(body))
    except (ValueError, ValidationError):
        answer = None
    if answer is None:
        raise Unreachable(f"HTTP {status} without an answer of the Bot API")
    if answer.ok and status == HTTPStatus.OK:
        return answer.result
    raise Refused(
        answer.error_code or status,
        answer.description,
        retry_after_s=answer.parameters.retry_after,
    )
