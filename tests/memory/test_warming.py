"""What a worker loads before the first message comes."""

import pytest

from memory import warming
from memory.models import MemorySettings
from tests import factories
from tests.memory.index.conftest import Corner

pytestmark = pytest.mark.django_db


def test_nothing_is_loaded_where_no_agent_remembers() -> None:
    factories.agent(keeps_memory=False)
    assert not warming.warm()


def test_model_is_loaded_once_there_are_vectors_to_compare_with() -> None:
    person = factories.person()
    corner = Corner(factories.agent(team=person.team), person)
    MemorySettings.objects.create(team=person.team, embedder=MemorySettings.Embedder.BUILTIN)
    assert not warming.warm()
    corner.say("The gate is green")
    assert not warming.warm()
    corner.embed()
    assert warming.warm()
