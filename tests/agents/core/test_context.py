"""Which earlier messages the model is shown: the newest whole exchanges, within a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.context import HISTORY_TOKENS, NewestExchanges, exchanges, history_limit
from agents.core.messages import (
    AssistantMessage,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.repair import repair_history
from agents.core.tokens import estimate_messages
from tests.agents.core.transcripts import assert_whole, patient, whole

WINDOW = 200_000


def say(text: str) -> AssistantMessage:
    """Return a reply."""
    return AssistantMessage((TextBlock(text),))


def exchange_of(tokens: int, name: str) -> list[Message]:
    """Return a question and an answer that are estimated at exactly so many tokens."""
    question = UserMessage(name)
    rest = tokens - estimate_messages([question, say("")])
    messages: list[Message] = [question, say("x" * (4 * (rest - 1)))]
    assert estimate_messages(messages) == tokens
    return messages


def shown(messages: list[Message], window_tokens: int = WINDOW) -> list[Message]:
    """Return what the keeper chooses."""
    return list(NewestExchanges().shrink(messages, window_tokens=window_tokens))


@pytest.mark.parametrize(
    ("window", "limit"), [(8_000, 4_000), (40_000, 20_000), (200_000, 20_000), (0, 0)]
)
def test_history_takes_half_the_window_but_20000_tokens_at_most(window: int, limit: int) -> None:
    assert history_limit(window) == limit
    assert HISTORY_TOKENS == 20_000


def test_an_exchange_goes_from_a_persons_message_to_before_the_next_answered_one() -> None:
    call = ToolCall("1", "find")
    asked = AssistantMessage((call,))
    found = ToolResult("1", "find", "found")
    messages: list[Message] = [
        say("Welcome"),
        *(UserMessage("One"), asked, found, say("1")),
        *(UserMessage("Two"), UserMessage("and three"), say("2 and 3")),
    ]
    assert exchanges(messages) == [tuple(messages[:1]), tuple(messages[1:5]), tuple(messages[5:])]
    assert exchanges([]) == []


def test_exchanges_that_just_fit_stay_and_one_token_more_loses_the_oldest() -> None:
    old, new = exchange_of(10_000, "old"), exchange_of(10_000, "new")
    assert shown([*old, *new]) == [*old, *new]
    assert shown([*exchange_of(10_001, "old"), *new]) == new


def test_a_small_window_is_half_filled() -> None:
    messages = [m for n in range(10) for m in exchange_of(1_000, str(n))]
    assert shown(messages, window_tokens=8_000) == messages[-8:]


def test_no_older_exchange_is_shown_past_one_that_did_not_fit() -> None:
    messages = [*exchange_of(100, "a"), *exchange_of(30_000, "b"), *exchange_of(100, "c")]
    assert shown(messages) == messages[-2:]


def test_the_newest_exchange_is_shown_whatever_its_length() -> None:
    newest = exchange_of(50_000, "new")
    assert shown([*exchange_of(20, "old"), *newest]) == newest


def test_several_messages_that_are_answered_together_are_shown_together() -> None:
    messages: list[Message] = [UserMessage("x" * 4_000) for _ in range(30)]
    assert estimate_messages(messages) > HISTORY_TOKENS
    assert shown(messages) == messages


def test_a_message_that_was_too_long_to_be_answered_does_not_block_those_after_it() -> None:
    too_long, short = UserMessage("x" * 1_000_000), UserMessage("Are you there?")
    assert shown([too_long]) == [too_long]
    assert shown([too_long, short]) == [short]
    assert shown([short, too_long, short, say("Yes")]) == [short, say("Yes")]


@patient
@given(whole(), st.integers(0, 3_000))
def test_case_compaction_2_no_cut_parts_a_call_from_its_result(
    messages: list[Message], window_tokens: int
) -> None:
    chosen = NewestExchanges().shrink(messages, window_tokens=window_tokens)
    assert list(chosen) == messages[len(messages) - len(chosen) :], "the newest, without a gap"
    assert_whole(repair_history(chosen))
    assert sorted(map(repr, repair_history(chosen))) == sorted(map(repr, chosen)), "no orphan"
    assert not messages or chosen
    if len(exchanges(chosen)) > 1:
        assert estimate_messages(chosen) <= history_limit(window_tokens)
