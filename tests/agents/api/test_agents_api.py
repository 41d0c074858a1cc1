"""Agents and their documents over REST: read, changed under their tags, by those who may."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from agents.models import (
    Agent,
    AgentDocument,
    ApiToken,
    AuditEvent,
    Membership,
    Person,
    ProviderAccount,
    Team,
)
from agents.services import documents, people, tokens
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

Role = Membership.Role
Scope = ApiToken.Scope


@dataclass
class Program:
    """A program with a token of an editor, and what it may reach."""

    http: AsyncClient
    team: Team
    agent: Agent
    person: Person
    headers: dict[str, str]

    async def call(self, method: str, path: str = "", body: object = None, **headers: str) -> Any:
        """Send one request below the agent's address."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.generic(
            method,
            f"/api/v1/agents/{self.agent.public_id}{path}",
            data=_json(body),
            content_type="application/json",
            headers=self.headers | named,
        )


def _json(body: object) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


def make_program(
    http: AsyncClient, *, role: str = Role.EDITOR, scopes: tuple[Scope, ...] = (Scope.AGENTS_WRITE,)
) -> Program:
    team = factories.team()
    user = factories.user()
    Membership.objects.create(user=user, team=team, role=role)
    agent = factories.agent(team=team, name="Bee")
    account = factories.provider_account(team=team, name="Ours")
    factories.chain_link(agent=agent, account=account, model="fake-1")
    documents.save(AgentDocument(agent=agent, name="SOUL.md"), text="Kind", author=None, reason="")
    factories.agent_document(
        agent=agent, name="USER.md", person=factories.person(team=team), text="private words"
    )
    person = people.person_of(user, team)
    _, secret = tokens.issue(team=team, person=person, name="test", scopes=list(scopes))
    return Program(http, team, agent, person, {"Authorization": f"Bearer {secret}"})


@pytest.fixture
def editor(async_client: AsyncClient) -> Program:
    return make_program(async_client)


@sync_to_async
def told(action: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(action=action))


def assert_problem(response: Any, status: int, code: str) -> None:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == code


async def test_an_agent_is_read_with_its_settings(editor: Program) -> None:
    response = await editor.call("GET")
    assert response.status_code == 200
    body = response.json()
    assert (body["name"], body["chain"]) == ("Bee", [{"account": "Ours", "model": "fake-1"}])
    assert body["documents"] == ["SOUL.md"]
    assert response["ETag"].startswith('"')


async def test_a_change_needs_the_tag_of_what_was_read(editor: Program) -> None:
    tag = (await editor.call("GET"))["ETag"]
    assert_problem(await editor.call("PATCH", "", {"name": "Ant"}), 428, "precondition_required")
    changed = await editor.call("PATCH", "", {"name": "Ant"}, If_Match=tag)
    assert (changed.status_code, changed.json()["name"]) == (200, "Ant")
    assert changed["ETag"] != tag
    late = await editor.call("PATCH", "", {"name": "Wasp"}, If_Match=tag)
    assert_problem(late, 412, "precondition_failed")
    again = await editor.call("PATCH", "", {"max_iterations": 5}, If_Match=changed["ETag"])
    assert again.json()["max_iterations"] == 5

    first, second = await told("agent.changed")
    fields = {tuple(event.changes["fields"]) for event in (first, second) if event.changes}
    assert fields == {("name",), ("max_iterations",)}
    assert first.reason.startswith("token:")


async def test_what_is_left_out_stays_and_null_lifts_the_cap(editor: Program) -> None:
    changed = await editor.call("PATCH", "", {"daily_cap_usd": None}, If_Match="*")
    body = changed.json()
    assert (body["daily_cap_usd"], body["name"], body["max_iterations"]) == (None, "Bee", 25)


async def test_the_chain_and_the_tools_are_put_in_order(editor: Program) -> None:
    link = await editor.agent.chain_links.aget()
    await editor.agent.chain_links.aupdate(window_tokens=77_000)
    body = {
        "chain": [{"account": "Ours", "model": "new"}, {"account": "Ours", "model": "fake-1"}],
        "tools": ["current_time"],
    }
    changed = await editor.call("PATCH", "", body, If_Match="*")
    assert changed.status_code == 200, changed.content
    assert changed.json()["chain"] == body["chain"]
    assert changed.json()["tools"] == ["current_time"]
    kept = await editor.agent.chain_links.aget(model="fake-1")
    assert (kept.pk, kept.window_tokens, kept.position) == (link.pk, 77_000, 2)
    unknown = await editor.call("PATCH", "", {"tools": ["no_such"], "name": "X"}, If_Match="*")
    assert_problem(unknown, 422, "invalid")
    assert unknown.json()["errors"][0]["field"] == "body.tools"
    assert (await Agent.objects.aget(pk=editor.agent.pk)).name == "Bee"


@pytest.mark.parametrize(
    "body",
    [
        {"name": " "},
        {"name": "a\nb"},
        {"language": "xx"},
        {"time_zone": "Mars/Olympus"},
        {"max_iterations": 0},
        {"daily_cap_usd": "-1"},
        {"team": 3},
        {"managed_by": "mine"},
    ],
)
async def test_what_is_no_value_is_refused(editor: Program, body: dict[str, object]) -> None:
    assert_problem(await editor.call("PATCH", "", body, If_Match="*"), 422, "invalid")
    assert await told("agent.changed") == []


async def test_a_document_is_saved_as_a_version(editor: Program) -> None:
    read = await editor.call("GET", "/documents/SOUL.md")
    assert (read.json()["text"], read["ETag"]) == ("Kind", '"v1"')
    new = {"text": "Kind and short", "reason": "Shorter"}
    assert_problem(
        await editor.call("PUT", "/documents/SOUL.md", new), 428, "precondition_required"
    )
    saved = await editor.call("PUT", "/documents/SOUL.md", new, If_Match='"v1"')
    assert (saved.status_code, saved.json()["version"], saved["ETag"]) == (200, 2, '"v2"')
    late = await editor.call("PUT", "/documents/SOUL.md", {"text": "x"}, If_Match='"v1"')
    assert_problem(late, 412, "precondition_failed")

    version = await AgentDocument.objects.aget(agent=editor.agent, name="SOUL.md")
    newest = await version.versions.order_by("-number").select_related("author").afirst()
    assert newest is not None
    assert (newest.number, newest.reason, newest.author_id) == (2, "Shorter", editor.person.user_id)
    [event] = await told("document.saved")
    assert "token:" in event.reason
    assert "short" not in str(event.changes)


async def test_a_new_document_is_made_once(editor: Program) -> None:
    new = {"text": "Hello"}
    made = await editor.call("PUT", "/documents/AGENTS.md", new, If_None_Match="*")
    assert (made.status_code, made.json()["version"]) == (201, 1)
    again = await editor.call("PUT", "/documents/AGENTS.md", new, If_None_Match="*")
    assert_problem(again, 412, "precondition_failed")
    assert_problem(
        await editor.call("PUT", "/documents/IDENTITY.md", new, If_Match='"v1"'),
        412,
        "precondition_failed",
    )


async def test_what_belongs_to_a_person_is_not_there(editor: Program) -> None:
    listed = await editor.call("GET", "/documents")
    assert [item["name"] for item in listed.json()["items"]] == ["SOUL.md"]
    assert_problem(await editor.call("GET", "/documents/USER.md"), 404, "not_found")
    put = await editor.call("PUT", "/documents/USER.md", {"text": "x"}, If_None_Match="*")
    assert_problem(put, 404, "not_found")


async def test_a_document_is_taken_over_within_the_team(editor: Program) -> None:
    other = await sync_to_async(factories.agent)(team=editor.team)
    await sync_to_async(documents.save)(
        AgentDocument(agent=other, name="SKILL.md"), text="Ours", author=None, reason=""
    )
    body = {"documents": {"SKILL.md": f"{other.public_id}/SKILL.md"}}
    changed = await editor.call("PATCH", "", body, If_Match="*")
    assert changed.json()["documents"] == ["SKILL.md", "SOUL.md"]
    taken = await AgentDocument.objects.aget(agent=editor.agent, name="SKILL.md")
    assert (taken.text, taken.version_number) == ("Ours", 1)


async def test_an_agents_tag_tells_of_its_documents_texts_too(editor: Program) -> None:
    other = await sync_to_async(factories.agent)(team=editor.team)
    await sync_to_async(factories.agent_document)(agent=other, name="SOUL.md", text="Theirs")
    seen = (await editor.call("GET"))["ETag"]
    await editor.call("PUT", "/documents/SOUL.md", {"text": "A colleague's"}, If_Match="*")
    body = {"documents": {"SOUL.md": f"{other.public_id}/SOUL.md"}}
    refused = await editor.call("PATCH", "", body, If_Match=seen)
    assert_problem(refused, 412, "precondition_failed")
    kept = await AgentDocument.objects.aget(agent=editor.agent, name="SOUL.md")
    assert kept.text == "A colleague's"


async def test_a_document_of_another_team_is_not_there_and_the_attempt_is_told(
    editor: Program, async_client: AsyncClient
) -> None:
    """An agent of one team cannot be made to use a document of another (isolation-5)."""
    theirs = await sync_to_async(make_program)(async_client)
    before = await AgentDocument.objects.filter(agent=editor.agent).acount()
    for name, reference in (
        ("SOUL.md", f"{theirs.agent.public_id}/SOUL.md"),
        ("SKILL.md", f"{theirs.agent.public_id}/NOT_THERE.md"),
    ):
        body = {"name": "Changed", "documents": {name: reference}}
        assert_problem(await editor.call("PATCH", "", body, If_Match="*"), 404, "not_found")
    assert await AgentDocument.objects.filter(agent=editor.agent).acount() == before
    assert (await Agent.objects.aget(pk=editor.agent.pk)).name == "Bee"
    events = await told("api.foreign_id")
    assert {(event.team_id, event.actor, event.subject) for event in events} == {
        (editor.team.pk, f"user:{editor.person.user_id}", f"agent:{theirs.agent.public_id}")
    }
    assert len(events) == 2


async def test_agents_and_accounts_of_another_team_are_not_there(
    editor: Program, async_client: AsyncClient
) -> None:
    theirs = await sync_to_async(make_program)(async_client)
    await ProviderAccount.objects.filter(team=theirs.team).aupdate(name="Theirs")
    body = {"chain": [{"account": "Theirs", "model": "m"}]}
    assert_problem(await editor.call("PATCH", "", body, If_Match="*"), 404, "not_found")
    own, editor.agent = editor.agent, theirs.agent
    for method, path, sent in (
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("GET", "/documents", None),
        ("GET", "/documents/SOUL.md", None),
        ("PUT", "/documents/SOUL.md", {"text": "x"}),
    ):
        answer = await editor.call(method, path, sent, If_Match="*")
        assert_problem(answer, 404, "not_found")
    events = await told("api.foreign_id")
    assert {event.team_id for event in events} == {editor.team.pk}
    assert len(events) == 6
    assert await own.chain_links.acount() == 1
    assert (await Agent.objects.aget(pk=theirs.agent.pk)).name == "Bee"
    # Names are guessed easily: a row only for those that exist would tell which do.
    editor.agent, body = own, {"chain": [{"account": "Nobody's", "model": "m"}]}
    assert_problem(await editor.call("PATCH", "", body, If_Match="*"), 404, "not_found")
    events = await told("api.foreign_id")
    assert {event.subject for event in events if "account" in event.subject} == {
        "account:Theirs",
        "account:Nobody's",
    }
    # An id that is nobody's is just not there.
    editor.agent = Agent()
    assert_problem(await editor.call("GET"), 404, "not_found")
    assert len(await told("api.foreign_id")) == 7


async def test_the_role_counts_at_the_moment_of_the_call(editor: Program) -> None:
    rows = Membership.objects.filter(user=editor.person.user)
    await rows.aupdate(role=Role.OPERATOR)
    assert (await editor.call("GET")).status_code == 200
    refused = await editor.call("PATCH", "", {"name": "x"}, If_Match="*")
    assert_problem(refused, 403, "role_missing")
    put = await editor.call("PUT", "/documents/SOUL.md", {"text": "x"}, If_Match="*")
    assert_problem(put, 403, "role_missing")
    await rows.aupdate(role=Role.MEMBER)
    assert_problem(await editor.call("GET"), 403, "role_missing")
    assert_problem(await editor.call("GET", "/documents/SOUL.md"), 403, "role_missing")


async def test_scopes_say_what_a_token_may(async_client: AsyncClient) -> None:
    reader = await sync_to_async(make_program)(async_client, scopes=(Scope.AGENTS_READ,))
    assert (await reader.call("GET")).status_code == 200
    assert_problem(await reader.call("PATCH", "", {}, If_Match="*"), 403, "scope_missing")
    talker = await sync_to_async(make_program)(async_client, scopes=(Scope.CHAT,))
    assert_problem(await talker.call("GET"), 403, "scope_missing")
    listed = await async_client.get("/api/v1/agents", headers=reader.headers)
    assert [item["id"] for item in listed.json()["items"]] == [str(reader.agent.public_id)]


async def test_what_a_file_owns_is_not_changed_here(editor: Program) -> None:
    await Agent.objects.filter(pk=editor.agent.pk).aupdate(managed_by="team.toml")
    for method, path, body in (
        ("PATCH", "", {"name": "x"}),
        ("PUT", "/documents/SOUL.md", {"text": "x"}),
    ):
        answer = await editor.call(method, path, body, If_Match="*")
        assert_problem(answer, 409, "managed_by_file")
        assert "team.toml" in answer.json()["detail"]
