"""Publishing a running turn: the first text at once, later text gathered, one trip to Redis.

A process has one hub. Each running turn has a feed: it collects frames, and the hub carries the
frames of all feeds together, so that a hundred streams cost one pipeline every few hundredths of
a second rather than a hundred.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from agents.core.messages import JsonObject
from sessions.events import wire
from sessions.events.redis_client import redis_client

_log = structlog.get_logger(__name__)

GATHER_S: Final = 0.04
# After a refused connection; the sweep and the transcript serve watchers meanwhile.
AWAY_PAUSE_S: Final = 0.5

ToolState = Literal["running", "done", "error"]


@dataclass(slots=True)
class _ShownTool:
    name: str
    state: ToolState


class Feed:
    """What one attempt of one turn publishes."""

    def __init__(self, hub: "Hub", *, turn: UUID, session: UUID, attempt: int) -> None:
        self._hub = hub
        self.turn = turn
        self._stream = wire.stream_of(turn)
        self._channel = wire.redis_channel_of(wire.group_of(session))
        self._attempt = attempt
        self._n = 0
        self._text: list[str] = []
        self._frames: list[JsonObject] = []
        self._shown: list[str] = []
        self._tools: dict[str, _ShownTool] = {}
        self._must_snapshot = False
        self._is_refused = False

    def begin(self, *, text: str = "", tools: Sequence[tuple[str, str, ToolState]] = ()) -> None:
        """Announce the attempt, with what an earlier one had already settled."""
        self._add({"type": "turn.started"})
        self._shown = [text] if text else []
        self._tools = {call: _ShownTool(name, state) for call, name, state in tools}
        if text or tools:
            self._add(self._snapshot())
        self._hub.carry(self, at_once=True)

    def text(self, delta: str) -> None:
        """Add a piece of the answer: the first goes at once, later ones are gathered."""
        is_first = not self._shown and not self._text
        self._text.append(delta)
        self._hub.carry(self, at_once=is_first)

    def restart_answer(self, kept: str) -> None:
        """Take back the text since ``kept``: it comes again."""
        self._text.clear()
        self._shown = [kept] if kept else []
        self._add({"type": "answer.restarted"})
        self._add(self._snapshot())
        self._hub.carry(self, at_once=True)

    def tool_started(self, call: str, name: str) -> None:
        """Show that a tool runs."""
        self._gather_text()
        self._tools[call] = _ShownTool(name, "running")
        self._add({"type": "tool.started", "call": call, "name": name})
        self._hub.carry(self, at_once=True)

    def tool_finished(self, call: str, name: str, *, is_error: bool, seconds: float) -> None:
        """Show that a tool gave its result."""
        self._tools[call] = _ShownTool(name, "error" if is_error else "done")
        self._add(
            {
                "type": "tool.finished",
                "call": call,
                "name": name,
                "error": is_error,
                "seconds": round(seconds, 3),
            }
        )
        self._hub.carry(self, at_once=True)

    def end(self, state: str) -> None:
        """Say that the transcript now has everything."""
        self._gather_text()
        self._add({"type": "turn.ended", "state": state})
        self._hub.carry(self, at_once=True)

    @property
    def has_arrived(self) -> bool:
        """Return whether Redis took everything that was carried."""
        return not self._must_snapshot and not self._frames

    def lost(self) -> None:
        """Remember that frames did not arrive: the next ones begin with a snapshot."""
        self._must_snapshot = True

    def refused(self) -> None:
        """Remember that a later attempt publishes now: this one falls silent."""
        self._is_refused = True

    def take(self) -> list[tuple[str, str]]:
        """Return and forget what waits, as pairs of frame id and JSON text."""
        self._gather_text()
        frames, self._frames = self._frames, []
        if self._is_refused:
            return []
        if self._must_snapshot:
            self._must_snapshot = False
            ended = [frame for frame in frames if frame["type"] == "turn.ended"]
            frames = [self._snapshot(), *ended]
        return [self._number(frame) for frame in frames]

    @property
    def stream(self) -> str:
        """Return the Redis stream's name."""
        return self._stream

    @property
    def channel(self) -> str:
        """Return the Redis channel of the session's watchers."""
        return self._channel

    def _add(self, frame: JsonObject) -> None:
        self._frames.append(frame)

    def _gather_text(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._shown.append(text)
            self._add({"type": "text", "text": text})

    def _snapshot(self) -> JsonObject:
        return {
            "type": "snapshot",
            "text": "".join(self._shown),
            "tools": [
                {"call": call, "name": tool.name, "state": tool.state}
                for call, tool in self._tools.items()
            ],
        }

    def _number(self, frame: JsonObject) -> tuple[str, str]:
        self._n += 1
        head: JsonObject = {
            "v": wire.VERSION,
            "turn": str(self.turn),
            "attempt": self._attempt,
            "n": self._n,
        }
        return f"{self._attempt}-{self._n}", wire.encode(head | frame)


class Hub:
    """Carries the frames of all feeds of one process to Redis."""

    def __init__(self) -> None:
        self._waiting: dict[Feed, None] = {}
        self._wake = asyncio.Event()
        self._at_once = asyncio.Event()
        self._carrier = asyncio.create_task(self._carry_for_ever(), name="event hub")

    def feed(self, *, turn: UUID, session: UUID, attempt: int) -> Feed:
        """Return a feed for one attempt of a turn."""
        return Feed(self, turn=turn, session=session, attempt=attempt)

    def carry(self, feed: Feed, *, at_once: bool) -> None:
        """Note that a feed has something; ``at_once`` does not wait for more."""
        self._waiting[feed] = None
        self._wake.set()
        if at_once:
            self._at_once.set()

    async def flush(self) -> None:
        """Carry what waits now; returns when it has arrived, or could not."""
        feeds, self._waiting = list(self._waiting), {}
        if feeds:
            await self._send(feeds)

    async def aclose(self) -> None:
        """Carry what is left and end."""
        self._carrier.cancel()
        await asyncio.gather(self._carrier, return_exceptions=True)
        await self.flush()

    async def _carry_for_ever(self) -> None:
        while True:
            await self._wake.wait()
            try:
                async with asyncio.timeout(GATHER_S):
                    await self._at_once.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            self._at_once.clear()
            await self.flush()

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

    async def _pipeline(
        self, redis: Redis, taken: list[tuple[Feed, list[tuple[str, str]]]]
    ) -> None:
        layer = wire.layer()
        pipeline = redis.pipeline(transaction=False)
        added: list[Feed | None] = []
        for feed, frames in taken:
            for frame_id, text in frames:
                # A stream that is gone (Redis was emptied) is not begun again in the middle:
                # the missing answer tells us to send a snapshot.
                begins = frame_id.endswith("-1") or '"type":"snapshot"' in text
                pipeline.xadd(
                    feed.stream,
                    {"f": text},
                    id=frame_id,
                    maxlen=wire.STREAM_FRAMES,
                    approximate=True,
                    nomkstream=not begins,
                )
                added.append(feed)
                message = {"type": "turn.event", "id": frame_id, "frame": text}
                pipeline.publish(feed.channel, layer.serialize(message))
                added.append(None)
                if begins:
                    pipeline.expire(feed.stream, wire.STREAM_SECONDS)
                    added.append(None)
        if not added:
            return
        for feed_or_none, answer in zip(
            added, await pipeline.execute(raise_on_error=False), strict=True
        ):
            if feed_or_none is None:
                continue
            if answer is None:
                feed_or_none.lost()
                self.carry(feed_or_none, at_once=False)
            elif isinstance(answer, ResponseError):
                feed_or_none.refused()
                _log.info("events.refused", turn=str(feed_or_none.turn))
            elif isinstance(answer, Exception):
                raise answer
