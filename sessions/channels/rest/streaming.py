"""A turn's live events as server-sent events, from wherever a client left off."""

import time
from collections.abc import AsyncGenerator, Iterable
from typing import Final

import structlog
from django.db import DatabaseError

from agents.core.messages import JsonObject
from agents.db import in_db
from sessions.channels.rest import reading
from sessions.channels.rest.following import Follower, FrameHead, Position, newest_whole
from sessions.channels.rest.reading import Watched
from sessions.channels.rest.watching import GroupMessage, Subscription
from sessions.events import wire
from sessions.events.reader import read_after

_log = structlog.get_logger(__name__)

# Proxies drop connections that are silent for a minute or less.
HEARTBEAT_S: Final = 15.0
# How long silence is trusted: frames can be lost with Redis, rows cannot.
AWAY_LOOK_S: Final = 1.0
LIVE_LOOK_S: Final = 3.0
# After news of the turn: its last frame follows within a moment, or was lost.
NEWS_LOOK_S: Final = 0.5

_HEARTBEAT: Final = b": still here\n\n"


async def stream(watched: Watched, last_event_id: str) -> AsyncGenerator[bytes, None]:
    """Yield what follows the last event that a client saw, up to the turn's end.

    Each frame comes once and in order: the client is subscribed first, then gets what Redis
    still has, then what is published. After a silence the turn's row is asked, so that a Redis
    that lost frames, or is away, may delay the end but never hides it.
    """
    async with Subscription(watched.session) as subscription:
        teller = _Teller(watched, subscription, Position.parse(last_event_id))
        for chunk in await teller.begin():
            yield chunk
        while not teller.has_ended:
            for chunk in await teller.go_on():
                yield chunk


async def wait_until_over(watched: Watched, wait_s: float) -> None:
    """Return when a turn is over, or the time is."""
    deadline = time.monotonic() + wait_s
    async with Subscription(watched.session) as subscription:
        while not await in_db(reading.is_over, watched):
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                return
            await _end_or_silence(subscription, watched, remaining_s)


async def _end_or_silence(subscription: Subscription, watched: Watched, limit_s: float) -> None:
    """Return at the turn's last frame, or when it is time to look at the row."""
    until = time.monotonic() + min(limit_s, _look_s(subscription))
    await subscription.open()
    while (left_s := until - time.monotonic()) > 0:
        message = await subscription.next(left_s)
        if message is not None and message["type"] == "turn.event":
            head = FrameHead.model_validate_json(message["frame"])
            if head.turn == str(watched.public_id) and head.type == "turn.ended":
                return


def _look_s(subscription: Subscription) -> float:
    return LIVE_LOOK_S if subscription.is_live else AWAY_LOOK_S


class _Teller:
    """Tells one client about one turn."""

    def __init__(
        self, watched: Watched, subscription: Subscription, claimed: Position | None
    ) -> None:
        self._watched = watched
        self._subscription = subscription
        # What the client says it has; believed once Redis knows it too.
        self._claimed = claimed
        self._follower = Follower()
        self._look_at = time.monotonic()
        self._heartbeat_at = self._look_at + HEARTBEAT_S
        self.has_ended = False

    async def begin(self) -> list[bytes]:
        """Return what there is so far and the client does not have."""
        if self._watched.is_over:
            return await self._end()
        frames = dict(await read_after(self._watched.public_id, None))
        if self._claimed is not None and str(self._claimed) in frames:
            self._follower = Follower(self._claimed)
            chunks = await self._take(frames.values())
        else:
            chunks = await self._take(newest_whole(list(frames.values())))
        self._look_later()
        return self._said(chunks)

    async def go_on(self) -> list[bytes]:
        """Wait for a while, and return what the client should get; empty where nothing came."""
        now = time.monotonic()
        if now >= self._look_at:
            return self._said(await self._look())
        if now >= self._heartbeat_at:
            return self._said([_HEARTBEAT])
        message = await self._subscription.next(min(self._look_at, self._heartbeat_at) - now)
        return self._said(await self._hear(message)) if message is not None else []

    async def _hear(self, message: GroupMessage) -> list[bytes]:
        if message["type"] != "turn.event":
            # The conversation changed: perhaps by this turn's end.
            self._look_at = min(self._look_at, time.monotonic() + NEWS_LOOK_S)
            return []
        frame = message["frame"]
        head = FrameHead.model_validate_json(frame)
        if head.turn != str(self._watched.public_id):
            return []
        self._look_later()
        missed = [] if self._follower.is_next(head.position) else await self._missed()
        return await self._take([*missed, frame])

    async def _look(self) -> list[bytes]:
        """After a silence: return what was missed, or the end."""
        await self._subscription.open()
        chunks = await self._take(await self._missed())
        if not chunks and not self.has_ended:
            chunks = await self._end_if_over()
        self._look_later()
        return chunks

    async def _missed(self) -> list[str]:
        seen = self._follower.seen
        found = await read_after(self._watched.public_id, str(seen) if seen else None)
        frames = [frame for _, frame in found]
        return frames if seen else list(newest_whole(frames))

    async def _take(self, frames: Iterable[str]) -> list[bytes]:
        """Return those of the frames that the client does not have, ready to send."""
        chunks: list[bytes] = []
        for frame in frames:
            head = FrameHead.model_validate_json(frame)
            if self._follower.has(head.position):
                continue
            self._follower.note(head)
            if head.type == "turn.ended":
                self.has_ended = True
                if not self._follower.is_whole:
                    # The transcript makes good what the client missed.
                    return chunks + await self._end()
            self._follower.seen = head.position
            chunks.append(_event(head.position, head.type, frame))
        return chunks

    async def _end_if_over(self) -> list[bytes]:
        try:
            is_over = await in_db(reading.is_over, self._watched)
            return await self._end() if is_over else []
        except DatabaseError as error:
            _log.warning("events.no_row", error=type(error).__name__)
            return []

    async def _end(self) -> list[bytes]:
        """Return the turn's whole text and its end, numbered behind all that the client has."""
        ended = await in_db(reading.ended, self._watched)
        self.has_ended = True
        start = Position(ended.attempt, 0)
        for position in (self._follower.seen, self._claimed):
            if position is not None and position.attempt == ended.attempt:
                start = max(start, position)
        bodies: tuple[JsonObject, ...] = (
            ended.snapshot,
            {"type": "turn.ended", "state": ended.state},
        )
        return [
            self._made(Position(start.attempt, start.n + number), body)
            for number, body in enumerate(bodies, start=1)
        ]

    def _made(self, position: Position, body: JsonObject) -> bytes:
        head: JsonObject = {
            "v": wire.VERSION,
            "turn": str(self._watched.public_id),
            "attempt": position.attempt,
            "n": position.n,
        }
        return _event(position, str(body["type"]), wire.encode(head | body))

    def _look_later(self) -> None:
        self._look_at = time.monotonic() + _look_s(self._subscription)

    def _said(self, chunks: list[bytes]) -> list[bytes]:
        if chunks:
            self._heartbeat_at = time.monotonic() + HEARTBEAT_S
        return chunks


def _event(position: Position, kind: str, frame: str) -> bytes:
    return f"id: {position}\nevent: {kind}\ndata: {frame}\n\n".encode()
