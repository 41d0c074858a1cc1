"""Telling those who watch a session that its transcript changed."""

from functools import cache, partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from redis import Redis

from agents import doorbell
from sessions.events import wire


def announce_after_commit(*, session: UUID, turn: UUID) -> None:
    """Publish ``session.changed`` once the running transaction has committed."""
    message = wire.layer().serialize(wire.session_changed(turn))
    channel = wire.redis_channel_of(wire.group_of(session))
    transaction.on_commit(
        partial(doorbell.nudge, "session.changed", partial(_publish, channel, message))
    )


def _publish(channel: str, message: bytes) -> None:
    _client().publish(channel, message)


@cache
def _client() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=0.5, socket_timeout=1)
