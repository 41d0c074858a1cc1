"""Telling those who watch a session that its transcript changed."""

from functools import partial
from uuid import UUID

from django.db import transaction

from agents import doorbell
from sessions.events import wire
from sessions.events.redis_client import blocking_client


def announce_after_commit(*, session: UUID, turn: UUID, message: UUID) -> None:
    """Publish that a message was accepted, once the running transaction has committed."""
    _after_commit(session, wire.session_changed(turn, message=message))


def announce_ended_after_commit(*, session: UUID, turn: UUID) -> None:
    """Publish that a turn ended without a worker, once the running transaction has committed."""
    _after_commit(session, wire.session_changed(turn))


def announce_noted_after_commit(*, session: UUID, turn: UUID) -> None:
    """Publish that what was noted of a turn changed, once the running transaction has committed."""
    _after_commit(session, wire.noted_changed(turn))


def _after_commit(session: UUID, message: dict[str, str]) -> None:
    changed = wire.layer().serialize(message)
    channel = wire.redis_channel_of(wire.group_of(session))
    publish = partial(_publish, channel, changed)
    transaction.on_commit(partial(doorbell.nudge, message["type"], publish))


def _publish(channel: str, changed: bytes) -> None:
    blocking_client().publish(channel, changed)
