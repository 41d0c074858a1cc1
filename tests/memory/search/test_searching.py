"""One search: what is found, in which order, for whom, and when nothing is."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.core.embedding import Embedded, TooSlow
from agents.providers.embedding_builtin import BuiltinEmbedder
from memory.index import scopes, terms, writing
from memory.index.writing import Text
from memory.models import Origin, Passage
from memory.search import Note, Result, asking, search
from memory.search.candidates import gather
from memory.search.searching import Profile
from memory.search.weights import WORDS
from tests.memory.index.conftest import Corner

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
BY_WORDS = Profile(asks_embedder=False)
# Any: the options of `search`.
Options = Any


@pytest.fixture(autouse=True)
def _no_vectors_of_others() -> None:
    asking.forget()


def look(corner: Corner, query: str, **options: Options) -> Result:
    return search(corner.viewer, query, now=NOW, **options)


def texts(result: Result) -> list[str]:
    return [hit.content for hit in result.found]


def tell(corner: Corner, *said: str, kind: Passage.Kind = Passage.Kind.FACT) -> None:
    """Let each be a passage of its own, a day newer than the one before, with its vector."""
    for number, text in enumerate(said):
        at = NOW - timedelta(days=100 - number)
        writing.add(
            [Text(text, at)],
            home=corner.home,
            kind=kind,
            source=f"fact:{number}",
            thread="facts",
            step=writing.APART,
        )
    corner.settle()
    corner.embed()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_contains_the_query_is_found_and_comes_first(
    corner: Corner, data: st.DataObject
) -> None:
    said = ["Men oʻzbekman, 4471-B", "Łódź jest ładna", "My name is Bobur", "Чай зелёный"]
    if not Passage.objects.exists():
        for text in said:
            corner.say(text)
    text = data.draw(st.sampled_from(said))
    start = data.draw(st.integers(0, len(text) - 1))
    query = text[start : data.draw(st.integers(start + 1, len(text)))]
    query = data.draw(st.sampled_from([query, query.upper(), query.lower()]))
    found = look(corner, query, profile=BY_WORDS).found
    containing = {
        one for one in said if query.strip() and query.strip().casefold() in one.casefold()
    }
    assert containing <= {hit.content for hit in found if hit.is_exact}
    exact = [hit.is_exact for hit in found]
    assert exact == sorted(exact, reverse=True)


def test_case_memory_search_1_exact_identifier_is_first_whatever_the_vectors_say(
    corner: Corner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(
        corner,
        *(f"The invoice INV-{number} was paid in spring" for number in range(88100, 88123)),
        "INV-88123 waits",
        "What is the state of the invoice?",
    )
    orthogonal = [0.0] * 383 + [1.0]
    monkeypatch.setattr(BuiltinEmbedder, "query", lambda self, text, **_: Embedded([orthogonal]))
    assert texts(look(corner, "INV-88123"))[0] == "INV-88123 waits"
    assert texts(look(corner, "what is the state of the invoice INV-88123?"))[0] == (
        "INV-88123 waits"
    )


def test_case_memory_search_2_what_only_words_and_what_only_meaning_finds_are_both_there(
    corner: Corner,
) -> None:
    tell(corner, "The cat is called Mosh and she is six years old", "Zorbax 12 stands in the hall")
    found = texts(look(corner, "how old is our kitten, by the Zorbax?", limit=6))
    assert len(found) == 2


def test_fact_is_found_by_a_question_in_another_language(corner: Corner) -> None:
    tell(
        corner,
        "Dilshodning yeryongʻoqqa allergiyasi bor.",
        "Ofisimiz uchinchi qavatda.",
        "Mushugimizning ismi Mosh.",
    )
    found = look(corner, "Какой еды должен избегать Дильшод?")
    assert "allergiyasi" in found.found[0].content
    assert found.notes == ()


def test_nothing_is_found_for_what_nobody_spoke_of(corner: Corner) -> None:
    tell(corner, "I like green tea", "The office is on the third floor", "Aziza plays the violin")
    result = look(corner, "Which constellations can be seen in winter?")
    assert result == Result(notes=(Note.NOTHING_RELEVANT,))


def test_blank_query_finds_nothing(corner: Corner) -> None:
    tell(corner, "I like green tea")
    assert look(corner, " \n ") == Result()


def test_case_memory_recall_2_paraphrases_are_one_item_and_what_contradicts_is_its_own(
    corner: Corner,
) -> None:
    tell(
        corner,
        "I love green tea.",
        "Green tea is my favourite drink.",
        "I like green tea most of all.",
        "My favourite is green tea.",
        "I really enjoy drinking green tea.",
        "The office kitchen has a kettle for tea.",
    )
    found = look(corner, "Which tea is my favourite?").found
    assert len(found) == 2
    assert len(found[0].also) == 4
    tell_more = Text("I do not like green tea.", NOW)
    writing.add(
        [tell_more], home=corner.home, kind=Passage.Kind.FACT, source="fact:x", thread="more"
    )
    corner.settle()
    corner.embed()
    found = look(corner, "Which tea is my favourite?").found
    assert "I do not like green tea." in [hit.content for hit in found]


def test_what_was_said_later_stands_first_and_marks_the_earlier(corner: Corner) -> None:
    tell(
        corner,
        "Our office is at 5 Navoi street.",
        "The cat is six years old.",
        "Our office is at 12 Temur street now.",
    )
    found = look(corner, "Where is our office?").found
    assert [hit.content for hit in found[:2]] == [
        "Our office is at 12 Temur street now.",
        "Our office is at 5 Navoi street.",
    ]
    assert (found[0].newer, found[1].newer) == ("", found[0].id)


def test_news_of_somebody_else_replace_nothing(corner: Corner) -> None:
    tell(corner, "My brother lives in Bukhara.", "My sister moved to Khiva last month.")
    found = look(corner, "Where does my brother live?").found
    assert (found[0].content, found[0].newer) == ("My brother lives in Bukhara.", "")


def test_untrusted_text_is_found_only_on_request(corner: Corner) -> None:
    writing.add(
        [Text("The wire code is Zorbax", NOW, Origin.UNTRUSTED)],
        home=corner.home,
        kind=Passage.Kind.DOCUMENT,
        source="file:1",
        thread="file:1",
    )
    corner.settle()
    assert look(corner, "Zorbax").found == []
    assert len(look(corner, "Zorbax", with_untrusted=True).found) == 1


def test_old_exchanges_are_left_out_where_days_are_limited_and_facts_are_not(
    corner: Corner,
) -> None:
    tell(corner, "Zebra stripes", kind=Passage.Kind.EXCHANGE)
    assert texts(look(corner, "zebra")) == ["Zebra stripes"]
    assert look(corner, "zebra", notes_days=30).found == []
    Passage.objects.update(kind=Passage.Kind.FACT)
    assert texts(look(corner, "zebra", notes_days=30)) == ["Zebra stripes"]
    assert look(corner, "zebra", kinds=[Passage.Kind.DOCUMENT]).found == []


def test_too_slow_an_embedder_leaves_words_and_says_so(
    corner: Corner, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []

    def late(self: object, text: str, *, deadline_s: float | None = None) -> Sequence[float]:
        asked.append(deadline_s)
        raise TooSlow("late")

    tell(corner, "I like green tea")
    monkeypatch.setattr(BuiltinEmbedder, "query", late)
    result = look(corner, "green tea", deadline_s=0.03)
    assert (texts(result), result.notes) == (["I like green tea"], (Note.TOO_SLOW,))
    assert asked == [0.03]


def test_deadline_counts_from_when_the_search_began(
    corner: Corner, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 100.0 + 3_600])
    ends = threading.Event()

    def late(self: object, text: str, **options: Options) -> Embedded:
        ends.wait(30)
        return Embedded([[0.0] * 384])

    tell(corner, "I like green tea")
    monkeypatch.setattr(BuiltinEmbedder, "query", late)
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    try:
        result = look(corner, "green tea", deadline_s=3_600)
    finally:
        ends.set()
    assert result.notes == (Note.TOO_SLOW,)


def test_scores_are_the_sums_of_their_reasons(corner: Corner) -> None:
    tell(corner, "I like green tea", "Green is the colour of the door")
    for hit in look(corner, "Do I like green tea?").found:
        assert hit.score == pytest.approx(sum(hit.why.values()), abs=0.01)
        assert hit.why


def test_what_was_said_very_often_leaves_room_for_the_rest(corner: Corner) -> None:
    often = [f"The gate code of the summer house is blue{'!' * number}" for number in range(30)]
    others = [f"The summer house has a {thing}" for thing in ("garden", "cellar", "pool", "roof")]
    tell(corner, *others, *often)
    found = texts(look(corner, "summer house gate code", limit=4))
    assert len(found) == 4
    assert set(found) & set(others)


def say_many(corner: Corner, *said: str, at: datetime) -> None:
    """Let each be a passage of its own source, in the conversation of a day."""
    for number, text in enumerate(said):
        writing.add(
            [Text(text, at)],
            home=corner.home,
            kind=Passage.Kind.EXCHANGE,
            source=f"turn:{at:%j}{number:04}",
            thread=f"session:{at:%j}",
        )


@pytest.mark.parametrize("query", ["invoice", "which invoice was paid?"])
def test_what_is_not_wanted_takes_nobodys_place(corner: Corner, query: str) -> None:
    """Shorter texts fit better by their words, and all of them are too old or of another kind."""
    wanted = (
        "Yesterday the accountant from the head office in Samarkand said that our last invoice "
        "was finally paid in full by bank transfer"
    )
    old = [f"invoice {number} was paid" for number in range(150)]
    say_many(corner, *old, at=NOW - timedelta(days=200))
    weather = [f"we talked of weather and of gardens on that long day {n}" for n in range(9)]
    say_many(corner, *weather, wanted, *weather, at=NOW - timedelta(days=1))
    corner.settle()
    assert texts(look(corner, query, notes_days=30, profile=BY_WORDS))[:1] == [wanted]
    Passage.objects.filter(text=wanted).update(kind=Passage.Kind.FACT)
    found = look(corner, query, kinds=[Passage.Kind.FACT], profile=BY_WORDS)
    assert texts(found)[:1] == [wanted]
    Passage.objects.exclude(text=wanted).update(origin=Origin.UNTRUSTED)
    assert texts(look(corner, query, profile=BY_WORDS))[:1] == [wanted]


def test_everything_that_contains_the_query_is_a_candidate(corner: Corner) -> None:
    """More of it than is usually looked at, and one that fits worst of all by its words."""
    said = [f"zebra number {number:03d} in the park" for number in range(130)]
    say_many(corner, *said, at=NOW)
    say_many(corner, f"zebra{' stripes and grass' * 30}", at=NOW - timedelta(days=9))
    corner.settle()
    visible = scopes.visible(corner.viewer)
    pool = gather(visible, terms.of_query("zebra"), None, WORDS)
    assert sum(one.is_exact for one in pool.candidates) == 131
