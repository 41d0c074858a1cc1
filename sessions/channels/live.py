"""Channels whose people read the transcript themselves: the web chat and REST."""

from redis.exceptions import RedisError

from sessions.delivery import NotDelivered
from sessions.events import wire
from sessions.events.redis_client import redis_client
from sessions.models import Outgoing


class LiveSender:
    """Tells watchers to look; the transcript has the answer, so telling twice is harmless."""

    is_live = True

    async def send(self, outgoing: Outgoing) -> None:
        """Publish that the session changed.

        Raises:
            NotDelivered: Redis is away.
        """
        if outgoing.session is None or outgoing.turn is None:
            raise AssertionError("a live channel has answers only")
        channel = wire.redis_channel_of(wire.group_of(outgoing.session.public_id))
        message = wire.layer().serialize(wire.session_changed(outgoing.turn.public_id))
        try:
            await redis_client().publish(channel, message)
        except (RedisError, OSError) as exc:
            raise NotDelivered(type(exc).__name__) from exc
