"""One's own memory over REST: read, forgotten, exported."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from agents.core.viewer import Viewer
from agents.models import Agent, ApiToken, AuditEvent, Person
from agents.services import tokens
from memory import wal
from memory.models import WalEntry
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2025, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def agent() -> Agent:
    return factories.agent()


@pytest.fixture
def person(agent: Agent) -> Person:
    return factories.member(team=agent.team)


@pytest.fixture
def http(person: Person) -> Client:
    scopes = [ApiToken.Scope.CHAT]
    _row, secret = tokens.issue(team=person.team, person=person, name="mine", scopes=scopes)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def note(agent: Agent, person: Person, fact: str) -> WalEntry:
    viewer = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
    wal.note(fact, viewer=viewer, source=f"turn:1 {fact}", thread="session:1", at=AT)
    return WalEntry.objects.get(text=fact)


def test_own_facts_are_read_page_by_page(agent: Agent, person: Person, http: Client) -> None:
    for number in range(3):
        note(agent, person, f"Door {number} is green")
    WalEntry.objects.filter(text="Door 2 is green").update(confidence=0.9)
    note(agent, factories.person(team=agent.team), "Somebody else's door is red")
    address = f"/api/v1/agents/{agent.public_id}/memory/facts"
    first = http.get(address, {"limit": 2}).json()
    second = http.get(address, {"limit": 2, "before_id": first["before_id"]}).json()
    texts = [item["text"] for item in first["items"] + second["items"]]
    assert texts == ["Door 2 is green", "Door 1 is green", "Door 0 is green"]
    assert [item["is_by_model"] for item in first["items"]] == [True, False]
    assert second["before_id"] is None


def test_own_fact_is_forgotten_and_nobody_elses(agent: Agent, person: Person, http: Client) -> None:
    own = note(agent, person, "The door is green")
    other = note(agent, factories.person(team=agent.team), "The gate is red")
    address = f"/api/v1/agents/{agent.public_id}/memory/facts"
    assert http.delete(f"{address}/{other.pk}").status_code == 404
    assert [http.delete(f"{address}/{own.pk}").status_code for _ in range(2)] == [204, 204]
    assert http.get(address).json()["items"] == []
    events = AuditEvent.objects.exclude(action="token.made").order_by("id")
    assert [(event.action, event.subject) for event in events] == [
        ("api.foreign_id", f"fact:{other.pk}"),
        ("fact.forgotten", f"fact:{own.pk}"),
    ]


def test_own_memory_is_exported_as_files(agent: Agent, person: Person, http: Client) -> None:
    note(agent, person, "The door is green")
    answer = http.get(f"/api/v1/agents/{agent.public_id}/memory/export", {"preset": "qanot"})
    assert answer.json()["files"]["MEMORY.md"].endswith("- [2025-01-15] The door is green\n")
