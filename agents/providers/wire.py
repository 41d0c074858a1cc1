"""The reading of what comes over the connection under both SDKs (``transport.py``).

The SDKs build, sign and send the request and tell refusals apart. What they would do with the
answer, a pydantic object an event and a walk over every message, costs more than the rest of a
turn, so requests go out as ready bytes and events are read as plain JSON: their documented
``client.post`` with ``content``, over aiohttp, whose parser is C.
Measured (2 cores, loopback): an event 141 µs of CPU the SDK's way, 55 µs this way; a request of
600 messages to OpenAI 71 ms their way, 3 ms this way.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import httpx2
from pydantic import JsonValue

from agents.core.errors import (
    AddressNotAllowed,
    AuthenticationFailed,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    Redirected,
    RequestRefused,
    StreamBroken,
)
from agents.core.events import Alive, Done, ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import JsonObject, Reply
from agents.core.protocols import ModelCall
from agents.net import AddressRefused, BadAddress, TooLarge
from agents.net.guard import web_address
from agents.providers.failures import as_error, read_failure
from agents.providers.limits import ProviderLimits
from agents.providers.sse import EventReader

EVENT_STREAM = "text/event-stream"
JSON_TYPE = "application/json"
# What stands between the wire's stop and the end of the body comes at once or not at all.
DRAIN_S = 0.05
# What a reading returns for an event that shows only that the model is at work.
AT_WORK: tuple[ProviderEvent, ...] = (Alive(),)
ALIVE_EVERY_S = 1.0
CONNECTION_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL)


class StatusError(Protocol):
    """What both SDKs raise for an error status."""

    args: tuple[Any, ...]  # as the built-in BaseException has it
    response: httpx2.Response


class Reading(Protocol):
    """One answer of a wire, taken event by event."""

    @property
    def is_finished(self) -> bool:
        """Return whether the wire's end mark was read."""
        ...

    def take(self, event: JsonObject) -> Iterable[ProviderEvent]:
        """Take one event, and return what a watcher should see of it.

        Raises:
            ProviderError: The event says that the answer breaks off.
        """
        ...

    def take_whole(self, body: JsonObject) -> None:
        """Take an answer that came in one piece.

        Raises:
            ProviderError: It is an error after all.
        """
        ...

    def end(self) -> Iterable[ProviderEvent]:
        """Note the wire's end mark where it is no JSON, and return what was held back."""
        ...

    def reply(self) -> Reply:
        """Return the finished reply.

        Raises:
            StreamBroken: The answer ended without a stop, or is empty.
        """
        ...


def stream_timeout(limits: ProviderLimits) -> httpx2.Timeout:
    """Return the connection's limits for an answer that comes in events."""
    return httpx2.Timeout(limits.silence_s, connect=limits.connect_s)


def plain_timeout(limits: ProviderLimits) -> httpx2.Timeout:
    """Return the connection's limits for an answer that comes in one piece, after a silence."""
    return httpx2.Timeout(limits.call_s, connect=limits.connect_s)


async def read_events(
    response: httpx2.Response, reading: Reading
) -> AsyncGenerator[ProviderEvent, None]:
    """Yield the events of an answer to a request for a stream, ``Done`` last.

    Raises:
        ProviderError: The answer broke off, or makes no sense.
    """
    kind = content_type(response)
    if kind not in (EVENT_STREAM, JSON_TYPE, ""):
        await response.aclose()
        raise StreamBroken(f"the answer is {kind[:40]}, not an event stream")
    source = _relay_whole if kind == JSON_TYPE else _relay
    events = source(response, reading)
    try:
        async for event in events:
            yield event
    finally:
        await events.aclose()


async def read_whole(response: httpx2.Response, reading: Reading) -> Reply:
    """Return an answer that came in one piece.

    Raises:
        ProviderError: It makes no sense, or is an error after all.
    """
    body = read_json(await response.aread())
    if not isinstance(body, dict):
        raise StreamBroken("the answer is no JSON object")
    reading.take_whole(body)
    return reading.reply()


async def _relay(
    response: httpx2.Response, reading: Reading
) -> AsyncGenerator[ProviderEvent, None]:
    """Yield a streamed answer's events as they come, ``Done`` last.

    However it ends, the connection is given back, or closed at once where the answer was not
    complete.
    """
    reader = EventReader()
    chunks = response.aiter_bytes()
    seldom = _Seldom()
    try:
        async for chunk in chunks:
            for data in reader.feed(chunk):
                for event in seldom(_take(data, reading)):
                    yield event
            if reading.is_finished:
                break
        else:
            for data in reader.finish():
                for event in _take(data, reading):
                    yield event
        yield Done(reading.reply())
    except CONNECTION_ERRORS as exc:
        raise broken(exc, had_answer=True) from exc
    finally:
        try:
            if reading.is_finished:
                await _drain(chunks)
        finally:
            await chunks.aclose()
            await response.aclose()


class _Seldom:
    """Lets signs of life through only where nothing else was seen for a while."""

    def __init__(self) -> None:
        self._seen_s = -math.inf

    def __call__(self, events: Iterable[ProviderEvent]) -> Iterable[ProviderEvent]:
        if not events:
            return ()
        now_s = time.monotonic()
        if events is AT_WORK and now_s - self._seen_s < ALIVE_EVERY_S:
            return ()
        self._seen_s = now_s
        return events


def _take(data: bytes, reading: Reading) -> Iterable[ProviderEvent]:
    if data.startswith(b"[DONE]"):
        return reading.end()
    event = read_json(data)
    return reading.take(event) if isinstance(event, dict) else ()


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read to the body's end, so that the next call finds the connection open."""
    with suppress(TimeoutError, *CONNECTION_ERRORS):
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass


async def _relay_whole(
    response: httpx2.Response, reading: Reading
) -> AsyncGenerator[ProviderEvent, None]:
    """Yield an answer that came in one piece although a stream was asked for."""
    reply = await read_whole(response, reading)
    for call in reply.message.tool_calls:
        yield ToolCallBegan(call.name)
    if reply.message.text:
        yield TextDelta(reply.message.text)
    yield Done(reply)


def content_type(response: httpx2.Response) -> str:
    """Return a response's content type without its parameters; empty where it has none."""
    named = response.headers.get("content-type", "")
    return named.partition(";")[0].strip().lower()


def read_json(data: bytes) -> JsonValue:
    """Parse what a server sent.

    Raises:
        StreamBroken: It is not whole JSON.
    """
    try:
        value: JsonValue = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise StreamBroken("the answer is not readable JSON") from exc
    return value


def refused(exc: StatusError, *, api_key: str, call: ModelCall) -> ProviderError:
    """Return the error for an SDK's own about an error status.

    The SDK's keeps the provider's words, which may repeat the key or the prompt; it is chained
    and so ends in tracebacks, and therefore says what ours says.
    """
    response = exc.response
    if response.is_redirect:
        return _redirected(exc)
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    failure = read_failure(body, status=response.status_code, headers=response.headers)
    error = as_error(failure, api_key=api_key, call=call)
    exc.args = (error.detail,)
    return error


def _redirected(exc: StatusError) -> Redirected:
    """Return the error for an answer that leads elsewhere; of the address, only the server."""
    address = _server_in(exc.response.headers.get("location", ""))
    to = address or "another address"
    error = Redirected(f"{exc.response.status_code}: the server sends on to {to}", address=address)
    exc.args = (error.detail,)
    return error


def _server_in(location: str) -> str:
    try:
        return str(web_address(location).origin())
    except BadAddress:
        return ""


def broken(exc: Exception, *, had_answer: bool) -> ProviderError:
    """Return the error for a connection that could not be made, or did not last.

    The SDKs name these differently, so the causes decide.

    Args:
        had_answer: True where an answer had begun.
    """
    causes = tuple(_causes(exc))
    if isinstance(causes[-1], TimeoutError | httpx2.TimeoutException):
        return ProviderTimeout("the provider sent nothing in time")
    refusal = next((c for c in causes if isinstance(c, AddressRefused)), None)
    if refusal is not None:
        return AddressNotAllowed(str(refusal), is_closed_to_all=refusal.is_closed_to_all)
    if any(isinstance(c, TooLarge) for c in causes):
        return StreamBroken("the answer is too long")
    if any(isinstance(c, httpx2.UnsupportedProtocol | httpx2.InvalidURL) for c in causes):
        return RequestRefused("the provider's address is not valid")
    if had_answer:
        return StreamBroken("the connection broke off")
    return Overloaded("the provider cannot be reached")


def _causes(exc: BaseException) -> Iterator[BaseException]:
    at: BaseException | None = exc
    while at is not None:
        yield at
        at = at.__cause__


@contextmanager
def valid_address() -> Iterator[None]:
    """Refuse an address that is no URL, in our terms.

    Raises:
        RequestRefused: The client could not be made for it.
    """
    try:
        yield
    except httpx2.InvalidURL as exc:
        raise RequestRefused("the provider's address is not valid") from exc


def check_key(api_key: str) -> None:
    """Refuse a key that no header can carry.

    Raises:
        AuthenticationFailed: It has characters that no key has.
    """
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise AuthenticationFailed("the key has characters that no key has")
