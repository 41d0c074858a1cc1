"""Keeping a conversation valid for every provider: each call has its result, right behind it."""

import uuid
from collections.abc import Sequence
from dataclasses import replace

from agents.core.messages import (
    AssistantMessage,
    Message,
    Reply,
    ToolCall,
    ToolResult,
)

INTERRUPTED = "[interrupted, outcome unknown]"


def repair_reply(reply: Reply) -> Reply:
    """Return a reply whose call ids are there, and unlike each other."""
    seen: set[str] = set()
    blocks = []
    for block in reply.message.blocks:
        if isinstance(block, ToolCall):
            if not block.id or block.id in seen:
                block = replace(block, id=f"call_{uuid.uuid4().hex[:24]}")
            seen.add(block.id)
        blocks.append(block)
    return replace(reply, message=AssistantMessage(tuple(blocks)))


def repair_history(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages in which every call is followed by its result, and no result stands alone.

    A call without a result gets one that says its outcome is unknown; a result without a call,
    a second result of one call, and an empty reply are left out.
    """
    repaired: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if isinstance(message, ToolResult):
            continue
        if not isinstance(message, AssistantMessage):
            repaired.append(message)
            continue
        if not message.blocks:
            continue
        repaired.append(message)
        results: dict[str, ToolResult] = {}
        while index < len(messages):
            follower = messages[index]
            if not isinstance(follower, ToolResult):
                break
            results.setdefault(follower.call_id, follower)
            index += 1
        repaired.extend(
            results.get(call.id) or ToolResult(call.id, call.name, INTERRUPTED, is_error=True)
            for call in message.tool_calls
        )
    return tuple(repaired)
