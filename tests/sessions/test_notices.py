"""Every code has words, and no stored notice leaves a person without an answer."""

from typing import get_args

import pytest

from agents.core.errors import ErrorCode
from agents.core.events import NoticeCode
from sessions import notices

GENERAL = "Something went wrong. Try again."
# Never stored as a notice: the turn's state says it, or another worker goes on.
WORDLESS = {"stopped", "lease_lost", "unknown"}


@pytest.mark.parametrize(
    "code", [*get_args(NoticeCode), *sorted({*get_args(ErrorCode), "crashed"} - WORDLESS)]
)
def test_code_has_words_of_its_own(code: str) -> None:
    text = notices.text_of({"v": 1, "code": code, "values": {"tool": "memory_search"}})
    assert text != GENERAL
    assert "%(" not in text


def test_values_are_filled_in() -> None:
    stored = {"v": 1, "code": "repeated_call", "values": {"tool": "memory_search"}}
    assert "“search in the memory” was called" in notices.text_of(stored)


def test_tool_without_a_label_is_called_by_its_name() -> None:
    stored = {"v": 1, "code": "repeated_call", "values": {"tool": "of_an_older_release"}}
    assert "“of_an_older_release” was called" in notices.text_of(stored)


@pytest.mark.parametrize(
    "stored",
    [None, {}, {"v": 1, "code": "of a later release"}, {"v": 1, "code": "unknown"}, "text", 5],
)
def test_what_is_not_known_becomes_a_general_sentence(stored: object) -> None:
    assert notices.text_of(stored) == GENERAL


def test_missing_value_leaves_a_gap() -> None:
    assert "“…”" in notices.text_of({"v": 1, "code": "repeated_call"})
