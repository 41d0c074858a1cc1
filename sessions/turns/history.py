"""The conversation so far, as the model is shown it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from agents import sql
from agents.core.context import NewestExchanges, exchanges, history_limit
from agents.core.cutting import TOOL_RESULT_CHARACTERS, cut_middle
from agents.core.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    TextBlock,
    ToolResult,
    UserMessage,
    load_reply,
)
from agents.core.tokens import estimate_messages
from sessions.models import TranscriptEntry, Turn

# Enough for most conversations' newest 20,000 tokens in one query.
PAGE = 500
STOPPED_MARK = "[stopped by the person here]"
ERASED = "[erased]"


class _Entry(NamedTuple):
    """What of a transcript entry the model is shown; plain columns, as there are hundreds."""

    pk: int
    turn_id: int
    role: str
    text: str
    erased_at: datetime | None
    is_partial: bool
    is_error: bool
    tool_call_id: str
    tool_name: str


_SELECT = """
    SELECT e.id, e.turn_id, e.role, c.text, c.erased_at, e.is_partial, e.is_error, e.tool_call_id,
        e.tool_name
    FROM bot_sessions_transcriptentry e JOIN bot_sessions_content c ON c.id = e.content_id
    WHERE e.generation_id = %s
"""
_NEWEST = f"{_SELECT} AND e.id < %s ORDER BY e.id DESC LIMIT %s"
_SINCE = f"{_SELECT} AND e.id >= %s AND e.turn_id < %s ORDER BY e.id"
_OWN = """
    SELECT c.text FROM bot_sessions_inboundmessage m
    JOIN bot_sessions_content c ON c.id = m.content_id
    WHERE m.turn_id = %s ORDER BY m.id
"""
# Above every id, where reading begins.
_NO_ENTRY = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """The conversation before a turn, as far as it has room.

    Args:
        first_id: The oldest entry that is shown; None where none is.
        was_cut: Whether older ones were left out.
    """

    messages: tuple[Message, ...]
    first_id: int | None
    was_cut: bool


def chosen(turn: Turn, own: Sequence[Message], *, window_tokens: int) -> Chosen:
    """Return the newest whole exchanges before a turn.

    A question that got no answer and was asked again stands there once.

    Args:
        own: What the turn answers; it takes its place first.
    """
    limit = history_limit(window_tokens)
    entries: list[_Entry] = []
    messages: list[Message] = []
    tokens, has_older = 0, True
    while tokens <= limit and has_older:
        before = entries[-1].pk if entries else _NO_ENTRY
        rows = sql.fetch(_NEWEST, [turn.generation_id, before, PAGE])
        page = [_Entry(*row) for row in rows]
        has_older = len(page) == PAGE
        read = [_message_of(entry) for entry in page]
        entries += page
        messages += read
        tokens += estimate_messages(read)
    again = _asked_again(entries, own)
    pairs = [pair for pair in zip(entries, messages, strict=True) if pair[0].turn_id not in again]
    entries, messages = [entry for entry, _ in pairs], [message for _, message in pairs]
    messages.reverse()
    shown = NewestExchanges().shrink((*messages, *own), window_tokens=window_tokens)
    kept = shown[: max(len(shown) - len(own), 0)]
    return Chosen(
        messages=kept,
        first_id=entries[len(kept) - 1].pk if kept else None,
        was_cut=has_older or len(kept) < len(messages),
    )


def since(turn: Turn, own: Sequence[Message], *, first_id: int) -> tuple[Message, ...]:
    """Return the messages from an entry on to before the turn: what ``chosen`` once chose."""
    rows = sql.fetch(_SINCE, [turn.generation_id, first_id, turn.pk])
    entries = [_Entry(*row) for row in rows]
    again = _asked_again(entries[::-1], own)
    return tuple(_message_of(entry) for entry in entries if entry.turn_id not in again)


def of_turn(turn: Turn) -> tuple[UserMessage, ...]:
    """Return what the turn answers."""
    return tuple(UserMessage(text) for (text,) in sql.fetch(_OWN, [turn.pk]))


def manifest_of(chosen: Chosen) -> JsonObject:
    """Return the history's entry of the prompt manifest."""
    return {
        "part": "history",
        "version": None,
        "messages": len(chosen.messages),
        "exchanges": len(exchanges(chosen.messages)),
        "tokens": estimate_messages(chosen.messages),
        "cut": chosen.was_cut,
    }


def _asked_again(newest_first: Sequence[_Entry], own: Sequence[Message]) -> set[int]:
    """Return the turns without an answer whose words the next turn repeats."""
    asked: dict[int, list[str]] = {}
    answered = set()
    for entry in newest_first:
        if entry.role == TranscriptEntry.Role.USER:
            asked.setdefault(entry.turn_id, []).append(entry.text)
        else:
            answered.add(entry.turn_id)
    found = set()
    next_words = [message.text for message in reversed(own) if isinstance(message, UserMessage)]
    for turn_id, words in asked.items():
        if turn_id not in answered and words == next_words:
            found.add(turn_id)
        next_words = words
    return found


def _message_of(entry: _Entry) -> Message:
    """Return an entry in neutral form; an erased one says so."""
    text = entry.text if entry.erased_at is None else ERASED
    if entry.role == TranscriptEntry.Role.USER:
        return UserMessage(text)
    if entry.role == TranscriptEntry.Role.TOOL:
        shown = cut_middle(text, TOOL_RESULT_CHARACTERS).text
        return ToolResult(entry.tool_call_id, entry.tool_name, shown, entry.is_error)
    if entry.erased_at is not None:
        return AssistantMessage((TextBlock(ERASED),))
    message = load_reply(text).message
    if entry.is_partial:
        return AssistantMessage((*message.blocks, TextBlock(f"\n\n{STOPPED_MARK}")))
    return message
