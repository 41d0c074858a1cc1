"""Each item is judged by itself, and no source takes all places."""

from datetime import UTC, datetime, timedelta

import pytest

from memory import recall
from memory.index import writing
from memory.index.writing import Text
from memory.models import Passage
from memory.search import asking, search
from memory.search.relevance import Evidence, fitting
from memory.search.results import Found
from memory.search.searching import DEFAULT, Profile
from tests.memory.index.conftest import Corner

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
BY_WORDS = Profile(asks_embedder=False)


@pytest.fixture(autouse=True)
def _no_vectors_of_others() -> None:
    asking.forget()


def tell(corner: Corner, *said: str) -> None:
    """Let each be a turn, a day newer than the one before."""
    for number, text in enumerate(said):
        corner.said += 1
        writing.add(
            [Text(text, NOW - timedelta(days=100 - number))],
            home=corner.home,
            kind=Passage.Kind.EXCHANGE,
            source=f"turn:{corner.said}",
            thread="session:1/1",
        )
    corner.settle()


def look(corner: Corner, query: str, profile: Profile = DEFAULT) -> list[Found]:
    return list(search(corner.viewer, query, now=NOW, profile=profile).found)


def recalled(corner: Corner, message: str) -> str:
    # The vector of the message is known then, however busy the machine is.
    look(corner, message)
    return recall.recall(recall.look(corner.viewer, message), now=NOW, shown=(), is_first=True).text


def test_each_passage_is_judged_by_itself() -> None:
    evidence = {
        1: Evidence(coverage=0.5, meaning=0.2),
        2: Evidence(coverage=0.0, meaning=0.03),
        3: Evidence(coverage=0.0, meaning=0.05, is_same_language=False),
        4: Evidence(coverage=0.0, meaning=0.15, is_same_language=False),
        5: Evidence(coverage=0.0, is_exact=True),
    }
    assert fitting(evidence) == {1, 4, 5}


def test_the_best_of_its_language_is_a_measure_for_the_others() -> None:
    alone = {1: Evidence(coverage=0.0, meaning=0.115)}
    assert fitting(alone) == {1}
    assert fitting({**alone, 2: Evidence(coverage=1.0, meaning=0.3)}) == {2}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("The gate of our summer house is green", "What colour is the summer house gate?"),
        ("Yozgi uyimizning darvozasi yashil", "Yozgi uyimizning darvozasi qanday rangda?"),
        ("Ворота нашей дачи зелёные", "Какого цвета ворота нашей дачи?"),
    ],
)
def test_what_does_not_fit_is_not_recalled_along_with_what_does(
    corner: Corner, said: str, message: str
) -> None:
    others = (
        "Aziza plays the violin",
        "Hisobot juma kuni topshiriladi",
        "Я не ем свинину",
        "The printer takes A4 paper",
    )
    tell(corner, *others, said)
    corner.embed()
    found = look(corner, message)
    assert len(found) > 1
    assert [hit.content for hit in found if hit.fits] == [said]
    text = recalled(corner, message)
    assert said in text
    assert not any(other in text for other in others)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "My nephew studies law.",
            "My nephew transferred to the medical faculty.",
            "What does my nephew study?",
        ),
        (
            "Kompaniya direktori Jasur.",
            "Kompaniyaga Nodira direktor etib tayinlandi.",
            "Kompaniya direktori kim?",
        ),
        (
            "Наши спринты длятся две недели.",
            "Мы сократили спринты до одной недели.",
            "Сколько длятся наши спринты?",
        ),
        (
            "Buhara treni 2. perondan kalkıyor.",
            "Buhara treni için 7. peron anons edildi.",
            "Buhara treni hangi perondan kalkıyor?",
        ),
        (
            "Ściany w kuchni są białe.",
            "Pomalowaliśmy ściany w kuchni na żółto.",
            "Jakiego koloru są ściany w kuchni?",
        ),
    ],
)
def test_news_stand_first_in_whatever_words_and_what_was_says_so(
    corner: Corner, old: str, new: str, question: str
) -> None:
    tell(corner, old, "The cat is six years old.", new)
    corner.embed()
    first, second = look(corner, question)[:2]
    assert (first.content, second.content) == (new, old)
    assert (first.newer, second.newer) == ("", first.id)
    lines = recalled(corner, question).splitlines()
    (place,) = [number for number, line in enumerate(lines) if new in line]
    assert old not in "\n".join(lines[:place])
    assert all("may hold no longer" in line for line in lines if old in line)


@pytest.mark.django_db
def test_a_sentence_a_thousand_times_takes_two_places_at_most(corner: Corner) -> None:
    sentence = "The gate code of the summer house is blue and the gate of the garden is open. "
    tell(
        corner,
        "The summer house has a gate of iron",
        "A summer house in the hills",
        "The gate code was changed in spring",
    )
    source = corner.say(*[sentence * 11] * 91)
    corner.settle()
    assert Passage.objects.filter(source=source).count() == 91
    for query in ("summer house gate code", "gate of the summer house"):
        found = look(corner, query, BY_WORDS)
        assert sum(hit.source == source for hit in found) <= 2
        assert len({hit.source for hit in found}) == 4


@pytest.mark.django_db
def test_a_message_of_more_pieces_than_candidates_leaves_room_for_others(corner: Corner) -> None:
    tell(corner, "The summer house has a gate of iron")
    source = corner.say(*[f"summer house gate code {number}" for number in range(150)])
    found = look(corner, "summer house gate code", BY_WORDS)
    assert sum(hit.source == source for hit in found) <= 2
    assert "The summer house has a gate of iron" in [hit.content for hit in found]
