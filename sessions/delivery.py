"""Sending answers from their rows, so that a crash neither loses nor doubles one."""

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from agents.db import in_db
from sessions.events import wire
from sessions.events.redis_client import redis_client
from sessions.models import ChannelAccount, Outgoing, Turn

_log = structlog.get_logger(__name__)

# People on these channels read the transcript; sending only tells them to look, so doing it
# twice shows nothing twice.
_LIVE = frozenset({ChannelAccount.Channel.WEBCHAT, ChannelAccount.Channel.REST})


def is_live(channel: str) -> bool:
    """Return whether the channel's watchers read the transcript themselves."""
    return channel in _LIVE


def unsent() -> QuerySet[Outgoing]:
    """Return what still has to be sent, the oldest first."""
    return Outgoing.objects.filter(
        state__in=(Outgoing.State.QUEUED, Outgoing.State.SENDING)
    ).order_by("id")


async def deliver(outgoing_id: int) -> None:
    """Tell an answer's watchers to look, and note that it is sent; safe to repeat.

    While Redis is away the row stays queued, and the sweep comes back to it.
    """
    outgoing = await in_db(_load, outgoing_id)
    if outgoing is None:
        return
    try:
        await redis_client().publish(
            wire.redis_channel_of(wire.group_of(outgoing.session.public_id)),
            wire.layer().serialize(wire.session_changed(outgoing.turn.public_id)),
        )
    except (RedisError, OSError) as error:
        _log.warning("delivery.postponed", outgoing=outgoing_id, error=type(error).__name__)
        return
    await in_db(mark_sent, outgoing)


def _load(outgoing_id: int) -> Outgoing | None:
    return unsent().select_related("session", "turn").filter(pk=outgoing_id).first()


@transaction.atomic
def mark_sent(outgoing: Outgoing) -> bool:
    """Note that an answer is sent; False where somebody has noted it already."""
    now = timezone.now()
    if not unsent().filter(pk=outgoing.pk).update(state=Outgoing.State.SENT, sent_at=now):
        return False
    Turn.objects.filter(pk=outgoing.turn_id).update(delivered_at=now)
    transaction.on_commit(lambda: _log.info("answer.sent", turn=outgoing.turn_id))
    return True
