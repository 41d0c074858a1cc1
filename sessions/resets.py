"""Beginning a new stretch of a conversation; nothing is deleted and no memory is touched."""

import structlog
from django.db import transaction
from django.utils import timezone

from sessions.models import ChatSession, Generation

_log = structlog.get_logger(__name__)


@transaction.atomic
def open_generation(session: ChatSession, opened_by: str) -> Generation:
    """Close a conversation's open generation and open the next.

    Turns that wait or run belong to the generation in which their messages came, and end there;
    what is said from now on belongs to the new one. Two resets at once come one after the other,
    as does a message that arrives at the same time: each locks the session's row first.

    Args:
        opened_by: Who or what wanted it, such as ``command:new``.
    """
    ChatSession.objects.select_for_update().get(pk=session.pk)
    now = timezone.now()
    newest = Generation.objects.filter(session=session).order_by("-number").first()
    Generation.objects.filter(session=session, closed_at=None).update(closed_at=now)
    opened = Generation.objects.create(
        session=session, number=newest.number + 1 if newest else 1, opened_by=opened_by
    )
    transaction.on_commit(
        lambda: _log.info(
            "generation.opened", session=session.pk, number=opened.number, opened_by=opened_by
        )
    )
    return opened
