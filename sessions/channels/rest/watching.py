"""A place in a session's group: what is published there from now on, in order."""

import asyncio
import contextlib
import uuid
from types import TracebackType
from typing import Self, TypedDict

import structlog
from redis.exceptions import RedisError

from sessions.events import wire
from sessions.events.reader import group_of

_log = structlog.get_logger(__name__)


class GroupMessage(TypedDict, total=False):
    """What a session's group carries (docs/events.md)."""

    type: str
    id: str
    frame: str


class Subscription:
    """Receives a session's group messages while it is entered.

    With Redis away it is entered all the same and receives nothing: ``is_live`` tells, and
    ``open`` tries again.
    """

    def __init__(self, session: uuid.UUID) -> None:
        self._group = group_of(session)
        self._layer = wire.layer()
        self._channel = ""
        self._messages: asyncio.Queue[GroupMessage] = asyncio.Queue()
        self._receiver: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    @property
    def is_live(self) -> bool:
        """Return whether messages can arrive."""
        return self._receiver is not None and not self._receiver.done()

    async def open(self) -> None:
        """Subscribe, unless that is done; a Redis that is away is no error."""
        if self.is_live:
            return
        # Named by us, and received from before anything can fail, so that closing finds it.
        self._channel = f"rest.{uuid.uuid4().hex}"
        self._receiver = asyncio.create_task(self._receive(), name=self._channel)
        try:
            # The layer knows the channel once the receiver has run up to its first wait.
            await asyncio.sleep(0)
            await self._layer.group_add(self._group, self._channel)
        except (RedisError, OSError, RuntimeError) as error:
            _log.warning("events.unwatched", group=self._group, error=type(error).__name__)
            await self._close()

    async def next(self, timeout_s: float) -> GroupMessage | None:
        """Return the next message, or None when none came in time."""
        try:
            return self._messages.get_nowait()
        except asyncio.QueueEmpty:
            pass
        try:
            async with asyncio.timeout(timeout_s):
                return await self._messages.get()
        except TimeoutError:
            return None

    async def _receive(self) -> None:
        while True:
            self._messages.put_nowait(await self._layer.receive(self._channel))

    async def _close(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is None:
            return
        if receiver.done():
            # It failed before the layer could forget the channel: a receiver that is cancelled
            # while it waits makes it do so.
            receiver.exception()
            receiver = asyncio.create_task(self._receive())
            await asyncio.sleep(0)
        receiver.cancel()
        await asyncio.gather(receiver, return_exceptions=True)
        with contextlib.suppress(RedisError, OSError):
            await self._layer.group_discard(self._group, self._channel)
