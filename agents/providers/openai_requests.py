"""What OpenAI's Chat Completions API is sent."""

from collections.abc import Iterable

from agents.core.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.protocols import THINKING_TOKENS, ModelCall, SystemPart
from agents.core.tooling import ToolSpec
from agents.providers.offline import OFFLINE_PART
from agents.providers.replies import encode, wire_id, wire_name


def request_body(call: ModelCall, *, stream: bool, is_openai: bool) -> JsonObject:
    """Return a request as the Chat Completions API wants it.

    Args:
        is_openai: OpenAI's own newer models refuse ``max_tokens``; older compatible servers
            know nothing else.
    """
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    body: JsonObject = {
        "model": call.model,
        limit: call.max_output_tokens + THINKING_TOKENS[call.effort],
        "messages": [*_system(call.system), *map(_message, call.messages)],
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


def _message(message: Message) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolResult():
            return {
                "role": "tool",
                "tool_call_id": wire_id(message.call_id),
                "content": message.text,
            }
        case AssistantMessage():
            return _assistant(message)


def _assistant(message: AssistantMessage) -> JsonObject:
    body: JsonObject = {"role": "assistant", "content": message.text}
    calls = message.tool_calls
    if calls:
        body["tool_calls"] = [_call(call) for call in calls]
        body["content"] = message.text or None
    return body


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {
        "name": wire_name(call.name),
        "arguments": encode(call.arguments).decode(),
    }
    return {"id": wire_id(call.id), "type": "function", "function": function}
