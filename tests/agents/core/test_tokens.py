"""Rough figures before a provider has counted."""

import pytest

from agents.core.messages import (
    AssistantMessage,
    Image,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.tokens import MESSAGE_TOKENS, estimate, estimate_message, estimate_messages


@pytest.mark.parametrize(
    ("text", "lowest", "highest"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("The quick brown fox jumps over the lazy dog. " * 100, 900, 1_300),
        ("Съешь же ещё этих мягких французских булок. " * 100, 1_500, 2_700),
    ],
    ids=["empty", "letter", "english", "russian"],
)
def test_an_estimate_is_about_what_providers_count(text: str, lowest: int, highest: int) -> None:
    assert lowest <= estimate(text) <= highest


def test_a_lone_surrogate_is_counted_like_any_character() -> None:
    assert estimate("\ud800") == 1


def test_every_part_of_a_message_counts() -> None:
    bare = estimate_message(AssistantMessage((TextBlock("hi"),)))
    called = AssistantMessage((TextBlock("hi"), ToolCall("1", "find", {"text": "x" * 400})))
    assert bare == MESSAGE_TOKENS + 1
    assert estimate_message(called) > bare + 100


def test_malformed_arguments_count_too() -> None:
    broken = AssistantMessage((ToolCall("1", "find", malformed="x" * 400),))
    assert estimate_message(broken) > 100


def test_messages_add_up() -> None:
    messages: list[Message] = [UserMessage("one two three"), ToolResult("1", "find", "y" * 40)]
    assert estimate_messages(messages) == sum(map(estimate_message, messages))


def test_a_picture_counts_by_its_pixels() -> None:
    picture = Image("cat.jpg", "image/jpeg", b"...", 750, 750)
    plain = estimate_message(UserMessage("Look"))
    assert estimate_message(UserMessage("Look", (picture, picture))) == plain + 2 * 751
