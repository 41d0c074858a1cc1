"""Documents over REST: one's own are brought, watched and removed; shared ones are seen."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.models import Agent, ApiToken
from agents.services import tokens
from memory import uploads
from memory.index import postings
from memory.models import MemorySettings, UploadedDocument
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


class Caller:
    """A person's token with one agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.person = agent, factories.member(team=agent.team)
        scopes = [ApiToken.Scope.CHAT]
        _row, secret = tokens.issue(team=agent.team, person=self.person, name="test", scopes=scopes)
        self._headers = {"Authorization": f"Bearer {secret}"}

    # Any: Django's test client adds `json` and the like to its answers.
    def ask(self, method: str, rest: str = "", **given: Any) -> Any:
        address = f"/api/v1/agents/{self.agent.public_id}/memory/documents{rest}"
        return getattr(Client(), method)(address, given, headers=self._headers)

    def search(self, **given: Any) -> Any:
        given |= {"agent": str(self.agent.public_id)}
        return Client().get("/api/v1/memory/search", given, headers=self._headers).json()["items"]


@pytest.fixture
def caller() -> Caller:
    agent = factories.agent()
    MemorySettings.objects.create(team=agent.team, embedder=MemorySettings.Embedder.NONE)
    return Caller(agent)


def note(text: bytes = b"Trains: code ZQ-77", name: str = "note.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text)


def test_a_document_is_brought_watched_searched_and_removed(caller: Caller) -> None:
    made = caller.ask("post", file=note())
    assert made.status_code == 201
    body = made.json()
    assert (body["name"], body["of"], body["state"]) == ("note.txt", "person", "waiting")
    again = caller.ask("post", file=note(name="other.txt"))
    assert (again.status_code, again.json()["id"]) == (200, body["id"])
    uploads.read_one()
    while postings.index_waiting():
        pass
    one = caller.ask("get", f"/{body['id']}").json()
    assert (one["state"], one["pieces"], one["found_percent"]) == ("ready", 1, 100)
    assert caller.search(query="ZQ-77") == []
    (found,) = caller.search(query="ZQ-77", kind="document")
    assert found["file"] == "note.txt"
    assert caller.ask("delete", f"/{body['id']}").status_code == 204
    assert caller.ask("delete", f"/{body['id']}").status_code == 404
    assert caller.search(query="ZQ-77", kind="document") == []


def test_what_is_refused_says_why(caller: Caller) -> None:
    answer = caller.ask("post", file=note(b"x", "virus.exe"))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert "pdf, docx, xlsx" in answer.json()["detail"]
    answer = caller.ask("post", file=note(bytes(20 * 2**20 + 1)))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    caller.ask("post", file=note(b"%PDF-1.7", "a.pdf"))
    uploads.read_one()
    (listed,) = caller.ask("get").json()["items"]
    assert (listed["state"], listed["error"]["code"]) == ("failed", "broken")


def test_shared_ones_are_seen_and_stay_and_others_are_not_there(caller: Caller) -> None:
    agent = caller.agent
    shared = factories.uploaded_document(team=agent.team, scope="agent", agent=agent)
    others = factories.uploaded_document(agent=agent)
    foreign = factories.uploaded_document()
    assert [each["id"] for each in caller.ask("get").json()["items"]] == [str(shared.public_id)]
    for document in (shared, others, foreign):
        assert caller.ask("delete", f"/{document.public_id}").status_code == 404
    for document in (others, foreign):
        assert caller.ask("get", f"/{document.public_id}").status_code == 404
    assert UploadedDocument.objects.count() == 3


def test_pages_go_back_in_time(caller: Caller) -> None:
    for number in range(3):
        caller.ask("post", file=note(f"Note {number}".encode(), f"{number}.txt"))
    first = caller.ask("get", limit=2).json()
    assert [each["name"] for each in first["items"]] == ["2.txt", "1.txt"]
    rest = caller.ask("get", limit=2, before=first["before"]).json()
    assert ([each["name"] for each in rest["items"]], rest["before"]) == (["0.txt"], None)
