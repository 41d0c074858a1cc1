"""Cutting texts into messages: nothing lost, nothing broken, every span where it belongs."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.channels.telegram.formatting import spans_of
from sessions.channels.telegram.splitting import (
    MARKER,
    Formatted,
    Span,
    beginning,
    ending,
    split,
    units,
)

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇺🇿"
_PIECES = st.sampled_from(
    [
        "word",
        " ",
        "\n",
        "\n\n",
        ". ",
        "é",
        "e\u0301",
        FAMILY,
        FLAG,
        "👍🏽",
        "한",
        "ab",
        "💡",
        "\r\n",
    ]
)


def pieces_of(formatted: Formatted) -> list[str]:
    coded = formatted.text.encode("utf-16-le")
    return [coded[s.offset * 2 : s.end * 2].decode("utf-16-le") for s in formatted.spans]


def without_spaces(text: str) -> str:
    return "".join(text.split())


@given(
    st.lists(_PIECES, min_size=1, max_size=60).map("".join),
    st.integers(12, 40),
    st.lists(st.tuples(st.integers(0, 80), st.integers(1, 40)), max_size=3),
)
def test_no_character_is_lost_and_no_limit_passed(
    text: str, limit: int, marks: list[tuple[int, int]]
) -> None:
    total = units(text)
    spans = tuple(
        Span("bold", offset, min(length, total - offset))
        for offset, length in marks
        if offset < total
    )
    parts = split(Formatted(text, spans), limit)
    assert without_spaces("".join(part.text for part in parts)) == without_spaces(text)
    for part in parts:
        assert units(part.text) <= limit
        # No half of a pair, no accent or joiner without what it belongs to.
        part.text.encode("utf-16-le")
        assert not unicodedata.combining(part.text[0]) or text.startswith(part.text)
        for span in part.spans:
            assert 0 <= span.offset < span.end <= units(part.text)


@given(st.text(max_size=300), st.integers(20, 50))
def test_any_text_is_cut_within_the_limit_and_comes_whole(text: str, limit: int) -> None:
    parts = split(Formatted(text), limit)
    assert without_spaces("".join(part.text for part in parts)) == without_spaces(text)
    assert all(units(part.text) <= limit for part in parts)


@pytest.mark.parametrize(
    "markdown",
    [
        "x" * 4_097,
        "word " * 819 + "ab",
        f"**{'b' * 4_097}**",
        "```python\n" + "y" * 4_097 + "\n```",
        "💡" * 2_048 + "!",
    ],
    ids=["plain", "words", "bold", "code", "emoji"],
)
def test_case_telegram_stream_2_a_text_of_4097_becomes_two_valid_messages(markdown: str) -> None:
    whole = spans_of(markdown)
    assert units(whole.text) == 4_097
    parts = split(whole)
    assert len(parts) == 2
    assert "".join(part.text for part in parts) == whole.text
    for part in parts:
        assert units(part.text) <= 4_096
        assert len(part.spans) == len(whole.spans)
        for span in part.spans:
            assert span.offset == 0
            assert span.end == units(part.text)
            assert span.language == whole.spans[0].language


def test_code_that_fits_a_message_is_not_cut() -> None:
    code = "\n".join(f"line {n}" for n in range(200))
    markdown = "Intro. " * 450 + f"\n\n```\n{code}\n```\n\nAfter."
    parts = split(spans_of(markdown))
    assert len(parts) == 2
    assert parts[0].spans == ()
    assert pieces_of(parts[1]) == [code]


def test_cut_falls_between_paragraphs_then_lines_then_sentences() -> None:
    assert [p.text for p in split(Formatted("aaa bbb.\n\nccc ddd\neee fff"), 20)] == [
        "aaa bbb.",
        "ccc ddd\neee fff",
    ]
    assert [p.text for p in split(Formatted("aaa bbb ccc\nddd eee"), 16)] == [
        "aaa bbb ccc",
        "ddd eee",
    ]
    assert [p.text for p in split(Formatted("One, two, three. Four five"), 22)] == [
        "One, two, three. ",
        "Four five",
    ]


def test_what_is_seen_as_one_character_stays_whole() -> None:
    for char in (FAMILY, FLAG, "👍🏽", "e\u0301", "한"):
        for part in split(Formatted(char * 40), 30):
            assert part.text == char * (len(part.text) // len(char))


def test_beginning_and_ending_mark_what_is_missing() -> None:
    whole = spans_of("First **line** here.\n" * 300)
    first, last = beginning(whole, 1_000), ending(whole, 1_000)
    assert first.text.endswith(MARKER)
    assert last.text.startswith(MARKER)
    assert units(first.text) <= 1_000
    assert units(last.text) <= 1_000
    assert set(pieces_of(first)) == set(pieces_of(last)) == {"line"}
    short = Formatted("short")
    assert beginning(short, 1_000) == ending(short, 1_000) == short
