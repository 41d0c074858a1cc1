"""What the API reads: only rows of the token's own person, as values to be sent."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _
from pydantic import JsonValue

from agents.api import foreign
from agents.api.problems import Problem
from agents.core.loop import PARAGRAPH
from agents.core.messages import JsonObject, load_reply
from agents.models import Agent, ApiToken, File, UsageRecord
from sessions import conversations, downloads, notices, shown_files
from sessions.channels.rest.schemas import (
    AgentOut,
    AttachmentOut,
    ConversationOut,
    ConversationsOut,
    EntryOut,
    EntryRole,
    NoticeOut,
    SentFileOut,
    TranscriptOut,
    TurnOut,
    TurnState,
    UsageOut,
)
from sessions.models import ChatSession, InboundMessage, TranscriptEntry, Turn
from sessions.shown_files import SentFile, ShownAttachment

TOKENS: Final = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)
NO_USAGE: Final = UsageOut(calls=0, **dict.fromkeys(TOKENS, 0), is_estimate=False, cost_usd=None)


@dataclass(frozen=True, slots=True)
class Watched:
    """A turn as those who wait for it need it."""

    pk: int
    public_id: UUID
    session: UUID
    is_over: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """How a turn ended, for those who watch its events.

    Args:
        snapshot: A frame's body with the whole text and the tools (docs/events.md).
    """

    attempt: int
    state: str
    snapshot: JsonObject


def agents(token: ApiToken) -> list[AgentOut]:
    """Return the agents that the token may talk to, by name."""
    return [
        AgentOut(
            id=agent.public_id,
            name=agent.name,
            description=agent.description,
            language=agent.language,
        )
        for agent in _agents(token)
    ]


def find_agent(token: ApiToken, agent_id: UUID) -> Agent:
    """Return one of the team's living agents.

    Raises:
        Problem: There is none; another team's looks the same.
    """
    agent = _agents(token).filter(public_id=agent_id).first()
    if agent is None:
        raise foreign.missing(
            token,
            _("There is no such agent."),
            what=f"agent:{agent_id}",
            others=Agent.objects.filter(public_id=agent_id).exclude(team_id=token.team_id),
        )
    return agent


def find_turn(token: ApiToken, turn_id: UUID) -> Turn:
    """Return a turn of the person's own conversations, its session and agent loaded.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    turn = (
        Turn.objects.select_related("session__agent")
        .filter(public_id=turn_id, session__in=_sessions(token))
        .first()
    )
    if turn is None:
        raise _no_turn(token, turn_id)
    return turn


def watched(token: ApiToken, turn_id: UUID) -> Watched:
    """Return a turn to wait for.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    turn = find_turn(token, turn_id)
    return Watched(
        pk=turn.pk,
        public_id=turn.public_id,
        session=turn.session.public_id,
        is_over=turn.is_over,
    )


def is_over(watched: Watched) -> bool:
    """Return whether a turn is over by now."""
    return watched.is_over or not Turn.objects.unfinished().filter(pk=watched.pk).exists()


def ended(watched: Watched) -> Ended:
    """Return the end of a turn that is over."""
    turn = Turn.objects.get(pk=watched.pk)
    tools: list[JsonValue] = [
        {
            "call": entry.tool_call_id,
            "name": entry.tool_name,
            "state": "error" if entry.is_error else "done",
        }
        for entry in TranscriptEntry.objects.filter(
            turn=turn, role=TranscriptEntry.Role.TOOL
        ).order_by("id")
    ]
    return Ended(
        attempt=max(turn.attempt, 1),
        state=turn.state,
        snapshot={"type": "snapshot", "text": _text(_answer_entries(turn)), "tools": tools},
    )


def turn_of(token: ApiToken, turn_id: UUID) -> TurnOut:
    """Return a turn with its answer and usage.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    return describe(find_turn(token, turn_id))


def describe(turn: Turn) -> TurnOut:
    """Return a turn as it stands; needs ``session`` and its agent loaded."""
    entries = _answer_entries(turn) if turn.is_over else []
    files = shown_files.sent([turn.pk])[turn.pk] if turn.is_over else []
    return TurnOut(
        id=turn.public_id,
        conversation=turn.session.public_id,
        agent=turn.session.agent.public_id,
        # The column's choices are these words.
        state=cast(TurnState, turn.state),
        is_over=turn.is_over,
        answer=_text(entries) or None,
        is_partial=any(entry.is_partial for entry in entries),
        notice=_notice(turn),
        files=[_sent(file) for file in files],
        usage=_usage(turn),
        accepted_at=turn.accepted_at,
        claimed_at=turn.claimed_at,
        request_sent_at=turn.request_sent_at,
        first_token_at=turn.first_token_at,
        last_token_at=turn.last_token_at,
        committed_at=turn.committed_at,
        delivered_at=turn.delivered_at,
        stop_requested_at=turn.stop_requested_at,
    )


def conversations_of(token: ApiToken, *, before: UUID | None, limit: int) -> ConversationsOut:
    """Return a page of the person's own conversations, the newest first, without archived ones.

    Raises:
        Problem: ``before`` is no conversation of theirs.
    """
    found = _sessions(token).filter(archived_at=None).exclude(last_interaction_at=None)
    if before is not None:
        edge = find_conversation(token, before)
        found = found.filter(
            Q(last_interaction_at__lt=edge.last_interaction_at)
            | Q(last_interaction_at=edge.last_interaction_at, pk__lt=edge.pk)
        )
    page = list(found[: limit + 1])
    shown = page[:limit]
    return ConversationsOut(
        items=[_conversation(session) for session in shown],
        before=shown[-1].public_id if len(page) > limit else None,
    )


def find_conversation(token: ApiToken, conversation_id: UUID) -> ChatSession:
    """Return one of the person's own conversations.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    session = _sessions(token).filter(public_id=conversation_id).first()
    if session is None:
        raise foreign.missing(
            token,
            _("There is no such conversation."),
            what=f"session:{conversation_id}",
            others=ChatSession.objects.filter(public_id=conversation_id),
        )
    return session


def find_file(token: ApiToken, file_id: UUID) -> File:
    """Return a file of the person's own conversations.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    file = downloads.find(file_id, _sessions(token))
    if file is None:
        raise no_file(token, file_id)
    return file


def no_file(token: ApiToken, file_id: UUID) -> Problem:
    """Return the problem of a file that is not there, or not this person's."""
    # One's own that waits for its message is nobody else's.
    others = File.objects.filter(public_id=file_id).exclude(person=token.person)
    return foreign.missing(
        token, _("There is no such file."), what=f"file:{file_id}", others=others
    )


def transcript(
    token: ApiToken, conversation_id: UUID, *, before: UUID | None, limit: int
) -> TranscriptOut:
    """Return the newest turns of a conversation, or those before one of them, whole.

    Raises:
        Problem: There is no such conversation, or no such turn in it.
    """
    session = find_conversation(token, conversation_id)
    found = Turn.objects.filter(session=session)
    if before is not None:
        edge = found.filter(public_id=before).first()
        if edge is None:
            raise _no_turn(token, before)
        found = found.filter(pk__lt=edge.pk)
    page = list(found.order_by("-id")[: limit + 1])
    shown = page[:limit]
    return TranscriptOut(
        items=_entries(shown[::-1]),
        before=shown[-1].public_id if len(page) > limit else None,
    )


def _no_turn(token: ApiToken, turn_id: UUID) -> Problem:
    return foreign.missing(
        token,
        _("There is no such turn."),
        what=f"turn:{turn_id}",
        others=Turn.objects.filter(public_id=turn_id).exclude(session__in=_sessions(token)),
    )


def _agents(token: ApiToken) -> QuerySet[Agent]:
    return Agent.objects.filter(team_id=token.team_id, archived_at=None).order_by("name", "id")


def _sessions(token: ApiToken) -> QuerySet[ChatSession]:
    return conversations.of_person(token.person).filter(team_id=token.team_id)


def _answer_entries(turn: Turn) -> list[TranscriptEntry]:
    return list(
        TranscriptEntry.objects.filter(turn=turn, role=TranscriptEntry.Role.ASSISTANT)
        .select_related("content")
        .order_by("id")
    )


def _text(entries: Sequence[TranscriptEntry]) -> str:
    return PARAGRAPH.join(filter(None, map(_plain_text, entries)))


def _plain_text(entry: TranscriptEntry) -> str:
    """Return what the model wrote, as Markdown; empty where it was erased."""
    if entry.content.erased_at is not None:
        return ""
    return load_reply(entry.content.text).message.text


def _notice(turn: Turn) -> NoticeOut | None:
    if turn.notice is None:
        return None
    stored = notices.Notice.model_validate(turn.notice)
    return NoticeOut(
        code=stored.code, text=notices.text_of(turn.notice), values=stored.values or {}
    )


def _usage(turn: Turn) -> UsageOut:
    if turn.claimed_at is None:
        # Posting a message is to be quick, and nobody has worked on it yet.
        return NO_USAGE
    sums = UsageRecord.objects.filter(origin=turn.ref).aggregate(
        calls=Count("id"),
        is_estimate=BoolOr("is_estimate", default=False),
        cost_usd=Sum("cost_usd"),
        **{name: Sum(name, default=0) for name in TOKENS},
    )
    return UsageOut.model_validate(sums)


def _conversation(session: ChatSession) -> ConversationOut:
    return ConversationOut(
        id=session.public_id,
        key=session.key,
        agent=session.agent.public_id,
        channel=session.account.channel,
        thread=session.thread,
        title=session.title,
        created_at=session.created_at,
        last_interaction_at=session.last_interaction_at,
    )


def _entries(turns: Sequence[Turn]) -> list[EntryOut]:
    """Return the turns' entries; where none are written, the messages of the turn.

    An unfinished turn has none yet, a command's never has: no model is shown it.
    """
    unfinished = [turn for turn in turns if not turn.is_over or notices.is_command(turn.notice)]
    over = [turn for turn in turns if turn not in unfinished]
    rows = list(
        TranscriptEntry.objects.filter(turn__in=over)
        .select_related("content", "turn", "message")
        .order_by("id")
    )
    waiting = list(
        InboundMessage.objects.filter(turn__in=unfinished)
        .select_related("content", "turn")
        .order_by("id")
    )
    messages = [row.message_id for row in rows if row.message_id is not None]
    attached = shown_files.attached([*messages, *(message.pk for message in waiting)])
    sent = shown_files.sent([turn.pk for turn in over])
    written: dict[int, list[EntryOut]] = defaultdict(list)
    for row in rows:
        own = attached[row.message_id] if row.message_id is not None else []
        by_call = [file for file in sent[row.turn_id] if file.call == row.tool_call_id]
        written[row.turn_id].append(_entry(row, own, by_call))
    for message in waiting:
        written[message.turn_id].append(_waiting(message, attached[message.pk]))
    return [entry for turn in turns for entry in (*written[turn.pk], *_notices(turn))]


def _entry(
    row: TranscriptEntry, attached: Sequence[ShownAttachment], sent: Sequence[SentFile]
) -> EntryOut:
    is_reply = row.role == TranscriptEntry.Role.ASSISTANT and row.content.erased_at is None
    reply = load_reply(row.content.text).message if is_reply else None
    return EntryOut(
        turn=row.turn.public_id,
        # The column's choices are these words.
        role=cast(EntryRole, row.role),
        text=row.content.text if reply is None else reply.text,
        at=row.message.received_at if row.message else row.created_at,
        tool_calls=[call.name for call in reply.tool_calls] if reply else [],
        tool=row.tool_name or None,
        is_error=row.is_error,
        is_partial=row.is_partial,
        attachments=[_attachment(each) for each in attached],
        files=[_sent(file) for file in sent],
    )


def _waiting(row: InboundMessage, attached: Sequence[ShownAttachment]) -> EntryOut:
    return EntryOut(
        turn=row.turn.public_id,
        role="user",
        text=row.content.text,
        at=row.received_at,
        attachments=[_attachment(each) for each in attached],
    )


def _attachment(shown: ShownAttachment) -> AttachmentOut:
    return AttachmentOut.model_validate(
        {
            "id": shown.id,
            "kind": shown.kind,
            "name": shown.name,
            "media_type": shown.media_type,
            "size_bytes": shown.size_bytes,
            "state": shown.state,
            "error": shown.error,
            "transcript": shown.heard,
        }
    )


def _sent(file: SentFile) -> SentFileOut:
    return SentFileOut(
        id=file.id,
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
        caption=file.caption,
    )


def _notices(turn: Turn) -> list[EntryOut]:
    """Return the platform's words about a turn, if it had to say any."""
    notice = _notice(turn)
    if notice is None or turn.committed_at is None:
        return []
    return [EntryOut(turn=turn.public_id, role="notice", text=notice.text, at=turn.committed_at)]
