"""What this app's tables hold of a person: what they said, and what was answered to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Concat, Now
from django.utils import timezone
from redis.exceptions import RedisError

from agents import sql
from agents.services.portability import (
    Subject,
    Table,
    caused,
    register,
    register_nothing,
    register_seer,
)
from sessions.events import wire
from sessions.events.redis_client import blocking_client
from sessions.models import (
    Attachment,
    ChannelAccount,
    ChannelContact,
    ChannelUpdate,
    ChatSession,
    Content,
    Extraction,
    Generation,
    InboundMessage,
    Outgoing,
    OutgoingPart,
    OverheardMessage,
    PairingLink,
    PairingRequest,
    TranscriptEntry,
    Turn,
    TurnFreeze,
    TurnStep,
    WorkerProcess,
)
from sessions.models.turns import TurnQuerySet

_log = structlog.get_logger(__name__)

_UNSENT: Final = (Outgoing.State.QUEUED, Outgoing.State.SENDING)
# A stream ends an hour after its last frame.
_LIVE: Final = timedelta(seconds=2 * wire.STREAM_SECONDS)
_ERASE: Final = """
    SELECT count(*) FILTER (WHERE qanot_erase_content(id, %s, 'a person was erased'))
    FROM bot_sessions_content WHERE id = ANY(%s) AND erased_at IS NULL
"""
_FREE: Final = """
    UPDATE bot_sessions_chatsession SET lease_token = NULL, leased_until = NULL, leased_by = NULL
    WHERE id IN (SELECT session_id FROM bot_sessions_turn WHERE id = ANY(%s)
        AND state = 'running')
"""


def _see(subject: Subject) -> None:
    """Note what the person said, which turns answered it, and who channels say they are."""
    people = subject.person_ids
    contacts = ChannelContact.objects.filter(person_id__in=people)
    subject.names |= set(contacts.values_list("external_id", flat=True))
    sessions = ChatSession.objects.filter(person_id__in=people, chat=None)
    messages = InboundMessage.objects.filter(Q(person_id__in=people) | Q(session__in=sessions))
    turns = Turn.objects.filter(
        Q(viewer_person_id__in=people, session__team_id=subject.team_id)
        | Q(session__in=sessions)
        | Q(messages__in=messages)
    )
    attachments = Attachment.objects.filter(message__in=messages)
    for name, rows in (
        ("sessions", sessions),
        ("messages", messages),
        ("turns", turns.distinct()),
        ("attachments", attachments),
    ):
        subject.note_ids(name, rows.values_list("pk", flat=True))
    subject.refs |= {f"message:{pk}" for pk in subject.ids("messages")}
    subject.refs |= {f"turn:{pk}" for pk in subject.ids("turns")}
    subject.refs |= {f"attachment:{pk}" for pk in subject.ids("attachments")}
    chats = set(_turns(subject).exclude(session__chat=None).values_list("session__chat", flat=True))
    subject.note_ids("chats", chats | set(_overheard(subject).values_list("chat", flat=True)))
    for words in _own_words(subject):
        subject.quote(words)


def _own_words(subject: Subject) -> Iterator[str]:
    said = InboundMessage.objects.filter(pk__in=subject.ids("messages"))
    overheard = OverheardMessage.objects.filter(person_id__in=subject.person_ids)
    for rows in (said, overheard):
        yield from rows.values_list("content__text", flat=True)


def _sessions(subject: Subject) -> "QuerySet[ChatSession]":
    return ChatSession.objects.filter(pk__in=subject.ids("sessions"))


def _turns(subject: Subject) -> TurnQuerySet:
    return Turn.objects.filter(pk__in=subject.ids("turns"))


def _messages(subject: Subject) -> "QuerySet[InboundMessage]":
    return InboundMessage.objects.filter(pk__in=subject.ids("messages"))


def _attachments(subject: Subject) -> "QuerySet[Attachment]":
    return Attachment.objects.filter(pk__in=subject.ids("attachments"))


def _overheard(subject: Subject) -> "QuerySet[OverheardMessage]":
    return OverheardMessage.objects.filter(person_id__in=subject.person_ids)


def _outgoing(subject: Subject) -> "QuerySet[Outgoing]":
    """Return answers and notices to the person; in a group, those of their turns."""
    private = ChannelContact.objects.filter(person_id__in=subject.person_ids)
    pairs = Q(pk__in=())
    for account_id, external_id in private.values_list("account_id", "external_id"):
        pairs |= Q(account_id=account_id, peer=external_id)
    of_turns = Q(turn_id__in=subject.ids("turns")) | _keyed(subject)
    ids = Outgoing.objects.filter(of_turns | pairs | Q(session_id__in=subject.ids("sessions")))
    if "outgoing" not in subject.noted:
        subject.note_ids("outgoing", ids.values_list("pk", flat=True))
    return Outgoing.objects.filter(pk__in=subject.ids("outgoing"))


def _keyed(subject: Subject) -> Q:
    """Return the condition that a turn of theirs caused a row: ``turn:81/file:2``."""
    return Q(key__startswith="turn:") & caused(subject, "key")


def _contents(subject: Subject) -> "QuerySet[Content]":
    """Return the texts of all of these, with those of the agent's that repeat their words."""
    if "contents" not in subject.noted:
        subject.note_ids("contents", _content_ids(subject))
    return Content.objects.filter(pk__in=subject.ids("contents"))


def _content_ids(subject: Subject) -> Iterator[int]:
    turns = subject.ids("turns")
    for rows, columns in (
        (_messages(subject), ("content_id", "context_id")),
        (TranscriptEntry.objects.filter(turn_id__in=turns), ("content_id",)),
        (TurnStep.objects.filter(turn_id__in=turns), ("content_id",)),
        (_outgoing(subject), ("content_id",)),
        (_attachments(subject), ("transcript_id",)),
        (_overheard(subject), ("content_id",)),
    ):
        for row in rows.values_list(*columns):
            yield from (pk for pk in row if pk is not None)
    yield from _quoting(subject)


def _quoting(subject: Subject) -> Iterator[int]:
    """Yield texts that repeat the person's words: quotes, and what agents answered to others.

    In the groups where they spoke, and wherever facts of theirs were shared. What others wrote
    themselves stays, even where it is the same.
    """
    groups = Q(session__chat_id__in=subject.ids("chats"))
    quotes = InboundMessage.objects.filter(groups, context__isnull=False)
    yield from _repeating(subject, quotes.values_list("context_id", "context__text"))
    of_groups = Q(turn__session__chat_id__in=subject.ids("chats"))
    others = Q(turn__session__team_id=subject.team_id) if subject.ids("shared") else of_groups
    for rows in (
        TurnStep.objects.filter(others, content__isnull=False),
        TranscriptEntry.objects.filter(others).exclude(role=TranscriptEntry.Role.USER),
    ):
        yield from _repeating(subject, rows.values_list("content_id", "content__text"))


def _repeating(subject: Subject, rows: "QuerySet[Any, tuple[int, str]]") -> Iterator[int]:
    for pk, text in rows.iterator(chunk_size=1_000):
        if text and subject.is_quoted_in(text):
            yield pk


def _erase_contents(subject: Subject) -> int:
    ids = list(_contents(subject).values_list("pk", flat=True))
    ((count,),) = sql.fetch(_ERASE, [subject.actor, ids])
    return int(count)


def _end_turns(subject: Subject) -> int:
    """Let nobody answer them any more, and empty what is kept of how it was answered."""
    turns = _turns(subject)
    # In the order of the sessions' own locks; a worker that had one of them writes nothing more.
    list(
        ChatSession.objects.select_for_update(of=("self",))
        .filter(turns__in=turns.unfinished())
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    sql.execute(_FREE, [subject.ids("turns")])
    ended = Q(committed_at=None) | Q(committed_at__gt=timezone.now() - _LIVE)
    streams = [
        wire.stream_of(key) for key in turns.filter(ended).values_list("public_id", flat=True)
    ]
    transaction.on_commit(partial(_remove_live, streams))
    turns.unfinished().update(state=Turn.State.STOPPED, committed_at=Now())
    return turns.update(manifest=None, notice=None, shown_in="")


def _remove_live(streams: Sequence[str]) -> None:
    """Remove what was streamed lately; where Redis is away it ends by itself."""
    try:
        if streams:
            blocking_client().delete(*streams)
    except RedisError as error:
        _log.warning("live.not_removed", error=type(error).__name__)


def _extractions(subject: Subject) -> "QuerySet[Extraction]":
    return Extraction.objects.filter(session_id__in=subject.ids("sessions"))


def _erase_extractions(subject: Subject) -> int:
    """Delete them; in groups, let one that is being read begin anew without the person's words."""
    groups = ChatSession.objects.filter(turns__in=subject.ids("turns")).exclude(chat=None)
    running = Extraction.objects.filter(state=Extraction.State.RUNNING, session__in=groups)
    running.update(lease_token=None, leased_until=None)
    return _extractions(subject).delete()[0]


def _expand(name: str) -> Any:
    return lambda row: {name: getattr(getattr(row, name), "text", "")}


def _said(row: InboundMessage) -> Mapping[str, object]:
    return {
        "content": row.content.text,
        "context": row.context.text if row.context is not None else "",
    }


def _parts_of(subject: Subject) -> "QuerySet[OutgoingPart]":
    return OutgoingPart.objects.filter(outgoing__in=_outgoing(subject))


def _texts(text: str, columns: Iterable[str]) -> dict[str, object]:
    return dict.fromkeys(columns, text)


register_seer(_see)
register(
    "sessions",
    Table(
        model=TurnFreeze,
        rows=lambda subject: TurnFreeze.objects.filter(turn_id__in=subject.ids("turns")),
        is_exported=False,
    ),
    Table(model=Turn, rows=_turns, erase=_end_turns),
    Table(model=Extraction, rows=_extractions, erase=_erase_extractions),
    # Before the rows that lead to them are emptied.
    Table(model=Content, rows=_contents, erase=_erase_contents, is_exported=False),
    Table(model=OverheardMessage, rows=_overheard, expands=_expand("content")),
    Table(
        model=TranscriptEntry,
        rows=lambda subject: TranscriptEntry.objects.filter(turn_id__in=subject.ids("turns")),
        blanks={},
        keeps=("role", "tool_call_id", "tool_name"),
        expands=_expand("content"),
    ),
    Table(
        model=TurnStep,
        rows=lambda subject: TurnStep.objects.filter(turn_id__in=subject.ids("turns")),
        blanks={"error": ""},
        keeps=("kind", "name", "call_id"),
        expands=_expand("content"),
    ),
    Table(
        model=Attachment,
        rows=_attachments,
        blanks={
            **_texts("", ("reference", "name", "media_type")),
            "file": None,
            "picture": None,
            "state": Attachment.State.FAILED,
            "error": "erased",
        },
        keeps=("kind",),
        expands=_expand("transcript"),
    ),
    Table(
        model=OutgoingPart,
        rows=_parts_of,
        blanks=_texts("", ("external_id", "error")),
        keeps=("state",),
    ),
    Table(
        model=Outgoing,
        rows=_outgoing,
        blanks={
            **_texts("", ("peer", "thread", "reply_to", "error")),
            "key": None,
            "buttons": None,
            "file": None,
            # What was still to be sent is not sent any more.
            "state": Case(
                When(state__in=_UNSENT, then=Value(Outgoing.State.FAILED)), default=F("state")
            ),
        },
        keeps=("kind",),
        expands=_expand("content"),
    ),
    Table(
        model=InboundMessage,
        rows=_messages,
        blanks={
            **_texts("", ("sender", "body_digest", "author_name", "channel_message_id")),
            "external_id": Concat(Value("erased:"), F("pk"), output_field=CharField()),
            "payload": None,
            "status": InboundMessage.Status.ANSWERED,
        },
        expands=_said,
    ),
    Table(
        model=ChatSession,
        rows=_sessions,
        blanks={
            **_texts("", ("title", "thread")),
            "peer": Concat(Value("erased:"), F("pk"), output_field=CharField()),
            "archived_at": Now(),
        },
        keeps=("kind",),
    ),
    Table(
        model=PairingLink,
        rows=lambda subject: PairingLink.objects.filter(person_id__in=subject.person_ids),
    ),
    Table(
        model=PairingRequest,
        rows=lambda subject: PairingRequest.objects.filter(
            contact__person_id__in=subject.person_ids
        ),
    ),
    Table(
        model=ChannelContact,
        rows=lambda subject: ChannelContact.objects.filter(person_id__in=subject.person_ids),
    ),
)
register_nothing(
    {
        ChannelAccount: "the team's own",
        ChannelUpdate: "numbers of updates, forgotten after seven days",
        Generation: "figures of a conversation",
        WorkerProcess: "the machine's",
    }
)
