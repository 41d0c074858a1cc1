"""What Anthropic's Messages API is sent."""

import base64
from collections.abc import Iterable

from agents.core.messages import (
    AssistantMessage,
    Block,
    Image,
    JsonObject,
    Message,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.protocols import ModelCall, SystemPart
from agents.core.tooling import ToolSpec
from agents.providers.endpoint import PromptCache
from agents.providers.loose import mappings
from agents.providers.offline import OFFLINE_PART
from agents.providers.replies import wire_id, wire_name
from agents.providers.thinking import Style, begins_at, most_output, thinking_fields

# The API refuses empty text; a person may have sent only a file or a blank.
EMPTY_TEXT = "(empty)"
MARK: JsonObject = {"type": "ephemeral"}
REASONING = ("thinking", "redacted_thinking")


def request_body(
    call: ModelCall,
    *,
    stream: bool,
    style: Style = "none",
    cache: PromptCache = "5m",
    origin: str = "",
    is_anthropic: bool = False,
) -> JsonObject:
    """Return a request as the Messages API wants it.

    Args:
        style: How this model is asked to think.
        cache: How long what stays the same is kept.
        origin: Whose reasoning is sent back.
        is_anthropic: True for Anthropic itself, whose models know some tools by a type of their
            own; other servers that speak this API may not.
    """
    messages = _messages(call, origin=origin if style != "none" else "")
    body: JsonObject = {
        "model": call.model,
        "max_tokens": most_output(call, style),
        "messages": [*messages],
        "stream": stream,
        **thinking_fields(call, style),
    }
    system = _system(call.system, cache=cache)
    if system:
        body["system"] = [*system]
    if call.tools:
        body["tools"] = [_tool(spec, is_anthropic=is_anthropic) for spec in call.tools]
        if cache != "off":
            _mark_newest(messages)
    return body


def _system(parts: Iterable[SystemPart], *, cache: PromptCache) -> list[JsonObject]:
    """Return the system blocks, the cache's mark behind the stable ones at the front."""
    shown = [part for part in parts if part.name != OFFLINE_PART and part.text.strip()]
    blocks: list[JsonObject] = [{"type": "text", "text": part.text} for part in shown]
    stable = next((at for at, part in enumerate(shown) if not part.is_stable), len(shown))
    if stable and cache != "off":
        blocks[stable - 1]["cache_control"] = {**MARK, "ttl": "1h"} if cache == "1h" else {**MARK}
    return blocks


def _mark_newest(messages: list[JsonObject]) -> None:
    """Set a mark behind the conversation, which the next call of a tool loop reads it from.

    Five minutes are enough for that, and the shorter mark may stand behind a longer one.
    """
    blocks = mappings(messages[-1]["content"]) if messages else []
    if blocks and blocks[-1]["type"] not in REASONING:
        blocks[-1]["cache_control"] = {**MARK}


def _tool(spec: ToolSpec, *, is_anthropic: bool) -> JsonObject:
    if spec.native and is_anthropic:
        # The model was trained with this tool: its own type says what it does and takes.
        return {"type": spec.native, "name": wire_name(spec.name)}
    return {
        "name": wire_name(spec.name),
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _messages(call: ModelCall, *, origin: str) -> list[JsonObject]:
    """Return messages with alternating roles: neighbours of one role are joined."""
    loop_at = begins_at(call)
    joined: list[tuple[str, list[JsonObject]]] = []
    for at, message in enumerate(call.messages):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        # Reasoning is wanted back only until the calls that it led to are answered for good.
        blocks = _content(message, origin=origin if at >= loop_at else "")
        if not blocks:
            continue
        if joined and joined[-1][0] == role:
            joined[-1][1].extend(blocks)
        else:
            joined.append((role, blocks))
    return [
        {"role": role, "content": [*sorted(blocks, key=_is_not_result)]} for role, blocks in joined
    ]


def _is_not_result(block: JsonObject) -> bool:
    """Sort results first, as the API demands of a message that answers calls."""
    return block["type"] != "tool_result"


def _content(message: Message, *, origin: str) -> list[JsonObject]:
    match message:
        case UserMessage():
            return [*map(_picture, message.images), *_said(message)]
        case ToolResult():
            return [_result(message)]
        case AssistantMessage():
            blocks = (_block(block, origin=origin) for block in message.blocks)
            return [block for block in blocks if block is not None]


def _said(message: UserMessage) -> list[JsonObject]:
    if message.images and not message.text.strip():
        return []
    return [{"type": "text", "text": message.text if message.text.strip() else EMPTY_TEXT}]


def _picture(image: Image) -> JsonObject:
    """Return a picture's block; it stands before the text, where these models look best."""
    source: JsonObject = {
        "type": "base64",
        "media_type": image.media_type,
        "data": base64.b64encode(image.data).decode(),
    }
    return {"type": "image", "source": source}


def _result(result: ToolResult) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": wire_id(result.call_id)}
    if result.text.strip():
        block["content"] = result.text
    if result.is_error:
        block["is_error"] = True
    return block


def _block(block: Block, *, origin: str) -> JsonObject | None:
    """Return a block of a reply; None for one that is not sent."""
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text} if block.text.strip() else None
        case OpaqueBlock():
            return {**block.data} if origin and block.origin == origin else None
        case ToolCall():
            return {
                "type": "tool_use",
                "id": wire_id(block.id),
                "name": wire_name(block.name),
                "input": block.arguments,
            }
