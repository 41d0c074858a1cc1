"""Carrying what running turns publish to Redis, many turns in one trip.

A process has one hub. The first text of an answer goes at once, later text is gathered for a few
hundredths of a second, and the frames of all turns travel together: a hundred streams cost one
pipeline a time, not a hundred.
"""

import asyncio
from typing import Final
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from sessions.events import wire
from sessions.events.feed import Feed, Frame
from sessions.events.redis_client import redis_client

_log = structlog.get_logger(__name__)

GATHER_S: Final = 0.03
# After a refused connection; the sweep and the transcript serve watchers meanwhile.
AWAY_PAUSE_S: Final = 0.5


class Hub:
    """Carries the frames of all feeds of one process to Redis."""

    def __init__(self) -> None:
        self._waiting: dict[Feed, None] = {}
        self._wake = asyncio.Event()
        self._at_once = asyncio.Event()
        self._is_closing = False
        # Frames of one turn must arrive in their order, so one pipeline is on its way at a time.
        self._turnstile = asyncio.Lock()
        self._carrier = asyncio.create_task(self._carry_for_ever(), name="event hub")

    def feed(self, *, turn: UUID, session: UUID, attempt: int) -> Feed:
        """Return a feed for one attempt of a turn."""
        return Feed(turn=turn, session=session, attempt=attempt, carry=self._note)

    def _note(self, feed: Feed, at_once: bool) -> None:
        self._waiting[feed] = None
        self._wake.set()
        if at_once:
            self._at_once.set()

    async def flush(self) -> None:
        """Carry what waits now; returns when it has arrived, or could not."""
        async with self._turnstile:
            feeds, self._waiting = list(self._waiting), {}
            if feeds:
                await self._send(feeds)

    async def aclose(self) -> None:
        """Carry what is left and end."""
        # The Redis client's own time-out can swallow a cancellation: then the loop ends by itself.
        self._is_closing = True
        self._carrier.cancel()
        await asyncio.gather(self._carrier, return_exceptions=True)
        await self.flush()

    async def _carry_for_ever(self) -> None:
        while not self._is_closing:
            await self._wake.wait()
            try:
                async with asyncio.timeout(GATHER_S):
                    await self._at_once.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            self._at_once.clear()
            try:
                await self.flush()
            except Exception:
                # One frame that cannot be sent must not silence every other turn.
                _log.exception("events.failed")

    async def _send(self, feeds: list[Feed]) -> None:
        redis = redis_client()
        taken = [(feed, feed.take()) for feed in feeds]
        try:
            await self._pipeline(redis, taken)
        except (RedisError, OSError) as error:
            for feed, _ in taken:
                feed.lost()
            _log.warning("events.unpublished", turns=len(feeds), error=type(error).__name__)
            await asyncio.sleep(AWAY_PAUSE_S)

    async def _pipeline(self, redis: Redis, taken: list[tuple[Feed, list[Frame]]]) -> None:
        layer = wire.layer()
        pipeline = redis.pipeline(transaction=False)
        # Whose stream each answer speaks of; None where it tells nothing.
        asked: list[Feed | None] = []
        for feed, frames in taken:
            for frame in frames:
                # A stream that is gone (Redis was emptied) is not begun again in the middle:
                # the missing answer tells us to send a snapshot.
                pipeline.xadd(
                    feed.stream,
                    {"f": frame.text},
                    id=frame.id,
                    maxlen=wire.STREAM_FRAMES,
                    approximate=True,
                    nomkstream=not frame.begins,
                )
                message = {"type": "turn.event", "id": frame.id, "frame": frame.text}
                pipeline.publish(feed.channel, layer.serialize(message))
                asked += [feed, None]
                if frame.begins:
                    pipeline.expire(feed.stream, wire.STREAM_SECONDS)
                    asked.append(None)
        if not asked:
            return
        answers = await pipeline.execute(raise_on_error=False)
        for feed_or_none, answer in zip(asked, answers, strict=True):
            if feed_or_none is not None:
                self._hear(feed_or_none, answer)

    def _hear(self, feed: Feed, answer: object) -> None:
        if answer is None:
            feed.lost()
            self._note(feed, False)
        elif isinstance(answer, ResponseError):
            feed.refused()
            _log.info("events.refused", turn=str(feed.turn))
        elif isinstance(answer, Exception):
            raise answer
