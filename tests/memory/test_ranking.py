"""Search by words; plain, no database."""

from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from memory.ranking import Line, rank

NOON = datetime(2025, 1, 15, 12, 0, tzinfo=UTC)


def lines(*contents: str) -> list[Line]:
    """Make lines, each a minute newer than the one before."""
    return [
        Line("MEMORY.md", number, content, NOON + timedelta(minutes=number))
        for number, content in enumerate(contents, start=1)
    ]


def found(query: str, *contents: str, limit: int = 10) -> list[str]:
    return [line.content for line in rank(query, lines(*contents), limit=limit)]


@given(st.text(min_size=1, max_size=60), st.data())
def test_whatever_a_substring_search_finds_is_found(content: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(content) - 1))
    query = content[start : data.draw(st.integers(start + 1, len(content)))]
    assume(query.strip())
    for typed in (query, query.upper(), query.lower()):
        if typed.casefold() in content.casefold():
            assert found(typed, "x", content) != []


def test_whole_query_comes_first() -> None:
    assert found("green tea", "tea tea green", "likes green tea", "tea")[0] == "likes green tea"


def test_rare_words_weigh_more() -> None:
    answer = found("invoice 88123", "invoice one", "invoice two", "INV-88123 is paid", "invoice 3")
    assert answer[0] == "INV-88123 is paid"


def test_any_word_is_enough_and_more_are_better() -> None:
    assert found("dark mode editor", "dark sky", "dark mode", "bright") == ["dark mode", "dark sky"]


def test_newest_of_equals_comes_first() -> None:
    assert found("tea", "tea old", "tea new") == ["tea new", "tea old"]


def test_accents_and_apostrophes_do_not_count() -> None:
    assert found("ozbek", "Men oʻzbekman") == ["Men oʻzbekman"]
    assert found("o'zbek", "ozbek tili") == ["ozbek tili"]
    assert found("cafe", "Café Zoë") == ["Café Zoë"]
    assert found("lodz", "Łódź") == ["Łódź"]


def test_question_words_find_nothing_by_themselves() -> None:
    assert found("what is my name", "My name is Bobur", "this is what it is") == [
        "My name is Bobur"
    ]


def test_blank_query_finds_nothing() -> None:
    assert found("  ", "tea") == []


def test_limit() -> None:
    assert len(found("tea", *["tea"] * 20, limit=3)) == 3
