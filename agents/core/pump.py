"""Waiting for somebody else's work: never endlessly, and never longer than a person wants.

The work runs in a task of its own, so that one which ignores cancellation cannot hold up the
turn: it is cancelled, given a moment, and left behind.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Final, TypeVar

from agents.core.errors import ProviderTimeout, Stopped, StreamBroken
from agents.core.events import Done, ProviderEvent
from agents.core.messages import Reply
from agents.core.protocols import StopSignal

T = TypeVar("T")

# How long work that was cancelled may take to close its connection before it is left behind.
FAREWELL_S: Final = 0.2
# Events that a stream may be ahead of the turn; it then waits, so that a flood fills no memory
# and leaves others their time.
AHEAD: Final = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a provider may take."""

    first_event_s: float = 60.0
    between_events_s: float = 60.0
    call_s: float = 600.0


class StopSwitch:
    """A stop signal that wakes whoever waits, without a task for each wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        """Return whether it was thrown."""
        return self._event.is_set()

    def throw(self) -> None:
        """Stop the turn; safe to repeat."""
        self._event.set()

    async def wait(self) -> None:
        """Return once it is thrown."""
        await self._event.wait()


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


@dataclass(frozen=True, slots=True)
class _Ended:
    pass


@dataclass(frozen=True, slots=True)
class _StopAsked:
    pass


_Item = ProviderEvent | _Raised | _Ended | _StopAsked


async def pump(
    stream: AsyncIterator[ProviderEvent], *, limits: Limits, stop: StopSignal
) -> AsyncGenerator[ProviderEvent]:
    """Yield a provider's events within the limits; ``Done`` is the last.

    Raises:
        ProviderTimeout: Nothing came in time.
        StreamBroken: The stream ended without ``Done``, or with an empty reply.
        Stopped: A person asked for it.
        ProviderError: As the provider raised it.
    """
    queue: asyncio.Queue[_Item] = asyncio.Queue(AHEAD)
    puller = asyncio.create_task(_pull(stream, queue))
    watcher = asyncio.create_task(_watch(stop, queue))
    loop = asyncio.get_running_loop()
    end = loop.time() + limits.call_s
    allowed_s = limits.first_event_s
    try:
        while True:
            if stop.is_set:
                raise Stopped
            item = await _next(queue, allowed_s=min(allowed_s, end - loop.time()))
            allowed_s = limits.between_events_s
            match item:
                case _StopAsked():
                    raise Stopped
                case _Raised(error):
                    raise error
                case _Ended():
                    raise StreamBroken("the stream ended without a reply")
                case Done(reply):
                    check_reply(reply)
                    yield item
                    return
                case _:
                    yield item
    finally:
        watcher.cancel()
        await dismiss(puller)


def check_reply(reply: Reply) -> None:
    """Refuse a reply that says nothing, calls nothing and gives no reason for that.

    Raises:
        StreamBroken: It is such a reply.
    """
    is_silent = not reply.message.tool_calls and not reply.message.text.strip()
    if is_silent and reply.stop_reason in ("end", "tool_calls"):
        raise StreamBroken("the reply was empty")


async def _next(queue: asyncio.Queue[_Item], *, allowed_s: float) -> _Item:
    if allowed_s <= 0:
        raise ProviderTimeout("the call took too long")
    if not queue.empty():
        return queue.get_nowait()
    try:
        async with asyncio.timeout(allowed_s):
            return await queue.get()
    except TimeoutError as exc:
        raise ProviderTimeout(f"nothing came within {allowed_s:.0f} s") from exc


async def _pull(stream: AsyncIterator[ProviderEvent], queue: asyncio.Queue[_Item]) -> None:
    try:
        async for event in stream:
            if _is_dismissed():
                return
            await queue.put(event)
        last: _Item = _Ended()
    except asyncio.CancelledError:
        if _is_dismissed():
            raise
        last = _Raised(StreamBroken("the stream was cancelled from within"))
    except Exception as error:
        last = _Raised(error)
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    if not _is_dismissed():
        await queue.put(last)


def _is_dismissed() -> bool:
    """Return whether this task was cancelled, even if the work inside it ignored that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _watch(stop: StopSignal, queue: asyncio.Queue[_Item]) -> None:
    await stop.wait()
    # Whoever waits at the queue has it empty; whoever does not will look at the signal.
    if queue.empty():
        queue.put_nowait(_StopAsked())


async def within(work: Coroutine[object, object, T], *, timeout_s: float, stop: StopSignal) -> T:
    """Return what the work returns, unless time runs out or a person stops it.

    Raises:
        TimeoutError: It took longer, or gave itself up; what it gives later is discarded.
        Stopped: A person asked for it.
    """
    task = asyncio.ensure_future(work)
    watcher = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((task, watcher), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if task.done() and not task.cancelled():
            return task.result()
        if watcher.done():
            raise Stopped
        raise TimeoutError
    finally:
        watcher.cancel()
        await dismiss(task)


async def dismiss(task: asyncio.Future[object] | asyncio.Future[T]) -> None:
    """Cancel a task, wait a moment for its farewell, and leave it behind if it does not come."""
    if task.done():
        if not task.cancelled():
            task.exception()
        return
    task.cancel()
    await asyncio.wait((task,), timeout=FAREWELL_S)
    task.add_done_callback(_forget)


def _forget(task: "asyncio.Future[object] | asyncio.Future[T]") -> None:
    # Asking for the exception keeps asyncio from reporting it as never retrieved.
    if not task.cancelled():
        task.exception()
