"""How each of Anthropic's models wants to be told to think.

Newer models think as much as they find right within an ``effort`` ("adaptive"); older ones know
only a budget of tokens ("budget"), and refuse the other; the newest refuse budgets
(https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, November 2026).
The first try goes by the name, a refusal corrects it, and what was refused is not tried again.
"""

import re
from typing import Final, Literal

from agents.core.errors import ProviderError, RequestRefused
from agents.core.messages import AssistantMessage, JsonObject, OpaqueBlock, UserMessage
from agents.core.protocols import THINKING_TOKENS, ModelCall

Style = Literal["adaptive", "budget", "none"]

# Claude before 4.6.
_OLD: Final = re.compile(r"claude-([123]\b|instant|(opus|sonnet|haiku)-4(?![-.][6-9]))", re.I)
# A model that cannot write as much as thinking asks room for, refuses that too.
_ABOUT_THINKING: Final = re.compile(r"thinking|adaptive|effort|output_config|max_tokens", re.I)
# What the API takes at least; and the most that all models which think may write in one reply.
SMALLEST_BUDGET: Final = 1_024
MOST_OUTPUT: Final = 32_000


class ThinkingStyles:
    """Which way of asking one server's models are known to refuse."""

    def __init__(self) -> None:
        self._left: dict[str, list[Style]] = {}

    def style_for(self, call: ModelCall) -> Style:
        """Return how to ask; ``none`` where nobody wants it to think, or it cannot."""
        if not call.effort:
            return "none"
        style = self._styles(call.model)[0]
        # A budget may not begin amid the calls of a reply that was written without one.
        return "none" if style == "budget" and _has_plain_calls(call) else style

    def learn(self, model: str, style: Style, error: ProviderError) -> bool:
        """Take an error for a call that was asked in a style; return whether to ask in another.

        Other calls of the same moment may have learned the same already.
        """
        if style == "none" or not isinstance(error, RequestRefused):
            return False
        if not _ABOUT_THINKING.search(error.detail):
            return False
        left = self._styles(model)
        if left[0] == style:
            left.pop(0)
        return True

    def _styles(self, model: str) -> list[Style]:
        if model not in self._left:
            first: list[Style] = ["adaptive", "budget"]
            self._left[model] = [*(reversed(first) if _OLD.search(model) else first), "none"]
        return self._left[model]


def begins_at(call: ModelCall) -> int:
    """Return where the present tool loop begins: behind the newest message of a person."""
    said = [at for at, message in enumerate(call.messages) if isinstance(message, UserMessage)]
    return said[-1] + 1 if said else 0


def _has_plain_calls(call: ModelCall) -> bool:
    replies = [m for m in call.messages[begins_at(call) :] if isinstance(m, AssistantMessage)]
    return any(reply.tool_calls and not _has_reasoning(reply) for reply in replies)


def _has_reasoning(reply: AssistantMessage) -> bool:
    return any(isinstance(block, OpaqueBlock) for block in reply.blocks)


def most_output(call: ModelCall, style: Style) -> int:
    """Return the limit of a reply; thinking counts into it."""
    if style == "none":
        return call.max_output_tokens
    wanted = call.max_output_tokens + THINKING_TOKENS[call.effort]
    return min(wanted, max(MOST_OUTPUT, call.max_output_tokens + SMALLEST_BUDGET))


def thinking_fields(call: ModelCall, style: Style) -> JsonObject:
    """Return the fields of a request that ask for thinking."""
    if style == "adaptive":
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": call.effort}}
    if style == "budget":
        budget = most_output(call, style) - call.max_output_tokens
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {}
