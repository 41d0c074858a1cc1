"""Telling those who watch a session that its transcript changed."""

from functools import partial
from uuid import UUID

from django.db import transaction

from agents import doorbell
from sessions.events import wire
from sessions.events.redis_client import blocking_client


def announce_after_commit(*, session: UUID, turn: UUID, message: UUID) -> None:
    """Publish that a message was accepted, once the running transaction has committed."""
    changed = wire.layer().serialize(wire.session_changed(turn, message=message))
    channel = wire.redis_channel_of(wire.group_of(session))
    transaction.on_commit(
        partial(doorbell.nudge, "session.changed", partial(_publish, channel, changed))
    )


def _publish(channel: str, changed: bytes) -> None:
    blocking_client().publish(channel, changed)
