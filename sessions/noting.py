"""What was noted from a message, taken back by whoever wrote it."""

from django.db import transaction

from memory import wal
from sessions.events.announce import announce_noted_after_commit
from sessions.inbox import viewer_of
from sessions.models import ChatSession, InboundMessage


@transaction.atomic
def undo(message: InboundMessage, fact: str, *, session: ChatSession) -> bool:
    """Forget a sentence that was noted from a message, and tell those who look at it.

    Args:
        message: One of the session's; its turn is loaded.
        fact: The sentence as it was noted.

    Returns:
        False where there is nothing (left) to take back.
    """
    is_done = wal.retract(message.ref, fact, viewer_of(session))
    if is_done:
        announce_noted_after_commit(session=session.public_id, turn=message.turn.public_id)
    return is_done
