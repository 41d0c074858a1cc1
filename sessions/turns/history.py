"""The conversation so far, as the model is shown it."""

from collections.abc import Sequence

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
from agents.core.repair import repair_history
from agents.core.tokens import estimate_messages
from sessions.models import TranscriptEntry, Turn

# Enough for most conversations' newest 20,000 tokens in one query.
PAGE = 200
STOPPED_MARK = "[stopped by the person here]"


def chosen(
    turn: Turn, own: Sequence[Message], *, window_tokens: int
) -> tuple[tuple[Message, ...], int | None]:
    """Return the newest whole exchanges before a turn, and the id of their first entry.

    Args:
        own: What the turn answers; it takes its place first.
    """
    limit = history_limit(window_tokens)
    entries: list[TranscriptEntry] = []
    messages: list[Message] = []
    tokens, last_id = 0, None
    while tokens <= limit:
        page = _newest(turn, before=last_id)
        entries.extend(page)
        read = [message_of(entry) for entry in page]
        messages.extend(read)
        tokens += estimate_messages(read)
        if len(page) < PAGE:
            break
        last_id = page[-1].pk
    messages.reverse()
    shown = NewestExchanges().shrink((*messages, *own), window_tokens=window_tokens)
    kept = shown[: max(len(shown) - len(own), 0)]
    first_id = entries[len(kept) - 1].pk if kept else None
    return repair_history(kept), first_id


def since(turn: Turn, first_id: int) -> tuple[Message, ...]:
    """Return the messages from an entry on to before the turn: what ``chosen`` once chose."""
    entries = (
        TranscriptEntry.objects.filter(
            generation_id=turn.generation_id, id__gte=first_id, turn_id__lt=turn.pk
        )
        .select_related("content")
        .order_by("id")
    )
    return repair_history([message_of(entry) for entry in entries])


def of_turn(turn: Turn) -> tuple[UserMessage, ...]:
    """Return what the turn answers."""
    texts = turn.messages.order_by("id").values_list("content__text", flat=True)
    return tuple(UserMessage(text) for text in texts)


def manifest_of(messages: tuple[Message, ...], *, was_cut: bool) -> JsonObject:
    """Return the history's entry of the prompt manifest."""
    return {
        "part": "history",
        "version": None,
        "messages": len(messages),
        "exchanges": len(exchanges(messages)),
        "tokens": estimate_messages(messages),
        "cut": was_cut,
    }


def message_of(entry: TranscriptEntry) -> Message:
    """Return an entry in neutral form; an erased one says so."""
    content = entry.content
    if content.erased_at is not None:
        text = "[erased]"
        if entry.role == TranscriptEntry.Role.USER:
            return UserMessage(text)
        if entry.role == TranscriptEntry.Role.TOOL:
            return ToolResult(entry.tool_call_id, entry.tool_name, text, entry.is_error)
        return AssistantMessage()
    if entry.role == TranscriptEntry.Role.USER:
        return UserMessage(content.text)
    if entry.role == TranscriptEntry.Role.TOOL:
        shown = cut_middle(content.text, TOOL_RESULT_CHARACTERS).text
        return ToolResult(entry.tool_call_id, entry.tool_name, shown, entry.is_error)
    message = load_reply(content.text).message
    if entry.is_partial:
        return AssistantMessage((*message.blocks, _stopped_mark()))
    return message


def _stopped_mark() -> TextBlock:
    return TextBlock(f"\n\n{STOPPED_MARK}")


def _newest(turn: Turn, *, before: int | None) -> list[TranscriptEntry]:
    entries = TranscriptEntry.objects.filter(generation_id=turn.generation_id)
    if before is not None:
        entries = entries.filter(id__lt=before)
    return list(entries.select_related("content").order_by("-id")[:PAGE])
