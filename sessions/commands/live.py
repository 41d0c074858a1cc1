"""Commands in the chats whose people read the transcript: the web chat and REST.

There a command is a message like any other, and its turn is over at once: no model is asked, the
platform's words are the turn's notice. As with every message, the same key is the same command.
"""

import hashlib

import structlog
from django.db import transaction
from django.utils import timezone

from sessions.commands.registry import Invocation, Reply, run
from sessions.errors import KeyReused, MessageTooLong
from sessions.events.announce import announce_after_commit
from sessions.inbox import MAX_CHARACTERS, Accepted, Inbound, viewer_of
from sessions.models import ChatSession, Content, Generation, InboundMessage, Turn
from sessions.notices import COMMAND

_log = structlog.get_logger(__name__)


@transaction.atomic
def accept(
    inbound: Inbound, invocation: Invocation, *, session: ChatSession, language: str | None = None
) -> Accepted:
    """Store a message that is a command, with what it said, and do it, once.

    A command that begins a new stretch of the conversation is the first thing in it. No fact is
    read from a command.

    Args:
        language: Of the reply; None takes the person's own.

    Raises:
        MessageTooLong: There is more than a message may hold.
        KeyReused: The same external id came with another body or to another conversation.
    """
    if len(inbound.text) > MAX_CHARACTERS:
        raise MessageTooLong(MAX_CHARACTERS)
    digest = hashlib.sha256(f"command\n{session.pk}\n{inbound.text.strip()}".encode()).hexdigest()
    # Before the look for an earlier one: of two deliveries at once, the second one finds it.
    ChatSession.objects.select_for_update().get(pk=session.pk)
    earlier = _find(inbound, session, digest)
    if earlier is not None:
        return earlier
    reply = run(
        invocation,
        session=session,
        person=inbound.person,
        account=session.account,
        language=language,
    )
    accepted = _store(inbound, session, digest, reply)
    announce_after_commit(
        session=session.public_id,
        turn=accepted.turn.public_id,
        message=accepted.message.public_id,
    )
    command = invocation.command.name
    transaction.on_commit(lambda: _log.info("command.done", session=session.pk, command=command))
    return accepted


def _find(inbound: Inbound, session: ChatSession, digest: str) -> Accepted | None:
    earlier = (
        InboundMessage.objects.select_related("turn")
        .filter(
            account_id=session.account_id, sender=inbound.sender, external_id=inbound.external_id
        )
        .first()
    )
    if earlier is None:
        return None
    if earlier.body_digest != digest:
        raise KeyReused(f"{inbound.external_id!r} was used for another message")
    return Accepted(message=earlier, turn=earlier.turn, noted=(), is_new=False)


def _store(inbound: Inbound, session: ChatSession, digest: str, reply: Reply) -> Accepted:
    now = timezone.now()
    viewer = viewer_of(session)
    turn = Turn.objects.create(
        session=session,
        generation=Generation.objects.get(session=session, closed_at=None),
        state=Turn.State.ANSWERED,
        viewer_person_id=viewer.person_id,
        is_private=viewer.is_private,
        notice={"v": 1, "code": COMMAND, "values": {"text": reply.text}},
        accepted_at=now,
        committed_at=now,
        delivered_at=now,
    )
    message = InboundMessage.objects.create(
        account_id=session.account_id,
        sender=inbound.sender,
        external_id=inbound.external_id,
        body_digest=digest,
        session=session,
        person=inbound.person,
        turn=turn,
        content=Content.objects.create(team_id=session.team_id, text=inbound.text.strip()),
        status=InboundMessage.Status.ANSWERED,
        received_at=now,
    )
    session.last_interaction_at, session.archived_at = now, None
    session.save(update_fields=["last_interaction_at", "archived_at"])
    return Accepted(message=message, turn=turn, noted=(), is_new=True)
