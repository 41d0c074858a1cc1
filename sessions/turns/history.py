"""The conversation so far, as the model is shown it."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

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
from sessions import marks
from sessions.marks import Attached, Said
from sessions.models import Attachment, TranscriptEntry, Turn
from sessions.turns.seen import images_of

# Enough for most conversations' newest 20,000 tokens in one query.
PAGE = 500
STOPPED_MARK = "[stopped by the person here]"
ERASED = "[erased]"


class _CameWith(NamedTuple):
    """What of a message the model is shown besides its text: the columns of ``_CAME_WITH``."""

    public_id: UUID
    received_at: datetime
    author_name: str
    context: str | None
    context_erased_at: datetime | None
    attached: str | None


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
    # Of a person's message only.
    message_id: int | None


# `m` is the message.
_CAME_WITH = """
    m.public_id, m.received_at, m.author_name, x.text, x.erased_at,
    (SELECT json_agg(json_build_array(a.kind, a.name, a.media_type, a.size_bytes, a.state, h.text,
            a.picture_id)
        ORDER BY a.number)::text
        FROM bot_sessions_attachment a LEFT JOIN bot_sessions_content h ON h.id = a.transcript_id
        WHERE a.message_id = m.id)
"""
_SELECT = """
    SELECT e.id, e.turn_id, e.role, c.text, c.erased_at, e.is_partial, e.is_error, e.tool_call_id,
        e.tool_name, e.message_id
    FROM bot_sessions_transcriptentry e JOIN bot_sessions_content c ON c.id = e.content_id
    WHERE e.generation_id = %s
"""
# Apart from the entries, as most messages are nothing but their text: joined to hundreds of
# entries it took four milliseconds more.
_WITH_MORE = f"""
    SELECT m.id, {_CAME_WITH} FROM bot_sessions_inboundmessage m
    LEFT JOIN bot_sessions_content x ON x.id = m.context_id
    WHERE m.id = ANY(%s) AND (
        m.author_name <> '' OR m.context_id IS NOT NULL OR m.turn_id = ANY(%s)
        OR EXISTS (SELECT 1 FROM bot_sessions_attachment a WHERE a.message_id = m.id))
"""  # noqa: S608 — constants only
_NEWEST = f"{_SELECT} AND e.id < %s ORDER BY e.id DESC LIMIT %s"
_SINCE = f"{_SELECT} AND e.id >= %s AND e.turn_id < %s ORDER BY e.id"
_OWN = f"""
    SELECT c.text, {_CAME_WITH} FROM bot_sessions_inboundmessage m
    JOIN bot_sessions_content c ON c.id = m.content_id
    LEFT JOIN bot_sessions_content x ON x.id = m.context_id
    WHERE m.turn_id = %s ORDER BY m.id
"""  # noqa: S608 — constants only
# Above every id, where reading begins.
_NO_ENTRY = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Own:
    """One message that a turn answers.

    Args:
        message: As the model is shown it.
        text: The person's own words, nothing around them.
        words: The same, or in brackets what came instead of any.
    """

    message: UserMessage
    text: str
    words: str


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


def chosen(turn: Turn, own: Sequence[Own], *, window_tokens: int) -> Chosen:
    """Return the newest whole exchanges before a turn.

    A question that got no answer and was asked again stands there once; with files it stays, as
    the next one came without them.

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
    with_files = _dress(messages, entries)
    again = _asked_again(entries, own) - with_files
    pairs = [pair for pair in zip(entries, messages, strict=True) if pair[0].turn_id not in again]
    entries, messages = [entry for entry, _ in pairs], [message for _, message in pairs]
    messages.reverse()
    asked = [each.message for each in own]
    shown = NewestExchanges().shrink((*messages, *asked), window_tokens=window_tokens)
    kept = shown[: max(len(shown) - len(own), 0)]
    return Chosen(
        messages=kept,
        first_id=entries[len(kept) - 1].pk if kept else None,
        was_cut=has_older or len(kept) < len(messages),
    )


def since(turn: Turn, own: Sequence[Own], *, first_id: int) -> tuple[Message, ...]:
    """Return the messages from an entry on to before the turn: what ``chosen`` once chose."""
    rows = sql.fetch(_SINCE, [turn.generation_id, first_id, turn.pk])
    entries = [_Entry(*row) for row in rows]
    messages = [_message_of(entry) for entry in entries]
    with_files = _dress(messages, entries)
    again = _asked_again(entries[::-1], own) - with_files
    pairs = zip(entries, messages, strict=True)
    return tuple(message for entry, message in pairs if entry.turn_id not in again)


def of_turn(turn: Turn) -> tuple[Own, ...]:
    """Return what the turn answers."""
    rows = sql.fetch(_OWN, [turn.pk])
    said = [_said(text, _CameWith(*came_with)) for text, *came_with in rows]
    return tuple(
        Own(
            message=UserMessage(marks.shown(each, with_time=len(said) > 1), images),
            text=each.text,
            words=marks.words_of(each),
        )
        for each, images in zip(said, images_of(said), strict=True)
    )


def shows_foreign(messages: Sequence[Message]) -> bool:
    """Return whether people forwarded, quoted or were overheard with what others wrote."""
    return any(
        isinstance(message, UserMessage) and marks.has_foreign(message.text) for message in messages
    )


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


def _asked_again(newest_first: Sequence[_Entry], own: Sequence[Own]) -> set[int]:
    """Return the turns without an answer whose words the next turn repeats."""
    asked: dict[int, list[str]] = {}
    answered = set()
    for entry in newest_first:
        if entry.role == TranscriptEntry.Role.USER:
            asked.setdefault(entry.turn_id, []).append(entry.text)
        else:
            answered.add(entry.turn_id)
    found = set()
    next_words = [each.text for each in reversed(own)]
    for turn_id, words in asked.items():
        # Pictures and the like have no words by which to tell that they are the same.
        if turn_id not in answered and words == next_words and all(words):
            found.add(turn_id)
        next_words = words
    return found


def _dress(messages: list[Message], entries: Sequence[_Entry]) -> set[int]:
    """Show with people's messages what came with them; return the turns that files came with.

    Messages that were answered together show their times; the pictures of the last exchange are
    shown again, as the next question is often about them.
    """
    asked = [entry for entry in entries if entry.message_id is not None]
    if not asked:
        return set()
    together = Counter(entry.turn_id for entry in asked)
    joined = [turn for turn, count in together.items() if count > 1]
    rows = sql.fetch(_WITH_MORE, [[entry.message_id for entry in asked], joined])
    more = {message_id: _CameWith(*came_with) for message_id, *came_with in rows}
    said = {
        pk: _said(ERASED if entry.erased_at else entry.text, more[pk])
        for entry in asked
        if (pk := entry.message_id) is not None and pk in more
    }
    newest = max(entry.turn_id for entry in entries)
    # In their order, as the newest of many pictures are shown.
    last = sorted(entry.message_id or 0 for entry in asked if entry.turn_id == newest)
    last = [pk for pk in last if pk in said]
    images = dict(zip(last, images_of([said[pk] for pk in last]), strict=True))
    for place, entry in enumerate(entries):
        pk = entry.message_id
        if pk is not None and pk in said:
            words = marks.shown(said[pk], with_time=together[entry.turn_id] > 1)
            messages[place] = UserMessage(words, images.get(pk, ()))
    return {
        entry.turn_id
        for entry in asked
        if (each := said.get(entry.message_id or 0)) and each.attached
    }


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


def _said(text: str, came_with: _CameWith) -> Said:
    context = ERASED if came_with.context_erased_at else came_with.context or ""
    return Said(
        text=text,
        number=marks.number_of(came_with.public_id),
        at=came_with.received_at,
        author_name=came_with.author_name,
        context=context,
        attached=tuple(
            Attached(
                kind, name, media_type, size, state == Attachment.State.FAILED, heard or "", picture
            )
            for kind, name, media_type, size, state, heard, picture in json.loads(
                came_with.attached or "[]"
            )
        ),
    )
