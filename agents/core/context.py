"""Choosing what of a conversation the model is shown: the newest whole exchanges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agents.core.messages import Message, UserMessage
from agents.core.tokens import estimate_messages

HISTORY_TOKENS: Final = 20_000
WINDOW_SHARE: Final = 0.5


def history_limit(window_tokens: int) -> int:
    """Return how many tokens of earlier messages a request may carry."""
    return min(int(window_tokens * WINDOW_SHARE), HISTORY_TOKENS)


def exchanges(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Split messages into exchanges, each from a person's message to before the next one.

    Whatever stands before the first person's message is an exchange of its own. A call and its
    result always share an exchange.
    """
    groups: list[list[Message]] = []
    for message in messages:
        begins = isinstance(message, UserMessage) and not (
            groups and isinstance(groups[-1][-1], UserMessage)
        )
        if begins or not groups:
            groups.append([])
        groups[-1].append(message)
    return [tuple(group) for group in groups]


@dataclass(frozen=True, slots=True)
class NewestExchanges:
    """A context keeper that only chooses; nothing is deleted or summarised."""

    def shrink(self, messages: Sequence[Message], *, window_tokens: int) -> tuple[Message, ...]:
        """Return the newest whole exchanges within half the window and 20,000 tokens.

        The newest exchange is always there, whatever its length: it is what is being answered.
        """
        left = history_limit(window_tokens)
        kept: list[tuple[Message, ...]] = []
        for exchange in reversed(exchanges(messages)):
            left -= estimate_messages(exchange)
            if kept and left < 0:
                break
            kept.append(exchange)
        return tuple(message for exchange in reversed(kept) for message in exchange)
