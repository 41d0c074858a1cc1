"""Messages that their sender edits after they were sent.

While nobody has begun to answer, the new text takes the old one's place. Later the answer has seen
the old text: until it is whole, the edit follows as a message of its own, marked as one. Once the
message was answered an edit changes nothing: people correct spelling, and would be answered twice.
"""

from dataclasses import replace
from datetime import UTC, datetime

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import doorbell, sql
from memory import wal
from memory.models import WalEntry
from memory.policy import policy_of
from sessions import bells, inbox, marks
from sessions.events.announce import announce_after_commit
from sessions.inbox import Inbound
from sessions.marks import Enclosed
from sessions.models import ChatSession, Content, InboundMessage, Turn

_log = structlog.get_logger(__name__)

LABEL = "edits an earlier message, which said"
_ERASE = "SELECT qanot_erase_content(%s, %s, 'replaced by its sender')"


@transaction.atomic
def edit(inbound: Inbound, *, session: ChatSession, edited_at: datetime) -> InboundMessage | None:
    """Take in a message's new form; return the message that says it now.

    Args:
        inbound: The whole message as it is now, under its own id.

    Returns:
        None where nothing changes: it is unknown, says the same, or was answered.

    Raises:
        EmptyMessage: Nothing is left of it.
        MessageTooLong: There is more than a message may hold.
    """
    # No worker can claim its turn from here on, and of two edits the later one waits.
    ChatSession.objects.select_for_update().get(pk=session.pk)
    message = (
        InboundMessage.objects.select_related("turn__generation", "content")
        .filter(
            account_id=session.account_id,
            sender=inbound.sender,
            external_id=inbound.external_id,
            session=session,
        )
        .first()
    )
    text = inbox.cleaned(inbound)
    digest = inbox.digest_of(inbound, text, session=session)
    if message is None or message.body_digest == digest:
        return None
    if message.edited_at is not None and message.edited_at > edited_at:
        return None
    turn = message.turn
    if turn.state == Turn.State.ANSWERED:
        return None
    if turn.state == Turn.State.QUEUED and not turn.attempt:
        _replace(message, inbound, text, digest, session=session, edited_at=edited_at)
        return message
    return _follow(message, inbound, digest, session=session, edited_at=edited_at)


def _replace(
    message: InboundMessage,
    inbound: Inbound,
    text: str,
    digest: str,
    *,
    session: ChatSession,
    edited_at: datetime,
) -> None:
    """Put a new text in the old one's place; facts of the old one go with it."""
    replaced = [message.content_id, message.context_id]
    message.content = Content.objects.create(team_id=session.team_id, text=text)
    message.context_id = inbox.keep_context(inbound, message.public_id, team_id=session.team_id)
    message.body_digest, message.edited_at = digest, edited_at
    message.save(update_fields=["content", "context", "body_digest", "edited_at"])
    message.attachments.all().delete()
    inbox.attach(inbound, message)
    # What nothing points at any more could not be erased later.
    for content_id in replaced:
        if content_id is not None:
            sql.fetch(_ERASE, [content_id, inbound.sender])
    _note_again(message, text, session=session, at=edited_at)
    inbox.put_off(message.turn, inbound.pause_s, now=timezone.now())
    transaction.on_commit(lambda: _log.info("message.edited", message=message.pk))
    doorbell.ring_after_commit(bells.RUN, session.pk)
    announce_after_commit(
        session=session.public_id, turn=message.turn.public_id, message=message.public_id
    )


def _note_again(message: InboundMessage, text: str, *, session: ChatSession, at: datetime) -> None:
    viewer, edits = inbox.viewer_of(session), f"{message.ref}/edit:"
    of_message = Q(source=message.ref) | Q(source__startswith=edits)
    for entry in WalEntry.objects.filter(of_message, retracted_at=None):
        wal.retract(entry.source, entry.text, viewer)
    wal.append(
        text,
        viewer=viewer,
        # Entries are stored once a source.
        source=f"{edits}{_stamp(at)}",
        thread=f"session:{session.pk}/{message.turn.generation.number}",
        author_id=message.person_id,
        at=at,
        policy=policy_of(session.agent),
    )


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y%m%d%H%M%S}"


def _follow(
    message: InboundMessage,
    inbound: Inbound,
    digest: str,
    *,
    session: ChatSession,
    edited_at: datetime,
) -> InboundMessage:
    """Queue the edit as a message of its own, once."""
    message.body_digest, message.edited_at = digest, edited_at
    message.save(update_fields=["body_digest", "edited_at"])
    earlier = message.content.text if message.content.erased_at is None else ""
    marked = Enclosed(LABEL, marks.cut(earlier), is_foreign=False)
    accepted = inbox.accept(
        replace(
            inbound,
            external_id=f"{inbound.external_id}/{_stamp(edited_at)}",
            context=(marked, *inbound.context),
            # They were shown already.
            attachments=(),
            said_at=edited_at,
        ),
        session=session,
        join=True,
    )
    return accepted.message
