"""Taking in messages: stored once, with their facts and their turn, before anything answers."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents import doorbell, sql
from agents.core.messages import JsonObject
from agents.core.viewer import Viewer
from agents.models import Person
from agents.sql import Columns
from memory import wal
from memory.detector import mask_secrets
from memory.models import WalEntry
from memory.policy import policy_of
from sessions import bells, marks
from sessions.errors import EmptyMessage, KeyReused, MessageTooLong
from sessions.events.announce import announce_after_commit
from sessions.marks import Enclosed
from sessions.models import Attachment, ChatSession, InboundMessage, Turn

_log = structlog.get_logger(__name__)

MAX_CHARACTERS: Final = 100_000
TITLE_CHARACTERS: Final = 60
# However steadily messages come, the first of them is answered after this time.
LONGEST_WAIT: Final = timedelta(seconds=30)

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
    WHERE id = %s RETURNING title, clock_timestamp()
"""
_TURN = Columns(Turn, "t")
# The session's newest turn, if it waits for a worker that never saw it and all that it answers
# was sent by the same one.
_WAITING = f"""
    SELECT * FROM (
        SELECT {_TURN.text} FROM bot_sessions_turn t
        WHERE t.session_id = %s AND t.state IN ('queued', 'running') ORDER BY t.id DESC LIMIT 1
    ) t
    WHERE t.state = 'queued' AND t.attempt = 0 AND t.generation_id = %s
        AND t.stop_requested_at IS NULL
        AND (SELECT bool_and(m.sender = %s) FROM bot_sessions_inboundmessage m
            WHERE m.turn_id = t.id)
"""  # noqa: S608 — constants only
_PUT_OFF = "UPDATE bot_sessions_turn SET not_before = greatest(not_before, %s) WHERE id = %s"


@dataclass(frozen=True, slots=True)
class Inbound:
    """One message as a channel brought it.

    Args:
        sender: Who sends, as the channel knows them; part of the message's identity.
        external_id: The sender's own id of the message; the same id is the same message.
        context: What came with it and is not the person's own words: no fact is read from it.
        attachments: Rows that are not stored yet, in order; with them ``text`` may be empty.
        author_name: As a group knows the sender; empty where nobody else writes.
        channel_message_id: What an answer replies to.
        said_at: When the channel took it; None for now.
        pause_s: For how long more messages of the sender may join (``accept``).
    """

    text: str
    sender: str
    external_id: str
    person: Person | None
    payload: JsonObject | None = None
    context: tuple[Enclosed, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    author_name: str = ""
    channel_message_id: str = ""
    said_at: datetime | None = None
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stored message, the turn that will answer it, and what was noted from it."""

    message: InboundMessage
    turn: Turn
    noted: tuple[WalEntry, ...]
    is_new: bool


def accept(inbound: Inbound, *, session: ChatSession, join: bool = False) -> Accepted:
    """Store one inbound message with its facts and queue a turn, once.

    Channels may deliver a message twice; the second call returns the first rows and changes
    nothing. The bell rings after commit, so no worker misses the row.

    Args:
        join: Let the session's newest turn answer it too, if no worker has claimed it yet and it
            answers this sender alone. The turn waits ``pause_s`` after each message,
            ``LONGEST_WAIT`` in all.

    Raises:
        EmptyMessage: There is nothing but white space.
        MessageTooLong: There is more than ``MAX_CHARACTERS``.
        KeyReused: The same external id came with another body or to another conversation.
    """
    text = cleaned(inbound)
    digest = digest_of(inbound, text, session=session)
    _log.info("message.received", session=session.pk, external_id=inbound.external_id)
    earlier = _find(inbound, session=session, digest=digest)
    if earlier is None:
        try:
            return _store(inbound, text, digest, session=session, join=join)
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


def cleaned(inbound: Inbound) -> str:
    """Return a message's text as it is stored.

    Raises:
        EmptyMessage: There is nothing but white space, and nothing came with it.
        MessageTooLong: There is more than ``MAX_CHARACTERS``.
    """
    text = _storable(inbound.text).strip()
    if not text and not inbound.context and not inbound.attachments:
        raise EmptyMessage("nothing was said")
    if len(text) > MAX_CHARACTERS:
        raise MessageTooLong(MAX_CHARACTERS)
    return text


def digest_of(inbound: Inbound, text: str, *, session: ChatSession) -> str:
    """Return what tells two bodies under the same key apart."""
    parts = [str(session.pk), text]
    parts += [f"{each.label}\n{each.text}" for each in inbound.context]
    parts += [each.reference for each in inbound.attachments]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def keep_context(inbound: Inbound, public_id: UUID, *, team_id: int) -> int | None:
    """Store what came with a message, marked with the message's number; return its content."""
    if not inbound.context:
        return None
    context = _storable(marks.enclose(inbound.context, marks.number_of(public_id)))
    ((content_id,),) = sql.fetch(_KEEP, [team_id, context])
    return int(content_id)


def attach(inbound: Inbound, message: InboundMessage) -> None:
    """Store a message's attachments, to be fetched before its turn runs."""
    for number, attachment in enumerate(inbound.attachments, start=1):
        attachment.message, attachment.number = message, number
        sql.insert(attachment)


def _storable(text: str) -> str:
    # PostgreSQL's text holds no NUL, and UTF-8 no lone surrogate.
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


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
    inbound: Inbound, text: str, digest: str, *, session: ChatSession, join: bool
) -> Accepted:
    now = timezone.now()
    said_at = min(inbound.said_at or now, now)
    # First, as it locks the session's row: of messages that come at once, the one that commits
    # first has the lower turn, and turns run in the order of their numbers. Nor can a worker
    # claim a turn that a message joins here.
    database_now = _touch(session, text, said_at)
    ((generation_id, generation_number),) = sql.fetch(_GENERATION, [session.pk])
    ((content_id,),) = sql.fetch(_KEEP, [session.team_id, text])
    turn = _waiting(inbound, session, generation_id) if join else None
    if turn is None:
        turn = _queue(inbound, session, generation_id, database_now)
    else:
        put_off(turn, inbound.pause_s, now=database_now)
    message = InboundMessage(
        account_id=session.account_id,
        sender=inbound.sender,
        external_id=inbound.external_id,
        body_digest=digest,
        session=session,
        person=inbound.person,
        turn=turn,
        content_id=content_id,
        payload=inbound.payload,
        author_name=inbound.author_name,
        channel_message_id=inbound.channel_message_id,
        received_at=said_at,
    )
    message.context_id = keep_context(inbound, message.public_id, team_id=session.team_id)
    sql.insert(message)
    attach(inbound, message)
    noted = wal.append(
        text,
        viewer=viewer_of(session),
        source=message.ref,
        thread=f"session:{session.pk}/{generation_number}",
        author_id=inbound.person.pk if inbound.person else None,
        at=said_at,
        policy=policy_of(session.agent),
    )
    transaction.on_commit(lambda: _log.info("message.committed", turn=turn.pk))
    doorbell.ring_after_commit(bells.RUN, session.pk)
    announce_after_commit(session=session.public_id, turn=turn.public_id, message=message.public_id)
    return Accepted(message=message, turn=turn, noted=tuple(noted), is_new=True)


def put_off(turn: Turn, pause_s: float, *, now: datetime) -> None:
    """Let a waiting turn wait a little more.

    Args:
        now: By the database's clock, as workers compare with it.
    """
    if pause_s:
        until = min(now + timedelta(seconds=pause_s), turn.accepted_at + LONGEST_WAIT)
        sql.execute(_PUT_OFF, [until, turn.pk])


def _waiting(inbound: Inbound, session: ChatSession, generation_id: int) -> Turn | None:
    rows = sql.fetch(_WAITING, [session.pk, generation_id, inbound.sender])
    if not rows:
        return None
    turn, _ = _TURN.take(rows[0])
    return turn


def _queue(
    inbound: Inbound, session: ChatSession, generation_id: int, database_now: datetime
) -> Turn:
    viewer = viewer_of(session)
    pause = timedelta(seconds=inbound.pause_s)
    return sql.insert(
        Turn(
            session=session,
            generation_id=generation_id,
            viewer_person_id=viewer.person_id,
            is_private=viewer.is_private,
            accepted_at=timezone.now(),
            not_before=database_now + pause if inbound.pause_s else None,
        )
    )


def _touch(session: ChatSession, text: str, at: datetime) -> datetime:
    """Note that a person wrote, and return the time by the database's clock."""
    title = session.title or _title_of(text)
    ((session.title, database_now),) = sql.fetch(_TOUCH, [at, title, session.pk])
    session.last_interaction_at, session.archived_at = at, None
    moment: datetime = database_now
    return moment


def _title_of(text: str) -> str:
    """Return a message's first words, secrets masked; what lies far behind is not looked at."""
    line = " ".join(mask_secrets(text[: 20 * TITLE_CHARACTERS]).split())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1].rstrip()}…"
