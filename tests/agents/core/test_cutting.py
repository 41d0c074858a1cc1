"""Head and tail stay, the middle goes, and nothing is longer than it may be."""

from hypothesis import given
from hypothesis import strategies as st

from agents.core.cutting import TOOL_RESULT_CHARACTERS, Cut, cut_middle
from tests.agents.core.transcripts import patient


def test_a_text_within_the_limit_stays_as_it_is() -> None:
    text = "x" * TOOL_RESULT_CHARACTERS
    assert cut_middle(text, TOOL_RESULT_CHARACTERS) == Cut(text, 0)


def test_a_long_tool_result_keeps_its_first_70_and_last_20_percent() -> None:
    text = "a" * 5_600 + "b" * 200_000 + "c" * 1_600
    cut = cut_middle(text, 8_000)
    assert cut.removed == 200_000
    assert cut.text == "a" * 5_600 + "\n\n[… 200000 characters removed …]\n\n" + "c" * 1_600


@patient
@given(st.text(max_size=600), st.integers(min_value=0, max_value=500))
def test_a_cut_text_is_within_its_limit_and_counts_what_it_lacks(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    assert len(cut.text) <= limit
    if len(text) <= limit:
        assert cut == Cut(text, 0)
    else:
        assert len(text) - limit <= cut.removed <= len(text)


def test_where_no_character_is_allowed_none_is_left() -> None:
    assert cut_middle("secret", 0) == Cut("", 6)


def test_a_limit_without_room_for_a_marker_leaves_the_head() -> None:
    assert cut_middle("0123456789", 4) == Cut("0123", 6)
