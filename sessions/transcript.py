"""What people are shown of a conversation: turns, with their messages and answers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from django.utils.text import Truncator

from agents import sql
from agents.core.messages import load_reply
from memory import recall
from sessions import notices, rendering, shown_files
from sessions.models import ChatSession, TranscriptEntry, Turn, TurnStep
from sessions.shown_files import SentFile, ShownAttachment

PAGE_TURNS: Final = 20
RECALLED_CHARACTERS: Final = 300
_UNHAPPY: Final = frozenset({Turn.State.ENDED, Turn.State.FAILED})


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message of a person.

    Args:
        key: The sender's own id of it.
        noted: What was remembered of it, and what of that was taken back.
        text: None where it was erased.
        attachments: The files that came with it.
    """

    id: UUID
    key: str
    text: str | None
    at: datetime
    noted: tuple[notices.Noted, ...]
    attachments: tuple[ShownAttachment, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownText:
    """A piece of the answer, as safe HTML; None where it was erased."""

    html: str | None
    is_partial: bool
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool call of the answer, with how long it took where that is known."""

    call: str
    name: str
    state: Literal["done", "error"]
    seconds: float | None
    kind: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class ShownRecall:
    """One thing that was looked up in memory for the answer.

    Args:
        text: None where it was forgotten or erased since.
        place: Where it stands: ``MEMORY.md:3``; may be empty.
    """

    text: str | None
    place: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn: what was asked and what came of it; an unfinished one has no parts yet.

    Args:
        notice: The platform's own words, where it ended the turn.
        can_retry: Whether asking the same again makes sense.
        is_command: Whether the notice is what a command said.
        begins_anew: Whether it is the first of a new stretch of the conversation, in which the
            agent no longer sees what stands above.
        recalled: What was looked up in memory for the answer.
        files: What the answer sent.
    """

    id: UUID
    state: str
    is_over: bool
    accepted_at: datetime
    ended_at: datetime | None
    messages: tuple[ShownMessage, ...]
    parts: tuple[ShownText | ShownTool, ...]
    notice: str | None
    can_retry: bool = False
    is_command: bool = False
    begins_anew: bool = False
    recalled: tuple[ShownRecall, ...] = ()
    files: tuple[SentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Some turns of a conversation, oldest first; ``has_earlier`` tells whether more precede."""

    turns: tuple[ShownTurn, ...]
    has_earlier: bool


def page(session: ChatSession, *, before: UUID | None = None, limit: int = PAGE_TURNS) -> Page:
    """Return the newest turns, or those before one of them."""
    turns = Turn.objects.filter(session=session)
    if before is not None:
        turns = turns.filter(id__lt=Turn.objects.filter(public_id=before).values("id"))
    newest = list(turns.order_by("-id")[: limit + 1])
    return Page(turns=shown(newest[:limit][::-1]), has_earlier=len(newest) > limit)


def shown(turns: Sequence[Turn]) -> tuple[ShownTurn, ...]:
    """Return what people see of these turns, in the same order."""
    ids = [turn.pk for turn in turns]
    messages = _messages(ids)
    entries = _entries(ids)
    seconds = _seconds(entries)
    first = {turn_id for (turn_id,) in sql.fetch(_FIRST, [ids])}
    recalled = _recalled(turns)
    files = shown_files.sent(ids)
    return tuple(
        ShownTurn(
            id=turn.public_id,
            state=turn.state,
            is_over=turn.is_over,
            accepted_at=turn.accepted_at,
            ended_at=turn.committed_at,
            messages=tuple(messages[turn.pk]),
            parts=tuple(_parts(entries[turn.pk], seconds)) if turn.is_over else (),
            notice=_notice(turn),
            can_retry=turn.state in _UNHAPPY,
            is_command=notices.is_command(turn.notice),
            begins_anew=turn.pk in first,
            recalled=recalled.get(turn.pk, ()),
            files=tuple(files[turn.pk]),
        )
        for turn in turns
    )


class _Entry(NamedTuple):
    turn_id: int
    role: str
    text: str
    erased_at: datetime | None
    is_partial: bool
    is_error: bool
    tool_call_id: str
    tool_name: str


_MESSAGES = """
    SELECT m.turn_id, m.id, m.public_id, m.external_id, m.received_at, c.text, c.erased_at
    FROM bot_sessions_inboundmessage m JOIN bot_sessions_content c ON c.id = m.content_id
    WHERE m.turn_id = ANY(%s) ORDER BY m.id
"""
_FACTS = """
    SELECT source, text, retracted_at IS NOT NULL, origin = 'agent' FROM memory_walentry
    WHERE source = ANY(%s) ORDER BY id
"""
_ENTRIES = """
    SELECT e.turn_id, e.role, c.text, c.erased_at, e.is_partial, e.is_error, e.tool_call_id,
        e.tool_name
    FROM bot_sessions_transcriptentry e JOIN bot_sessions_content c ON c.id = e.content_id
    WHERE e.turn_id = ANY(%s) AND e.role <> 'user' ORDER BY e.id
"""
# Of the turns that are shown, those that opened a stretch after the first one.
_FIRST = """
    SELECT t.id FROM bot_sessions_turn t
    JOIN bot_sessions_generation g ON g.id = t.generation_id AND g.number > 1
    WHERE t.id = ANY(%s) AND NOT EXISTS (
        SELECT 1 FROM bot_sessions_turn e WHERE e.generation_id = g.id AND e.id < t.id)
"""


def _messages(turn_ids: list[int]) -> dict[int, list[ShownMessage]]:
    rows = sql.fetch(_MESSAGES, [turn_ids])
    noted: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    by_model = set()
    for source, *fact in sql.fetch(_FACTS, [[f"message:{row[1]}" for row in rows]]):
        noted[source].append((fact[0], fact[1]))
        if fact[2]:
            by_model.add(fact[0])
    attached = shown_files.attached([row[1] for row in rows])
    found: dict[int, list[ShownMessage]] = defaultdict(list)
    for turn_id, message_id, public_id, key, received_at, text, erased_at in rows:
        message = ShownMessage(
            id=public_id,
            key=key or "",
            text=None if erased_at else text,
            at=received_at,
            noted=notices.noted(noted[f"message:{message_id}"], by_model=by_model),
            attachments=tuple(attached[message_id]),
        )
        found[turn_id].append(message)
    return found


def _entries(turn_ids: list[int]) -> dict[int, list[_Entry]]:
    found: dict[int, list[_Entry]] = defaultdict(list)
    for row in sql.fetch(_ENTRIES, [turn_ids]):
        entry = _Entry(*row)
        found[entry.turn_id].append(entry)
    return found


def _seconds(entries: dict[int, list[_Entry]]) -> dict[tuple[int, str], float]:
    """Return how long each tool call took, by turn and call."""
    with_tools = {
        turn
        for turn, rows in entries.items()
        if any(row.role == TranscriptEntry.Role.TOOL for row in rows)
    }
    if not with_tools:
        return {}
    steps = TurnStep.objects.filter(
        turn__in=with_tools, kind=TurnStep.Kind.TOOL, finished_at__isnull=False
    )
    return {
        (step.turn_id, step.call_id): (step.finished_at - step.started_at).total_seconds()
        for step in steps
        if step.finished_at is not None
    }


def _parts(
    entries: Iterable[_Entry], seconds: dict[tuple[int, str], float]
) -> Iterable[ShownText | ShownTool]:
    for entry in entries:
        if entry.role == TranscriptEntry.Role.TOOL:
            yield ShownTool(
                call=entry.tool_call_id,
                name=entry.tool_name,
                state="error" if entry.is_error else "done",
                seconds=seconds.get((entry.turn_id, entry.tool_call_id)),
            )
        elif (text := _text(entry)) is not None:
            yield text


def _text(entry: _Entry) -> ShownText | None:
    if entry.erased_at:
        return ShownText(html=None, is_partial=entry.is_partial)
    text = load_reply(entry.text).message.text
    if not text.strip():
        return None
    return ShownText(html=rendering.render(text), is_partial=entry.is_partial)


def _recalled(turns: Sequence[Turn]) -> dict[int, tuple[ShownRecall, ...]]:
    """Return what was recalled for turns of one conversation that are over, by turn."""
    by_turn = {turn.pk: recall.stored_in(turn.manifest).items for turn in turns if turn.is_over}
    items = [item for found in by_turn.values() for item in found]
    if not items:
        return {}
    shown = iter(recall.with_words(items, turns[0].viewer))
    return {
        pk: tuple(_recall(next(shown)) for _ in found) for pk, found in by_turn.items() if found
    }


def _recall(shown: recall.Shown) -> ShownRecall:
    item = shown.item
    place = f"{item.file}:{item.line}" if item.file and item.line else item.file
    text = None if shown.text is None else Truncator(shown.text).chars(RECALLED_CHARACTERS)
    return ShownRecall(text=text, place=place, at=item.at)


def _notice(turn: Turn) -> str | None:
    """Return the platform's words about a turn, where it has any."""
    if turn.notice is not None or turn.state == Turn.State.FAILED:
        return notices.text_of(turn.notice)
    return None
