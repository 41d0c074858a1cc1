"""A person who is erased is in no table of the index."""

import pytest

from agents.core.viewer import Viewer
from memory.index import erasing, scopes, writing
from memory.index.writing import Text
from memory.models import (
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
    assert set(Posting.objects.values_list("scope_id", flat=True)) == kept
    assert scopes.visible(group).passages == 1
    assert other.exact("gate") == {"The gate is green"}
