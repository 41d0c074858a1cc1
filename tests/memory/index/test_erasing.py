"""A person who is erased is in no table of the index; two who are one are found as one."""

import pytest

from agents.core.viewer import Viewer
from memory import documents, merging
from memory.index import erasing, legs, scopes, writing
from memory.index.writing import Text
from memory.models import (
    FreshTerms,
    MemoryDocument,
    MemoryScope,
    MemoryThread,
    Origin,
    Passage,
    PassageVector,
    Posting,
    scope_of,
)
from tests import factories
from tests.memory.index.conftest import NOON, Corner

pytestmark = pytest.mark.django_db


def test_erased_person_is_in_no_table_of_the_index(corner: Corner) -> None:
    other = Corner(corner.agent, factories.person(team=corner.person.team))
    other.say("The gate is green")
    corner.say("My gate is red")
    chat = factories.chat(team=corner.person.team)
    group = Viewer(corner.agent.team_id, corner.agent.pk, corner.person.pk, chat.pk)
    writing.add(
        [
            Text("My sister is Nilufar", NOON, Origin.PERSON, corner.person.pk, "Bobur"),
            Text("A fine name", NOON, Origin.AGENT),
        ],
        home=scope_of(group),
        kind=Passage.Kind.EXCHANGE,
        source="turn:9",
        thread="session:9/1",
    )
    corner.settle()
    corner.embed()
    assert erasing.erase_person(corner.person.pk) == 2
    assert {row.text for row in Passage.objects.all()} == {"The gate is green", "A fine name"}
    assert PassageVector.objects.count() == 2
    assert not MemoryScope.objects.filter(person=corner.person).exists()
    kept = set(MemoryScope.objects.values_list("pk", flat=True))
    assert set(MemoryThread.objects.values_list("scope_id", flat=True)) == kept
    assert set(FreshTerms.objects.values_list("scope_id", flat=True)) == kept
    assert set(Posting.objects.values_list("scope_id", flat=True)) <= kept
    assert scopes.visible(group).passages == 1
    assert other.exact("gate") == {"The gate is green"}


def test_two_people_who_are_one_are_found_as_one(corner: Corner) -> None:
    other = Corner(corner.agent, factories.person(team=corner.person.team), said=50)
    other.say("The gate is green")
    corner.say("My gate is red")
    for one, fact in ((other, "I like tea"), (corner, "I like chess")):
        documents.append_facts([fact], home=one.home, source="x", at=NOON)
        one.settle()
    corner.embed()
    merging.move(other.person.pk, into_id=corner.person.pk)
    assert corner.exact("gate") == {"The gate is green", "My gate is red"}
    corner.settle()
    assert sorted(text.split()[-1] for text in corner.exact("I like")) == ["chess", "tea"]
    (kept,) = Passage.objects.filter(text__contains="tea", hidden_at=None)
    assert kept.source == f"memory:{MemoryDocument.objects.get(person=corner.person).pk}"
    visible = scopes.visible(corner.viewer)
    assert not other.exact("gate")
    assert len(legs.meaning(visible, [384**-0.5] * 384)) == visible.vectors
    third = Corner(corner.agent, factories.person(team=corner.person.team))
    merging.move(corner.person.pk, into_id=third.person.pk)
    assert third.exact("gate") == {"The gate is green", "My gate is red"}
