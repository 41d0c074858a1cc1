"""Stopping a turn, from any tab and any process."""

from functools import partial
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from agents import doorbell
from sessions import bells
from sessions.events.redis_client import blocking_client
from sessions.models import Turn

_log = structlog.get_logger(__name__)

STOP_CHANNEL: Final = "qanot:stop"


@transaction.atomic
def request(turn: Turn) -> None:
    """Ask that a turn stop; one that is over stays as it is.

    The wish is a column, so it outlives every process; the nudge makes it arrive at once. A
    queued turn ends as soon as its place in the session comes, without asking a model.
    """
    asked = (
        Turn.objects.unfinished()
        .filter(pk=turn.pk, stop_requested_at=None)
        .update(stop_requested_at=timezone.now())
    )
    if asked:
        send = partial(_publish, turn.pk)
        transaction.on_commit(partial(doorbell.nudge, "stop", send))
        doorbell.ring_after_commit(bells.RUN, turn.session_id)
        _log.info("stop.requested", turn=turn.pk)


def _publish(turn_id: int) -> None:
    blocking_client().publish(STOP_CHANNEL, str(turn_id))
