"""What this app's tables hold of a person: what they said, and what was answered to them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Concat, Now

from agents import sql
from agents.services.portability import (
    Subject,
    Table,
    register,
    register_nothing,
    register_seer,
)
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

# Shorter words of theirs are everybody's: "yes", "thank you".
QUOTED_CHARACTERS: Final = 16

_UNSENT: Final = (Outgoing.State.QUEUED, Outgoing.State.SENDING)
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
    subject.texts |= set(_own_words(subject))


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
    found = Outgoing.objects.filter(key__startswith="turn:").values_list("pk", "key")
    return Q(pk__in=[pk for pk, key in found if str(key).partition("/")[0] in subject.refs])


def _contents(subject: Subject) -> "QuerySet[Content]":
    """Return the texts of all of these, with those of others' messages that quote them."""
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
    """Yield what came with others' messages in the person's groups and repeats their words."""
    quoted = [text for text in subject.texts if len(text) >= QUOTED_CHARACTERS]
    chats = set(_turns(subject).exclude(session__chat=None).values_list("session__chat", flat=True))
    chats |= set(_overheard(subject).values_list("chat", flat=True))
    others = InboundMessage.objects.filter(session__chat_id__in=chats, context__isnull=False)
    for pk, text in others.values_list("context_id", "context__text"):
        if any(words[:500] in text for words in quoted):
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
    turns.unfinished().update(state=Turn.State.STOPPED, committed_at=Now())
    return turns.update(manifest=None, notice=None, shown_in="")


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
