"""Sending answers from their rows, so that a crash neither loses nor doubles one."""

from functools import cache
from typing import Protocol, cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from agents.db import in_db
from sessions.models import Outgoing, Turn

_log = structlog.get_logger(__name__)


class NotDelivered(Exception):
    """The channel could not be reached and nothing left: the row stays queued."""


class Sender(Protocol):
    """How a channel sends an answer; one for each of ``settings.QANOT_CHANNELS``."""

    # True where people read the transcript themselves and a send only tells them to look:
    # watchers of the running turn then have the answer already, and sending twice shows
    # nothing twice.
    is_live: bool

    async def send(self, outgoing: Outgoing) -> None:
        """Send one answer; its ``session``, ``turn`` and the session's account are loaded.

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


def unsent() -> QuerySet[Outgoing]:
    """Return what still has to be sent, the oldest first."""
    return Outgoing.objects.filter(
        state__in=(Outgoing.State.QUEUED, Outgoing.State.SENDING)
    ).order_by("id")


async def deliver(outgoing_id: int) -> None:
    """Send an answer and note it; one that cannot leave now stays queued for the sweep."""
    outgoing = await in_db(_load, outgoing_id)
    if outgoing is None:
        return
    try:
        await sender_of(outgoing.session.account.channel).send(outgoing)
    except NotDelivered as error:
        _log.warning("delivery.postponed", outgoing=outgoing_id, error=str(error))
        return
    await in_db(mark_sent, outgoing)


def _load(outgoing_id: int) -> Outgoing | None:
    return unsent().select_related("session__account", "turn").filter(pk=outgoing_id).first()


@transaction.atomic
def mark_sent(outgoing: Outgoing) -> bool:
    """Note that an answer is sent; False where somebody has noted it already."""
    now = timezone.now()
    if not unsent().filter(pk=outgoing.pk).update(state=Outgoing.State.SENT, sent_at=now):
        return False
    Turn.objects.filter(pk=outgoing.turn_id).update(delivered_at=now)
    transaction.on_commit(lambda: _log.info("answer.sent", turn=outgoing.turn_id))
    return True
