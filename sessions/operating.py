"""What an operator does to a turn: end it, or have its messages answered once more."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from agents import doorbell
from agents.core.events import Outcome
from agents.models import User
from agents.services import audit
from sessions import bells
from sessions.errors import AlreadyAnswered, NothingLeftToAsk, NotOver
from sessions.events.announce import announce_after_commit, announce_ended_after_commit
from sessions.inbox import viewer_of
from sessions.models import Attachment, ChatSession, Generation, InboundMessage, Turn
from sessions.turns import finishing, leases, stopping
from sessions.turns.finishing import Times
from sessions.turns.leases import Claimed

_log = structlog.get_logger(__name__)

# No worker has this number, so a lease under it is free as soon as its transaction is over.
NOBODY: Final = 0
ENDED: Final = Outcome("failed", "", "ended_by_operator")


class Ended(StrEnum):
    """What became of the wish to end a turn."""

    ENDED = "ended"
    # A worker has it and stops it; one that waits ends when its place comes.
    ASKED = "asked"
    WAS_OVER = "was_over"


@dataclass(frozen=True, slots=True)
class Retried:
    """The turn that asks again, and whether it was queued just now."""

    turn: Turn
    is_new: bool


@transaction.atomic
def end(turn_id: int, *, by: User) -> Ended:
    """End a turn that waits or runs.

    One that a worker has is asked to stop, as its person could. One that nobody works on ends
    here, as failed, and its person is told who ended it.
    """
    session_id = Turn.objects.values_list("session_id", flat=True).get(pk=turn_id)
    token = leases.take(session_id, worker_id=NOBODY)
    # Read after the lease: a worker may have ended it in the meantime.
    turn = _loaded(turn_id)
    if turn.is_over:
        if token is not None:
            leases.release(session_id, token)
        return Ended.WAS_OVER
    if token is None:
        stopping.request(turn)
        _record("turn.ended", turn, by, reason="asked to stop")
        return Ended.ASKED
    times = Times(turn.request_sent_at, turn.first_token_at, turn.last_token_at)
    # No text is committed, so no daily note is written and the zone does not matter.
    ending = finishing.finish(Claimed(turn, token), ENDED, asked="", times=times, time_zone="UTC")
    _record("turn.ended", turn, by, reason="nobody worked on it")
    announce_ended_after_commit(session=turn.session.public_id, turn=turn.public_id)
    # Who asked is told at once; its session may have more to do.
    doorbell.ring_after_commit(bells.SEND, ending.outgoing.pk)
    doorbell.ring_after_commit(bells.RUN, session_id)
    return Ended.ENDED


@transaction.atomic
def retry(turn_id: int, *, by: User) -> Retried:
    """Queue what a turn without an answer was asked once more, as a new turn of its session.

    The old turn stays as it is. The new messages point at the texts of the old ones; facts were
    noted from those and are not noted again. Doing it twice to one turn makes one new turn: the
    messages' keys are made of the old ones. A new turn that fails too can be retried in turn.

    Raises:
        NotOver: It still waits or runs.
        AlreadyAnswered: It has its answer.
        NothingLeftToAsk: Its messages were erased.
    """
    turn = _loaded(turn_id)
    # Before the turn gets its number, as whenever a message is accepted.
    session = ChatSession.objects.select_for_update().get(pk=turn.session_id)
    if not turn.is_over:
        raise NotOver(turn.ref)
    if turn.state == Turn.State.ANSWERED:
        raise AlreadyAnswered(turn.ref)
    sender = f"retry:{turn.pk}"
    earlier = InboundMessage.objects.filter(account=session.account_id, sender=sender).first()
    if earlier is not None:
        return Retried(earlier.turn, is_new=False)
    asked = list(turn.messages.select_related("content").order_by("id"))
    if not asked or any(message.content.erased_at for message in asked):
        raise NothingLeftToAsk(turn.ref)
    again = _ask_again(asked, session, sender=sender)
    _record("turn.retried", turn, by, reason=f"as {again.ref}")
    return Retried(again, is_new=True)


def _ask_again(asked: list[InboundMessage], session: ChatSession, *, sender: str) -> Turn:
    now = timezone.now()
    viewer = viewer_of(session)
    turn = Turn.objects.create(
        session=session,
        generation=Generation.objects.get(session=session, closed_at=None),
        viewer_person_id=viewer.person_id,
        is_private=viewer.is_private,
        accepted_at=now,
    )
    for old in asked:
        message = InboundMessage.objects.create(
            account_id=old.account_id,
            sender=sender,
            external_id=str(old.pk),
            body_digest=old.body_digest,
            session=session,
            person_id=old.person_id,
            turn=turn,
            content_id=old.content_id,
            context_id=old.context_id,
            author_name=old.author_name,
            channel_message_id=old.channel_message_id,
            received_at=now,
        )
        for attachment in old.attachments.order_by("number"):
            # A copy: what was fetched stays fetched, what could not be is tried again.
            attachment.pk, attachment.message = None, message
            if attachment.state == Attachment.State.FAILED:
                attachment.state, attachment.error = Attachment.State.WAITING, ""
            attachment.save(force_insert=True)
        announce_after_commit(
            session=session.public_id, turn=turn.public_id, message=message.public_id
        )
    doorbell.ring_after_commit(bells.RUN, session.pk)
    return turn


def _loaded(turn_id: int) -> Turn:
    related = ("session__agent", "session__account", "session__person", "generation")
    return Turn.objects.select_related(*related).get(pk=turn_id)


def _record(action: str, turn: Turn, by: User, *, reason: str) -> None:
    audit.record(
        team_id=turn.session.team_id, actor=by, action=action, subject=turn.ref, reason=reason
    )
    transaction.on_commit(lambda: _log.info(action, turn=turn.pk, by=by.pk))
