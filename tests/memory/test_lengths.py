"""How long MEMORY.md is for a prompt, with exact figures."""

import pytest

from agents.core.prompt import MEMORY, Source, assemble
from agents.core.viewer import Viewer
from memory.lengths import length_of, too_long
from memory.models import Scope
from memory.prompt import memory_parts
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_figures_are_those_of_the_prompt() -> None:
    agent = factories.agent()
    person = factories.person(team=agent.team)
    document = factories.memory_document(agent=agent, person=person, text="m" * 25_000)
    factories.memory_document(agent=None, team=agent.team, scope=Scope.TEAM, text="t" * 300)
    viewer = Viewer(agent.team_id, agent.pk, person.pk, is_private=True)
    part = memory_parts(viewer, thread="", now=NOON).long_term
    (entry,) = assemble([Source(MEMORY, part)], preset="default", values={}).manifest

    length = length_of(document)
    assert (length.characters, length.together) == (25_000, len(part))
    assert length.removed == entry["cut"] == 7_000 + len(part) - 25_000


def test_document_alone_within_the_limit_is_too_long_with_the_shared_ones() -> None:
    agent = factories.agent()
    document = factories.memory_document(agent=agent, text="m" * 15_000)
    assert list(too_long()) == []
    factories.memory_document(agent=agent, team=agent.team, scope=Scope.AGENT, text="a" * 6_000)
    (found,) = too_long()
    assert found.document == document
    assert found.length.removed > 0


def test_shared_document_that_is_too_long_is_named_once_and_not_with_everybodys() -> None:
    agent = factories.agent()
    factories.memory_document(agent=agent, text="m" * 100)
    factories.memory_document(agent=agent, text="n" * 100)
    shared = factories.memory_document(
        agent=agent, team=agent.team, scope=Scope.AGENT, text="a" * 21_000
    )
    assert [found.document for found in too_long()] == [shared]


def test_other_teams_memory_is_not_counted() -> None:
    agent = factories.agent()
    factories.memory_document(agent=agent, text="m" * 15_000)
    other = factories.agent()
    factories.memory_document(agent=other, team=other.team, scope=Scope.AGENT, text="a" * 6_000)
    factories.memory_document(agent=None, team=other.team, scope=Scope.TEAM, text="a" * 6_000)
    assert list(too_long()) == []


def test_heading_of_the_file_does_not_count_where_the_prompt_has_its_own() -> None:
    text = "# MEMORY.md -- Long-Term Memory\n\n- [2026-11-30] Tea\n"
    document = factories.memory_document(text=text)
    assert length_of(document).together == len(
        "# Your Long-Term Memory\n\n## About this person\n\n- [2026-11-30] Tea"
    )
