"""Choosing what of a conversation the model is shown: the newest whole exchanges."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agents.core.messages import Message, UserMessage
from agents.core.tokens import estimate_message, estimate_messages

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


def _answerable(exchange: tuple[Message, ...], *, limit_tokens: int) -> tuple[Message, ...]:
    """Leave out the oldest of several messages that wait together, while all are too long.

    A message that was too long to be answered waits together with those that follow it, and
    must not keep them from being answered for ever.
    """
    tokens, first = estimate_messages(exchange), 0
    for message, follower in pairwise(exchange):
        if tokens <= limit_tokens or not isinstance(follower, UserMessage):
            break
        tokens -= estimate_message(message)
        first += 1
    return exchange[first:]


@dataclass(frozen=True, slots=True)
class NewestExchanges:
    """A context keeper that only chooses; nothing is deleted or summarised."""

    def shrink(self, messages: Sequence[Message], *, window_tokens: int) -> tuple[Message, ...]:
        """Return the newest whole exchanges within half the window and 20,000 tokens.

        The newest exchange is always there, whatever its length: it is what is being answered.
        Only its first messages of the person go where it is beyond half the window.
        """
        *older, newest = exchanges(messages) or [()]
        answerable = _answerable(newest, limit_tokens=int(window_tokens * WINDOW_SHARE))
        if len(answerable) < len(newest):
            return answerable
        left = history_limit(window_tokens) - estimate_messages(newest)
        kept = [newest]
        for exchange in reversed(older):
            left -= estimate_messages(exchange)
            if left < 0:
                break
            kept.append(exchange)
        return tuple(message for exchange in reversed(kept) for message in exchange)
