"""Keeping a conversation valid for every provider: each call has its result, right behind it."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count

from agents.core.messages import (
    AssistantMessage,
    Block,
    Message,
    Reply,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)

INTERRUPTED = "[interrupted, outcome unknown]"
UNSEEN = "a picture was sent, {name}, which this model cannot see"


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
    a second result of one call, and an empty reply are left out. An id that an earlier reply
    used gets a number: some servers count each reply's calls anew, others refuse that.
    """
    repaired: list[Message] = []
    used: set[str] = set()
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
        results: dict[str, ToolResult] = {}
        while index < len(messages):
            follower = messages[index]
            if not isinstance(follower, ToolResult):
                break
            results.setdefault(follower.call_id, follower)
            index += 1
        renamed = _with_new_ids(message, used)
        repaired.append(renamed)
        for asked, call in zip(message.tool_calls, renamed.tool_calls, strict=True):
            found = results.get(asked.id) or ToolResult("", asked.name, INTERRUPTED, is_error=True)
            repaired.append(replace(found, call_id=call.id))
    return tuple(repaired)


def without_tools(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a repaired history for a model that knows no tools: calls and results become text."""
    told: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            told.append(AssistantMessage((TextBlock(message.text),) if message.text else ()))
        elif isinstance(message, ToolResult):
            before = told.pop() if told else AssistantMessage()
            found = f"[{message.name}: {message.text}]"
            text = f"{before.text}\n\n{found}" if before.text else found
            told.append(AssistantMessage((TextBlock(text),)))
        else:
            told.append(message)
    return tuple(told)


def without_images(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a history for a model that cannot see: it is told which pictures were sent."""
    told: list[Message] = []
    for message in messages:
        if isinstance(message, UserMessage) and message.images:
            names = [f"[{UNSEEN.format(name=image.name)}]" for image in message.images]
            message = UserMessage("\n".join([message.text, *names] if message.text else names))
        told.append(message)
    return tuple(told)


def _with_new_ids(message: AssistantMessage, used: set[str]) -> AssistantMessage:
    """Return a reply whose ids no earlier one used, and note them; the same ones every time."""
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            ids = chain([block.id], (f"{block.id}_{number}" for number in count(2)))
            block = replace(block, id=next(call_id for call_id in ids if call_id not in used))
            used.add(block.id)
        blocks.append(block)
    return AssistantMessage(tuple(blocks))
