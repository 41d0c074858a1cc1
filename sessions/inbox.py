"""Taking in messages: stored once, with their facts and their turn, before anything answers."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents import doorbell, sql
from agents.core.messages import JsonObject
from agents.core.viewer import Viewer
from agents.models import Person
from memory import wal
from memory.detector import mask_secrets
from memory.models import WalEntry
from memory.policy import policy_of
from sessions import bells
from sessions.errors import EmptyMessage, KeyReused, MessageTooLong
from sessions.events.announce import announce_after_commit
from sessions.models import ChatSession, InboundMessage, Turn

_log = structlog.get_logger(__name__)

MAX_CHARACTERS: Final = 100_000
TITLE_CHARACTERS: Final = 60

_EARLIER = """
    SELECT id FROM bot_sessions_inboundmessage
    WHERE account_id = %s AND sender = %s AND external_id = %s
"""
_GENERATION = """
    SELECT id, number FROM bot_sessions_generation WHERE session_id = %s AND closed_at IS NULL
"""
_KEEP = "INSERT INTO bot_sessions_content (team_id, text) VALUES (%s, %s) RETURNING id"
_TOUCH = """
    UPDATE bot_sessions_chatsession
    SET last_interaction_at = %s, title = CASE title WHEN '' THEN %s ELSE title END,
        archived_at = NULL
    WHERE id = %s RETURNING title
"""


@dataclass(frozen=True, slots=True)
class Inbound:
    """One message as a channel brought it.

    Args:
        sender: Who sends, as the channel knows them; part of the message's identity.
        external_id: The sender's own id of the message; the same id is the same message.
    """

    text: str
    sender: str
    external_id: str
    person: Person | None
    payload: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stored message, the turn that will answer it, and what was noted from it."""

    message: InboundMessage
    turn: Turn
    noted: tuple[WalEntry, ...]
    is_new: bool


def accept(inbound: Inbound, *, session: ChatSession) -> Accepted:
    """Store one inbound message with its facts and queue a turn, once.

    Channels may deliver a message twice; the second call returns the first rows and changes
    nothing. The bell rings after commit, so no worker misses the row.

    Raises:
        EmptyMessage: There is nothing but white space.
        MessageTooLong: There is more than ``MAX_CHARACTERS``.
        KeyReused: The same external id came with another body or to another conversation.
    """
    received_at = timezone.now()
    text = _checked(inbound.text)
    digest = hashlib.sha256(f"{session.pk}\n{text}".encode()).hexdigest()
    _log.info("message.received", session=session.pk, external_id=inbound.external_id)
    earlier = _find(inbound, session=session, digest=digest)
    if earlier is None:
        try:
            return _store(inbound, text, digest, session=session, received_at=received_at)
        except IntegrityError as exc:
            # The same message is being stored right now, by another delivery of it.
            earlier = _find(inbound, session=session, digest=digest)
            if earlier is None:
                raise exc
    return earlier


def viewer_of(session: ChatSession) -> Viewer:
    """Return on whose behalf a session's turns read and keep."""
    is_direct = session.kind == ChatSession.Kind.DIRECT
    return Viewer(
        team_id=session.team_id,
        agent_id=session.agent_id,
        person_id=session.person_id,
        chat_id=session.chat_id,
        is_private=is_direct,
    )


def _checked(text: str) -> str:
    # PostgreSQL's text holds no NUL, and UTF-8 no lone surrogate.
    clean = text.replace("\x00", "").encode("utf-8", "replace").decode().strip()
    if not clean:
        raise EmptyMessage("nothing was said")
    if len(clean) > MAX_CHARACTERS:
        raise MessageTooLong(MAX_CHARACTERS)
    return clean


def _find(inbound: Inbound, *, session: ChatSession, digest: str) -> Accepted | None:
    earlier = sql.fetch(_EARLIER, [session.account_id, inbound.sender, inbound.external_id])
    if not earlier:
        return None
    message = InboundMessage.objects.select_related("turn", "content").get(pk=earlier[0][0])
    if message.body_digest != digest:
        raise KeyReused(f"{inbound.external_id!r} was used for another message")
    noted = tuple(WalEntry.objects.filter(source=message.ref).order_by("id"))
    return Accepted(message=message, turn=message.turn, noted=noted, is_new=False)


@transaction.atomic
def _store(
    inbound: Inbound, text: str, digest: str, *, session: ChatSession, received_at: datetime
) -> Accepted:
    # First, as it locks the session's row: of messages that come at once, the one that commits
    # first has the lower turn, and turns run in the order of their numbers.
    _touch(session, text, received_at)
    ((generation_id, generation_number),) = sql.fetch(_GENERATION, [session.pk])
    ((content_id,),) = sql.fetch(_KEEP, [session.team_id, text])
    viewer = viewer_of(session)
    turn = sql.insert(
        Turn(
            session=session,
            generation_id=generation_id,
            viewer_person_id=viewer.person_id,
            is_private=viewer.is_private,
            accepted_at=timezone.now(),
        )
    )
    message = sql.insert(
        InboundMessage(
            account_id=session.account_id,
            sender=inbound.sender,
            external_id=inbound.external_id,
            body_digest=digest,
            session=session,
            person=inbound.person,
            turn=turn,
            content_id=content_id,
            payload=inbound.payload,
            received_at=received_at,
        )
    )
    noted = wal.append(
        text,
        viewer=viewer,
        source=message.ref,
        thread=f"session:{session.pk}/{generation_number}",
        author_id=inbound.person.pk if inbound.person else None,
        at=received_at,
        policy=policy_of(session.agent),
    )
    transaction.on_commit(lambda: _log.info("message.committed", turn=turn.pk))
    doorbell.ring_after_commit(bells.RUN, session.pk)
    announce_after_commit(session=session.public_id, turn=turn.public_id, message=message.public_id)
    return Accepted(message=message, turn=turn, noted=tuple(noted), is_new=True)


def _touch(session: ChatSession, text: str, at: datetime) -> None:
    title = session.title or _title_of(text)
    ((session.title,),) = sql.fetch(_TOUCH, [at, title, session.pk])
    session.last_interaction_at, session.archived_at = at, None


def _title_of(text: str) -> str:
    """Return a message's first words, secrets masked; what lies far behind is not looked at."""
    line = " ".join(mask_secrets(text[: 20 * TITLE_CHARACTERS]).split())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1].rstrip()}…"
