"""Sending answers from their rows, so that a crash neither loses nor doubles one."""

from datetime import timedelta
from functools import cache
from typing import Final, Protocol, cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from agents import sql
from agents.db import in_db
from sessions.models import Outgoing

_log = structlog.get_logger(__name__)

# A send that takes longer than this belongs to a process that is gone.
LONGEST_SEND_S: Final = 120

_MARK_SENT = """
    UPDATE bot_sessions_outgoing SET state = 'sent', sent_at = %s
    WHERE id = %s AND state IN ('queued', 'sending')
"""
_MARK_DELIVERED = "UPDATE bot_sessions_turn SET delivered_at = %s WHERE id = %s"


class NotDelivered(Exception):
    """The channel could not be reached and nothing left: the row stays queued."""


class Sender(Protocol):
    """How a channel sends an answer; one for each of ``settings.QANOT_CHANNELS``."""

    # True where people read the transcript themselves and a send only tells them to look:
    # watchers of the running turn then have the answer already, and sending twice shows
    # nothing twice.
    is_live: bool

    async def send(self, outgoing: Outgoing) -> None:
        """Send one row; its ``account``, ``session`` and ``turn`` are loaded.

        Raises:
            NotDelivered: Nothing left; it is tried again later.
        """
        ...


@cache
def sender_of(channel: str) -> Sender:
    """Return a channel's sender, loaded at its first use.

    Raises:
        KeyError: No such channel in the settings.
    """
    # A dotted path names anything; that it is a sender is its author's promise.
    return cast(Sender, import_string(settings.QANOT_CHANNELS[channel])())


def queued() -> QuerySet[Outgoing]:
    """Return what waits to be sent, the oldest first."""
    return Outgoing.objects.filter(state=Outgoing.State.QUEUED).order_by("id")


async def deliver(outgoing_id: int) -> None:
    """Send a queued answer, once, and note it; one that cannot leave now is queued again.

    Whoever comes second finds the row taken. A send that broke off in the middle is noted as
    unknown: it is neither lost in silence nor blindly repeated.
    """
    outgoing = await in_db(_take, outgoing_id)
    if outgoing is None:
        return
    try:
        await sender_of(outgoing.channel).send(outgoing)
    except NotDelivered as error:
        _log.warning("delivery.postponed", outgoing=outgoing_id, error=str(error))
        await in_db(_put_back, outgoing_id)
    except Exception as error:
        await in_db(_mark_unknown, outgoing_id, type(error).__name__)
        raise
    else:
        await in_db(mark_sent, outgoing)


def settle_interrupted() -> None:
    """Decide about sends whose process died in the middle.

    On a live channel they are queued again, and soon, since sending twice shows nothing twice;
    elsewhere nobody knows whether they left, and a slow send is given its time.
    """
    now = timezone.now()
    quick, slow = timedelta(seconds=settings.QANOT_LEASE_S), timedelta(seconds=LONGEST_SEND_S)
    interrupted = Outgoing.objects.filter(
        state=Outgoing.State.SENDING, tried_at__lt=now - min(quick, slow)
    ).select_related("account")
    for outgoing in interrupted:
        channel = outgoing.channel
        # A channel that was taken out of the settings has no sender any more.
        if channel in settings.QANOT_CHANNELS and sender_of(channel).is_live:
            _put_back(outgoing.pk)
        elif outgoing.tried_at is not None and outgoing.tried_at < now - slow:
            _mark_unknown(outgoing.pk, "interrupted")


def _take(outgoing_id: int) -> Outgoing | None:
    taken = queued().filter(pk=outgoing_id)
    now = timezone.now()
    if not taken.update(state=Outgoing.State.SENDING, tried_at=now, attempts=F("attempts") + 1):
        return None
    return Outgoing.objects.select_related("account", "session", "turn").get(pk=outgoing_id)


def _put_back(outgoing_id: int) -> None:
    sending = Outgoing.objects.filter(pk=outgoing_id, state=Outgoing.State.SENDING)
    sending.update(state=Outgoing.State.QUEUED)


def _mark_unknown(outgoing_id: int, error: str) -> None:
    sending = Outgoing.objects.filter(pk=outgoing_id, state=Outgoing.State.SENDING)
    if sending.update(state=Outgoing.State.UNKNOWN, error=error):
        _log.error("delivery.unknown", outgoing=outgoing_id, error=error)


@transaction.atomic
def mark_sent(outgoing: Outgoing) -> bool:
    """Note that an answer is sent; False where somebody has noted it already."""
    now = timezone.now()
    if not sql.execute(_MARK_SENT, [now, outgoing.pk]):
        return False
    sql.execute(_MARK_DELIVERED, [now, outgoing.turn_id])
    transaction.on_commit(lambda: _log.info("answer.sent", turn=outgoing.turn_id))
    return True
