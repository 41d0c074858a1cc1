"""What both wires need to make a reply out of what a model sent."""

import json
import re
from collections.abc import Sequence
from hashlib import blake2s
from uuid import uuid4

from pydantic import JsonValue

from agents.core.errors import StreamBroken
from agents.core.messages import (
    AssistantMessage,
    Block,
    JsonObject,
    OpaqueBlock,
    Reply,
    StopReason,
    TextBlock,
    ToolCall,
    Usage,
)

# What Anthropic's API accepts as an id and as a tool's name; OpenAI's ids end at 40 characters.
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
MAX_NAME = 64


def new_call_id() -> str:
    """Return an id for a call whose server gave none."""
    return f"call_{uuid4().hex[:24]}"


def make_call(call_id: str, name: str, raw: str | JsonObject) -> ToolCall:
    """Return a tool call; arguments that are no JSON object are kept as ``malformed``."""
    call_id, name = plain(call_id), plain(name)
    if not isinstance(raw, str):
        return ToolCall(call_id, name, _plain_object(raw))
    if not raw.strip():
        # A tool without arguments is often called with nothing at all.
        return ToolCall(call_id, name)
    try:
        arguments: JsonValue = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return ToolCall(call_id, name, malformed=plain(raw))
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, malformed=plain(raw))
    # Only an escape can bring in what ``plain`` takes out.
    return ToolCall(call_id, name, _plain_object(arguments) if "\\u" in raw else arguments)


def plain(text: str) -> str:
    """Return text that can be stored and sent: no NUL, no lone surrogate.

    Models can be made to write both; PostgreSQL refuses the one, UTF-8 the other.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves of a pair become one character, a half alone a replacement mark.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _plain_object(value: JsonObject) -> JsonObject:
    return {plain(name): _plain_value(item) for name, item in value.items()}


def _plain_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_plain_value(item) for item in value]
    return _plain_object(value) if isinstance(value, dict) else value


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not JSON")


def make_opaque(origin: str, data: JsonObject) -> OpaqueBlock | None:
    """Return what is sent back as it came; None where it cannot be stored as it came."""
    told = json.dumps(data, ensure_ascii=False)
    # As JSON a NUL is an escape, which PostgreSQL's text takes.
    return OpaqueBlock(origin, data) if plain(told) == told else None


def make_reply(
    blocks: Sequence[Block], *, stop_reason: StopReason, usage: Usage | None, model: str
) -> Reply:
    """Return the finished reply: its ids unique, its stop reason fitting its calls.

    Raises:
        StreamBroken: It says nothing and calls nothing, and gives no reason for that.
    """
    has_calls = any(isinstance(block, ToolCall) for block in blocks)
    kept = _with_own_ids([block for block in blocks if _is_kept(block, has_calls=has_calls)])
    if has_calls and stop_reason in ("end", "other"):
        stop_reason = "tool_calls"
    if not has_calls and stop_reason == "tool_calls":
        stop_reason = "end"
    if not has_calls and stop_reason in ("end", "other") and not _says_something(kept):
        raise StreamBroken("the answer is empty")
    message = AssistantMessage(blocks=tuple(kept))
    return Reply(message=message, stop_reason=stop_reason, usage=usage, model=model)


def _is_kept(block: Block, *, has_calls: bool) -> bool:
    """Return whether a block is of use later: reasoning only until its calls are answered."""
    if isinstance(block, OpaqueBlock):
        return has_calls
    return isinstance(block, ToolCall) or bool(block.text)


def _says_something(blocks: Sequence[Block]) -> bool:
    return any(isinstance(block, TextBlock) and block.text.strip() for block in blocks)


def _with_own_ids(blocks: Sequence[Block]) -> list[Block]:
    """Give calls without an id, or with that of an earlier one, an id of their own."""
    seen: set[str] = set()
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            if not block.id or block.id in seen:
                block = ToolCall(new_call_id(), block.name, block.arguments, block.malformed)
            seen.add(block.id)
        kept.append(block)
    return kept


def wire_id(call_id: str) -> str:
    """Return an id that every API accepts, the same for a call and its result.

    History may come from another provider, whose ids look different.
    """
    if _ID.fullmatch(call_id):
        return call_id
    return f"call_{blake2s(call_id.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def wire_name(name: str) -> str:
    """Return a tool's name that every API accepts; a model may have made up a worse one."""
    return _NOT_IN_NAME.sub("_", name)[:MAX_NAME] or "unnamed"


def encode(body: JsonObject) -> bytes:
    """Return a request's body; lone surrogates, which no API reads, become question marks."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def count(value: object) -> int:
    """Return a token figure; servers send null, or leave it out, where they mean none."""
    return value if isinstance(value, int) and value > 0 else 0
