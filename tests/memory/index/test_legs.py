"""What is found by words and by meaning, for whom, and along which indexes."""

import random
import re
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import sql
from memory.index import fresh_reading, legs, postings, scopes, terms, vectors, writing
from memory.models import (
    FreshTerms,
    IndexVersion,
    MemoryScope,
    Passage,
    PassageVector,
    Posting,
)
from tests import factories
from tests.memory.index.conftest import Corner

pytestmark = pytest.mark.django_db

SAID = [
    "I flew to Tashkent on flight QX-4471-B, row 12",
    "My sister's name is Nilufar; she lives in Łódź",
    "Менинг онам Самарқандда яшайди",
    "Onam Samarqandda yashaydi, o‘g‘lim esa Toshkentda",
    "Kedimin adı Pamuk, iki yaşında",
    "Мы договорились встретиться в 15:30 у метро",
    "the, of, and: words that say nothing?",
    "a b",
    "🙂🙂 emoji — and “quotes” … 50% off!",
    "İstanbul'da ısındık",
]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_every_passage_that_contains_the_query_is_a_candidate(
    corner: Corner, data: st.DataObject
) -> None:
    if not Passage.objects.exists():
        for number, text in enumerate(SAID):
            corner.say(text, text.upper(), thread=f"session:{number}/1")
    text = data.draw(st.sampled_from(SAID))
    # The terms stand in rows of their own, in blocks, or some here and some there.
    if data.draw(st.booleans()):
        corner.say(f"And later: {text}", thread="session:77/1")
    elif data.draw(st.booleans()):
        postings.join_fresh(1)
    start = data.draw(st.integers(0, len(text) - 1))
    query = text[start : data.draw(st.integers(start + 1, len(text)))]
    query = data.draw(st.sampled_from([query, query.lower(), query.upper()]))
    containing = {
        row.text
        for row in Passage.objects.all()
        if query.strip() and query.strip().casefold() in row.text.casefold()
    }
    assert containing <= corner.exact(query)


def test_hidden_passage_is_found_no_more_and_leaves_nothing_behind(corner: Corner) -> None:
    source = corner.say("The code is 4471")
    corner.say("The gate is green")
    assert corner.exact("4471")
    writing.hide([source], home=corner.home)
    assert not corner.exact("4471")
    assert postings.remove_hidden() == 1
    visible = scopes.visible(corner.viewer)
    assert visible.passages == 1
    assert visible.fresh == FreshTerms.objects.count() == 1
    assert not Passage.objects.filter(text__contains="4471").exists()
    gone = terms.of_text("4471")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM memory_posting WHERE term = ANY(%s)",
            [[*gone.stems, *gone.grams]],
        )
        assert cursor.fetchone() == (0,)


def test_what_others_keep_moves_no_score(corner: Corner) -> None:
    corner.say("The gate is green")
    corner.say("The door is blue")

    def score() -> float:
        visible = scopes.visible(corner.viewer)
        return max(found.word for found in legs.keyword(visible, terms.of_query("gate")))

    before = score()
    other = Corner(corner.agent, factories.person(team=corner.person.team))
    for number in range(20):
        other.say(f"gate gate gate {number}", thread=f"session:{number}/2")
    assert score() == before
    assert len(corner.candidates("gate")) == 2


def test_words_around_a_passage_lift_it(corner: Corner) -> None:
    corner.say("Did you like the museum in Khiva?", "It was wonderful, thank you!")
    corner.say("Yes", thread="session:2/1")
    visible = scopes.visible(corner.viewer)
    found = legs.keyword(visible, terms.of_query("museum Khiva"))
    near = {legs.passages(visible, [one.id])[one.id].text: one.near for one in found
            if legs.passages(visible, [one.id])}  # fmt: skip
    assert near["It was wonderful, thank you!"] > 0
    assert "Yes" not in near


def test_joining_terms_changes_nothing_that_is_found(corner: Corner) -> None:
    """A row a passage, blocks of some, blocks of many: the same is found, with the same scores."""

    def found() -> dict[int, tuple[float, ...]]:
        scored = legs.keyword(scopes.visible(corner.viewer), terms.of_query("green gate number 7"))
        return {score.id: tuple(round(leg, 9) for leg in score[1:]) for score in scored}

    for number in range(30):
        corner.say(f"The gate number {number} is green")
    before = found()
    assert len(before) >= 30
    assert FreshTerms.objects.count() == 30
    assert not Posting.objects.exists()
    assert not postings.join_fresh(31)
    assert postings.join_fresh(30)
    assert not FreshTerms.objects.exists()
    assert found() == before
    for number in range(30, 60):
        corner.say(f"A word that nobody seeks, number {number}")
        corner.say(f"The gate number {number} is green", thread="session:2/1")
        postings.join_fresh(10)
    postings.join_fresh(1)
    before, blocks = found(), Posting.objects.count()
    MemoryScope.objects.update(blocks=postings.LOOSE + 1)
    assert postings.join_loose()
    assert not postings.join_loose()
    assert Posting.objects.count() < blocks / 2
    assert found() == before


def test_many_at_once_make_blocks_at_once(corner: Corner) -> None:
    corner.say(*(f"The gate number {number} is green" for number in range(postings.FEW)))
    assert Posting.objects.exists()
    assert not FreshTerms.objects.exists()
    assert corner.exact("number 7")


def test_terms_that_are_joined_while_a_search_reads_count_once(
    corner: Corner, monkeypatch: pytest.MonkeyPatch
) -> None:
    corner.say("The gate is green", *(f"The door is number {number}" for number in range(9)))
    visible, query = scopes.visible(corner.viewer), terms.of_query("gate")
    before = legs.keyword(visible, query)
    read = fresh_reading.read

    def reading_late(*given: Any) -> fresh_reading.Fresh:
        entries = read(*given)
        assert postings.join_fresh(1)
        return entries

    monkeypatch.setattr(fresh_reading, "read", reading_late)
    (found,) = [one for one in legs.keyword(visible, query) if one.is_exact]
    (alone,) = [one for one in before if one.is_exact]
    assert found.id == alone.id
    # The term is counted twice for this one search, which makes it a little less rare.
    assert 0 < found.word <= alone.word


@pytest.mark.django_db(transaction=True)
def test_plans_read_indexes(corner: Corner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words along the key of postings, meaning along the space's own index."""
    chance = random.Random(7)  # noqa: S311 — the same in every run
    space = factories.embedding_space(dimensions=16)
    for number in range(60):
        corner.say(*(f"word{chance.randrange(400)} word{chance.randrange(400)}" for _ in range(20)),
                   thread=f"session:{number}/1")  # fmt: skip
    IndexVersion.objects.update(space=space)
    for row in Passage.objects.select_related("scope"):
        vector = [chance.gauss(0, 1) for _ in range(16)]
        PassageVector.objects.create(
            passage=row, scope=row.scope, space=space, digest=row.digest, vector=vector
        )
    MemoryScope.objects.update(vectors=1_200)
    assert vectors.make_index(space)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memory_passagevector")
        cursor.execute("ANALYZE memory_posting")
    plans = _explained(monkeypatch)
    visible = scopes.visible(corner.viewer)
    legs.keyword(visible, terms.of_query("word7 word11"))
    (of_words,) = [plan for plan in plans if "memory_posting" in plan]
    assert of_words.count("memory_posting_pkey") == 2
    assert "Seq Scan on memory_posting" not in of_words
    monkeypatch.setattr(legs, "COMPARED", 100)
    found = legs.meaning(visible, [0.25] * 16, limit=10)
    assert len(found) == 10
    assert any(re.search(rf"Index Scan using {space.index_name}\b", plan) for plan in plans)
    vectors.drop_index(space)
    assert len(legs.meaning(scopes.visible(corner.viewer), [0.25] * 16, limit=10)) == 10


def _explained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the plan of each statement that the legs run from now on."""
    plans: list[str] = []
    fetch = sql.fetch

    def explaining(statement: str, values: Any, **options: bool) -> list[sql.Row]:
        if "FROM memory_p" in statement:
            rows = fetch(f"EXPLAIN {statement}", values, prepare=False)
            plans.append("\n".join(str(row[0]) for row in rows))
        return fetch(statement, values, **options)

    monkeypatch.setattr(sql, "fetch", explaining)
    return plans


def _count(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])
