"""What replaces what; plain, no database."""

from datetime import UTC, datetime, timedelta

from memory.search.grouping import Item
from memory.search.replacing import Sought, newest_first

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
NEWS, STATE = 1.2, -0.8
SOUGHT = Sought(("nephew", "study"))


def item(number: int, text: str, *, change: float | None = STATE, relevance: float = 2.0) -> Item:
    """Return one passage; the number says when it was said, and by how little it is nearer."""
    return Item(
        number,
        text,
        BEGIN + timedelta(days=number),
        relevance=relevance,
        meaning=0.3 - 0.1 * number,
        change=change,
    )


def marks(items: list[Item]) -> dict[int, int]:
    return {one.id: one.newer for one in items if one.newer}


def test_news_replace_the_state() -> None:
    items = [
        item(1, "My nephew studies law."),
        item(2, "My nephew transferred to medicine.", change=NEWS),
    ]
    likeness = {(1, 2): 0.6}
    assert [one.id for one in newest_first(items, SOUGHT, likeness)] == [2, 1]
    assert marks(items) == {1: 2}


def test_of_three_states_the_last_stands_first_and_the_others_are_marked() -> None:
    items = [
        item(1, "My nephew studies law."),
        item(2, "My nephew went over to medicine.", change=0.2),
        item(3, "My nephew went over to music.", change=NEWS),
    ]
    likeness = {(1, 2): 0.6, (1, 3): 0.6, (2, 3): 0.8}
    assert newest_first(items, SOUGHT, likeness)[0].id == 3
    assert marks(items) == {1: 3, 2: 3}


def test_what_would_replace_the_news_but_not_what_they_replaced_is_another_matter() -> None:
    nephew, news = item(1, "My nephew studies."), item(2, "My nephew studies music.", change=0.3)
    other = item(3, "My cousin studies music.", change=NEWS)
    likeness = {(1, 2): 0.9, (2, 3): 0.35, (1, 3): 0.1}
    newest_first([news, other], SOUGHT, likeness)
    assert marks([news]) == {2: 3}
    news.newer = None
    newest_first([news, other, nephew], SOUGHT, likeness)
    assert marks([news, nephew]) == {1: 2}


def test_another_is_not_replaced_by_what_is_less_alike_than_its_own_news() -> None:
    items = [
        item(1, "My nephew studies law."),
        item(3, "My nephew transferred to the evening school.", change=NEWS),
        item(2, "My nephew transferred to medicine.", change=NEWS),
    ]
    newest_first(items, SOUGHT, {(1, 2): 0.7, (1, 3): 0.45, (2, 3): 0.3})
    assert marks(items) == {1: 2}


def test_states_replace_nothing_unless_much_speaks_for_it() -> None:
    items = [item(1, "My nephew studies law."), item(2, "The nephew waited in the garden.")]
    newest_first(items, SOUGHT, {(1, 2): 0.3})
    assert marks(items) == {}


def test_what_has_nothing_to_do_with_the_question_replaces_nothing() -> None:
    news = item(2, "My nephew transferred to medicine.", change=NEWS, relevance=-0.5)
    items = [item(1, "My nephew studies law."), news]
    newest_first(items, SOUGHT, {(1, 2): 0.5})
    assert marks(items) == {}


def test_names_that_are_asked_for_must_be_kept() -> None:
    sought = Sought(("meeting", "lola"), ("Lola",))
    likeness = {(1, 2): 0.5}
    other = [
        item(1, "The meeting with Lola is on Monday."),
        item(2, "The meeting with Sanjar was moved to Friday.", change=0.6),
    ]
    newest_first(other, sought, likeness)
    assert marks(other) == {}
    same = [other[0], item(2, "The meeting with Lola was moved to Friday.", change=0.6)]
    newest_first(same, sought, likeness)
    assert marks(same) == {1: 2}


def test_without_vectors_words_of_change_decide() -> None:
    sought = Sought(("office",))
    items = [
        item(1, "Our office is in Navoi street.", change=None),
        item(2, "Our office moved to Temur street.", change=None),
    ]
    assert [one.id for one in newest_first(items, sought, {})] == [2, 1]
    assert marks(items) == {1: 2}


def test_exact_hits_stay_above_all_others() -> None:
    items = [
        item(1, "My nephew studies law."),
        item(2, "My nephew transferred to medicine.", change=NEWS),
    ]
    items[0].is_exact = True
    newest_first(items, SOUGHT, {(1, 2): 0.7})
    assert marks(items) == {}
