"""One tab's ear: what is published of the conversation that it shows."""

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from redis.exceptions import RedisError

from sessions.events import wire

_log = structlog.get_logger(__name__)

# How long an opening waits for its subscription; while Redis is away the page asks the database.
JOIN_WAIT_S: Final = 0.5
RETRY_S: Final = 2.0


class Watch:
    """Passes on the frames of one group at a time, as they come.

    It reads the channel layer itself instead of letting Channels dispatch each message to the
    consumer: a dispatch also visits the database thread, 150 streams of 20 frames a second would
    queue there; and a consumer of a layer whose Redis is away could not even be connected.
    """

    def __init__(self, deliver: Callable[[str], Awaitable[None]]) -> None:
        self._deliver = deliver
        self._layer = wire.layer()
        self._channel = f"webchat.{uuid.uuid4().hex}"
        self._group: str | None = None
        self._listening: asyncio.Task[None] | None = None
        self._joining: asyncio.Task[None] | None = None
        self._is_delivering = False

    async def switch(self, group: str | None) -> None:
        """Listen to this group instead; returns once that has begun, or cannot begin soon."""
        if group == self._group:
            return
        await self._leave()
        self._group = group
        if group is None:
            return
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
            # Its first step makes the channel known to the layer.
            await asyncio.sleep(0)
        self._joining = asyncio.create_task(self._join(group))
        await asyncio.wait([self._joining], timeout=JOIN_WAIT_S)

    async def aclose(self) -> None:
        """Leave nothing behind in the layer."""
        await self._leave()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
            if self._is_delivering:
                await self._forget()

    async def _join(self, group: str) -> None:
        while True:
            try:
                await self._layer.group_add(group, self._channel)
            except (RedisError, OSError) as error:
                _log.warning("watch.not_joined", error=type(error).__name__)
                await asyncio.sleep(RETRY_S)
            else:
                return

    async def _leave(self) -> None:
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.gather(self._joining, return_exceptions=True)
            self._joining = None
        if self._group is not None:
            with contextlib.suppress(RedisError, OSError):
                await self._layer.group_discard(self._group, self._channel)

    async def _listen(self) -> None:
        while True:
            try:
                message = await self._layer.receive(self._channel)
            except (RedisError, OSError):
                # The layer knows the channel all the same, and groups are joined above.
                await asyncio.sleep(RETRY_S)
                continue
            self._is_delivering = True
            await self._deliver(message["frame"])
            self._is_delivering = False

    async def _forget(self) -> None:
        """Make the layer forget the channel, as it does when a waiting receive is cancelled."""
        while True:
            last = asyncio.ensure_future(self._layer.receive(self._channel))
            await asyncio.sleep(0)
            if last.cancel():
                await asyncio.gather(last, return_exceptions=True)
                return
