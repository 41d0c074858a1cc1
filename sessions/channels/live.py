"""Channels whose people read the transcript themselves: the web chat and REST."""

from dataclasses import dataclass

from redis.exceptions import RedisError

from sessions.delivery import Letter, NotDelivered
from sessions.events import wire
from sessions.events.redis_client import redis_client
from sessions.models import Outgoing


class LiveSender:
    """Tells watchers to look; the transcript has the answer, so telling twice is harmless."""

    is_live = True

    def warm(self) -> None:
        """Import nothing: it is all here."""

    async def close(self) -> None:
        """Leave the Redis client to the process, which closes it."""

    async def open(self, outgoing: Outgoing) -> Letter:
        """Return what tells the session's watchers."""
        if outgoing.session is None or outgoing.turn is None:
            raise AssertionError("a live channel has answers only")
        group = wire.group_of(outgoing.session.public_id)
        message = wire.layer().serialize(wire.session_changed(outgoing.turn.public_id))
        return _Word(wire.redis_channel_of(group), message)


@dataclass(frozen=True, slots=True)
class _Word:
    """One word to the watchers: look."""

    channel: str
    message: bytes
    count: int = 1

    async def send(self, number: int, *, again: bool) -> str:
        """Publish that the session changed.

        Raises:
            NotDelivered: Redis is away.
        """
        try:
            await redis_client().publish(self.channel, self.message)
        except (RedisError, OSError) as exc:
            raise NotDelivered(type(exc).__name__) from exc
        return ""
