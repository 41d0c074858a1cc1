"""Search shows a viewer their own lines, with their places in the exported files."""

import json
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.test import AsyncClient, Client
from django.urls import reverse

from agents.core.viewer import Viewer
from agents.db import in_db
from agents.models import Agent, ApiToken, Membership, Person
from agents.services import people, tokens
from memory import documents, wal
from memory.index import exchanges
from memory.models import Origin, Passage, Scope, WalEntry
from tests import factories

from .conftest import Scene, look
from .test_tools import call, context

QUERIES = (
    *(f"INV-{number}" for number in range(6)),
    *("invoice", "invoices that came", "which invoice came?", "keep it in mind"),
    *("green tea", "tea", "what do I drink?", "what is drunk in the morning?", "good choice"),
    *("office floor", "where is the office?", "third", "zelyonyy chay", "which comets fell?"),
)


def tell(text: str, viewer: Viewer, at: datetime) -> None:
    source = f"message:{WalEntry.objects.count()}"
    wal.append(text, viewer=viewer, source=source, thread="session:1/1", author_id=None, at=at)


def talk(said: str, answer: str, viewer: Viewer, at: datetime) -> None:
    exchanges.add(
        viewer=viewer,
        said=said,
        answer=answer,
        at=at,
        time_zone="UTC",
        source=f"turn:{Passage.objects.count()}",
        thread="session:1/1",
    )


def test_facts_documents_and_what_was_said_are_searched(scene: Scene, noon: datetime) -> None:
    tell("I like green tea", scene.anna, noon)
    talk("Is green tea healthy?", "Yes, green tea is.", scene.anna, noon)
    found = look("green tea", scene.anna, noon)
    # The fact, its line in MEMORY.md and what was said are one; so the agent's answer is another.
    assert len(found) == 3
    assert all(hit.file and hit.source and hit.is_exact for hit in found)
    assert found[0].also or found[1].also or found[2].also


def test_others_find_nothing_of_a_persons(scene: Scene, noon: datetime) -> None:
    tell("Remember that my salary is high", scene.anna, noon)
    talk("my salary is high", "noted", scene.anna, noon)
    assert look("salary", scene.anna, noon)
    for other in (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team):
        assert look("salary", other, noon) == []


def test_replaced_and_taken_back_facts_are_never_found(scene: Scene, noon: datetime) -> None:
    tell("My name is Sarvar", scene.anna, noon)
    tell("Actually, my name is Sardor, not Sarvar", scene.anna, noon)
    facts = [hit.content for hit in look("name", scene.anna, noon) if hit.kind == "fact"]
    assert facts
    assert all("Sardor" in fact for fact in facts)
    assert "My name is Sarvar" not in facts


def test_what_came_from_outside_is_not_found(scene: Scene, noon: datetime) -> None:
    tell("Let's use Redis", scene.anna, noon)
    Passage.objects.update(origin=Origin.UNTRUSTED)
    assert look("Redis", scene.anna, noon) == []


@pytest.mark.django_db(transaction=True)
async def test_case_memory_search_3_same_ids_in_the_same_order_everywhere(
    noon: datetime,
    client: Client,
    async_client: AsyncClient,
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent, person, secret = await in_db(_owner)
    viewer = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
    await in_db(_fill, viewer, noon)
    assert person.user
    await in_db(client.force_login, person.user)
    for query in QUERIES:
        wanted = [hit.id for hit in await in_db(look, query, viewer, datetime.now(UTC))]
        told = json.loads(await call("memory_search", context(viewer), query=query))
        assert [hit["id"] for hit in told] == wanted
        answer = await async_client.get(
            "/api/v1/memory/search",
            {"agent": str(agent.public_id), "query": query},
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert [hit["id"] for hit in answer.json()["items"]] == wanted
        given = ["search", query, "--agent", agent.slug, "--person", str(person.public_id)]
        await in_db(call_command, "memory", *given, "--json")
        printed = json.loads(capsys.readouterr().out)
        assert [hit["id"] for hit in printed["found"]] == wanted
        assert await in_db(_ids_on_the_page, client, agent, query) == wanted


def _ids_on_the_page(client: Client, agent: Agent, query: str) -> list[str]:
    page = reverse("admin:agents_agent_memory_search", args=[agent.pk])
    # It shows twice as many.
    return [hit.found.id for hit in client.get(page, {"q": query}).context["hits"]][:10]


def _owner() -> tuple[Agent, Person, str]:
    team, user = factories.team(), factories.user()
    Membership.objects.create(user=user, team=team, role=Membership.Role.EDITOR)
    person = people.person_of(user, team)
    _, secret = tokens.issue(
        team=team, person=person, name="test", scopes=[ApiToken.Scope.CHAT], by="test"
    )
    return factories.agent(team=team), person, secret


def _fill(viewer: Viewer, noon: datetime) -> None:
    for number in range(6):
        talk(f"Invoice INV-{number} came", "I will keep it in mind.", viewer, noon)
    talk("I drink green tea in the morning", "Good choice.", viewer, noon)
    talk("The office is on the third floor", "Noted.", viewer, noon)
    tell("I like green tea", viewer, noon)


@pytest.mark.django_db(transaction=True)
async def test_search_over_rest_is_for_agents_of_the_team(async_client: AsyncClient) -> None:
    _, _, secret = await in_db(_owner)
    other = await in_db(factories.agent)
    answer = await async_client.get(
        "/api/v1/memory/search",
        {"agent": str(other.public_id), "query": "tea"},
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 404


def test_shared_documents_are_found_by_everybody_of_the_team(scene: Scene, noon: datetime) -> None:
    home = {"team_id": scene.team.pk, "scope": Scope.TEAM}
    documents.append_facts(["Office opens at 9"], home=home, source="test", at=noon)
    (found,) = look("office", scene.unknown, noon)
    assert (found.file, found.kind) == ("team/MEMORY.md", "document")
    assert found.line is not None
    assert look("office", scene.other_team, noon) == []
