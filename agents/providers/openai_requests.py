"""What OpenAI's Chat Completions API is sent."""

import base64
import re
from collections.abc import Iterable

from pydantic import JsonValue

from agents.core.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    OpaqueBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.protocols import THINKING_TOKENS, ModelCall, SystemPart
from agents.core.tooling import ToolSpec
from agents.providers.offline import OFFLINE_PART
from agents.providers.openai_replies import EXTRA
from agents.providers.replies import encode, wire_id, wire_name

# Gemini from version 3 on refuses a tool loop in which the first call of a reply has no signed
# reasoning; this stands for calls that another model made
# (https://ai.google.dev/gemini-api/docs/thought-signatures).
UNSIGNED: JsonObject = {"google": {"thought_signature": "skip_thought_signature_validator"}}
_GEMINI = re.compile(r"\.googleapis\.com (models/|google/)?gemini-(?![12]\b)")


def request_body(call: ModelCall, *, stream: bool, is_openai: bool, origin: str = "") -> JsonObject:
    """Return a request as the Chat Completions API wants it.

    Args:
        is_openai: OpenAI's own newer models refuse ``max_tokens``; older compatible servers
            know nothing else.
        origin: Whose additions to a call are sent back with it.
    """
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    body: JsonObject = {
        "model": call.model,
        limit: call.max_output_tokens + THINKING_TOKENS[call.effort],
        "messages": [*_system(call.system), *(_message(m, origin) for m in call.messages)],
        "stream": stream,
    }
    if call.effort:
        body["reasoning_effort"] = call.effort
    if call.tools:
        body["tools"] = [_tool(spec) for spec in call.tools]
    return body


def _system(parts: Iterable[SystemPart]) -> list[JsonObject]:
    shown = [part.text for part in parts if part.name != OFFLINE_PART and part.text.strip()]
    return [{"role": "system", "content": "\n\n".join(shown)}] if shown else []


def _tool(spec: ToolSpec) -> JsonObject:
    function: JsonObject = {
        "name": wire_name(spec.name),
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}


def _message(message: Message, origin: str) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": _said(message)}
        case ToolResult():
            return {
                "role": "tool",
                "tool_call_id": wire_id(message.call_id),
                "content": message.text,
            }
        case AssistantMessage():
            return _assistant(message, origin)


def _said(message: UserMessage) -> JsonValue:
    """Return plain text where there is nothing but text: many compatible servers take no list."""
    if not message.images:
        return message.text
    parts: list[JsonValue] = [_picture(image) for image in message.images]
    if message.text.strip():
        parts.append({"type": "text", "text": message.text})
    return parts


def _picture(image: Image) -> JsonObject:
    encoded = base64.b64encode(image.data).decode()
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{image.media_type};base64,{encoded}"},
    }


def _assistant(message: AssistantMessage, origin: str) -> JsonObject:
    body: JsonObject = {"role": "assistant", "content": message.text}
    calls = _calls(message, origin)
    if calls:
        body["tool_calls"] = [*calls]
        body["content"] = message.text or None
    return body


def _calls(message: AssistantMessage, origin: str) -> list[JsonObject]:
    """Return a reply's calls, each with what stood before it and is ours to send back."""
    calls: list[JsonObject] = []
    extra: JsonObject = {}
    for block in message.blocks:
        if isinstance(block, OpaqueBlock) and origin and block.origin == origin:
            extra = block.data
        elif isinstance(block, ToolCall):
            calls.append(_call(block) | ({EXTRA: extra} if extra else {}))
            extra = {}
    if calls and EXTRA not in calls[0] and _GEMINI.search(origin):
        calls[0][EXTRA] = UNSIGNED
    return calls


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {
        "name": wire_name(call.name),
        "arguments": encode(call.arguments).decode(),
    }
    return {"id": wire_id(call.id), "type": "function", "function": function}
