"""Nobody is told what is not theirs: every way in which memory is read, found and walked.

What there is to walk comes from the tool registry, the API's description, the commands, the
admin's registry and the URL configuration; one that this test does not know fails it. Two people
and a group talk with one agent, one of them with a second agent; a second team stands beside.
"""

import asyncio
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import call_command, get_commands
from django.db import connection
from django.test import Client

from agents.core.tooling import ToolContext, ToolRefused
from agents.core.viewer import Viewer
from agents.models import Agent, ApiToken, Person, Team
from agents.services import tokens
from agents.tools import registry
from memory import documents, exports, notes, recall, uploads, wal
from memory.index import exchanges
from memory.index.work import finish
from memory.models import MemorySettings, Passage, Scope, UploadedDocument, WalEntry, scope_of
from memory.prompt import memory_parts
from memory.reading.parts import Part, Parts
from memory.search import search
from qanot_site.api import api
from tests import factories
from tests.qanot_site import admin_scene
from tests.qanot_site.walking import steps

AT: Final = datetime(2025, 1, 15, 12, tzinfo=UTC)
# What each viewer may be told, by whose part of memory it lies in.
MAY_KNOW: Final = {
    "anna": {"anna", "agent", "team"},
    "bobur": {"bobur", "agent", "team"},
    "group": {"group", "agent", "team"},
    "unknown": {"agent", "team"},
    "second": {"second", "team"},
    "theirs": {"theirs"},
}
OWNERS: Final = ("anna", "bobur", "group", "agent", "team", "second", "theirs")


def canary(owner: str) -> str:
    return f"zqcanary{owner}zq"


@dataclass(frozen=True, slots=True)
class World:
    """The viewers, as sessions would make them, and who of them is which person."""

    viewers: dict[str, Viewer]
    people: dict[str, Person]
    agents: dict[str, Agent]


def build() -> World:
    team, other = factories.team(), factories.team()
    first, second = factories.agent(team=team), factories.agent(team=team)
    foreign = factories.agent(team=other)
    anna, bobur = factories.member(team=team), factories.member(team=team)
    stranger, chat = factories.member(team=other), factories.chat(team=team)
    viewers = {
        "anna": Viewer(team.pk, first.pk, person_id=anna.pk, is_private=True),
        "bobur": Viewer(team.pk, first.pk, person_id=bobur.pk, is_private=True),
        "group": Viewer(team.pk, first.pk, person_id=anna.pk, chat_id=chat.pk),
        "unknown": Viewer(team.pk, first.pk, is_private=True),
        "second": Viewer(team.pk, second.pk, person_id=anna.pk, is_private=True),
        "theirs": Viewer(other.pk, foreign.pk, person_id=stranger.pk, is_private=True),
    }
    for each in Team.objects.all():
        # The meaning's leg is narrowed in the same statement's tests (tests/memory/index).
        MemorySettings.objects.create(team=each, embedder=MemorySettings.Embedder.NONE)
    for owner in ("anna", "bobur", "group", "second", "theirs"):
        _fill(viewers[owner], canary(owner))
    _fill_shared({"team_id": team.pk, "agent_id": first.pk, "scope": Scope.AGENT}, canary("agent"))
    _fill_shared({"team_id": team.pk, "scope": Scope.TEAM}, canary("team"))
    finish()
    return World(
        viewers,
        {"anna": anna, "bobur": bobur, "second": anna, "theirs": stranger},
        {"anna": first, "bobur": first, "second": second, "theirs": foreign},
    )


def _fill(viewer: Viewer, word: str) -> None:
    """Let a viewer leave the word in every kind of row that memory has."""
    wal.append(
        f"Remember that the {word} fact is green",
        viewer=viewer,
        source=f"message:{word}",
        thread=f"session:{word}/1",
        author_id=viewer.person_id,
        at=AT,
    )
    wal.note(f"The {word} note is blue", viewer=viewer, source=f"turn:{word} a", thread="x", at=AT)
    notes.add_exchange(
        viewer=viewer,
        question=f"What of {word}?",
        answer=f"It is {word}.",
        at=AT,
        time_zone="UTC",
        source=f"turn:{word}"[:64],
    )
    exchanges.add(
        viewer=viewer,
        said=f"Tell me about {word}",
        answer=f"All is well with {word}",
        at=AT,
        time_zone="UTC",
        source=f"turn:{word}",
        thread=f"session:{word}/1",
    )
    documents.save(scope_of(viewer), "memory/plan.md", f"# Plan\n\nOf {word}\n", source="x")
    _upload(scope_of(viewer), word)


def _fill_shared(home: dict[str, object], word: str) -> None:
    documents.append_facts([f"The {word} is shared"], home=home, source="x", at=AT)
    factories.wal_entry(**home, text=f"The {word} is shared", source=f"message:{word}")
    _upload(home, word)


def _upload(home: dict[str, object], word: str) -> None:
    """Store a document as it is once it was read."""
    text = f"The {word} handbook"
    document, _ = uploads.add(text.encode(), name=f"{word}.md", home=home, source="x")
    claimed = uploads.claim(document.pk)
    assert claimed is not None
    assert uploads.settle(claimed, Parts(parts=(Part(text=text),)))


def leaks(said: object, name: str) -> set[str]:
    """Return whose words somebody was told who may not know them."""
    text = said if isinstance(said, str) else json.dumps(said, default=str, ensure_ascii=False)
    return {owner for owner in OWNERS if canary(owner) in text} - MAY_KNOW[name]


def context(viewer: Viewer) -> ToolContext:
    return ToolContext(viewer, "agent:1", "session:0", "turn:0", "call", "UTC", 30)


# --- what memory gives by itself -----------------------------------------------------------------


@pytest.mark.django_db
def test_case_isolation_2_every_function_that_reads_tells_each_viewer_their_own() -> None:
    world = build()
    for name, viewer in world.viewers.items():
        parts = memory_parts(viewer, thread=f"session:{canary('bobur')}/1", now=AT)
        assert leaks(f"{parts.session_state} {parts.long_term}", name) == set()
        assert leaks(exports.export(viewer), name) == set()
        for owner in OWNERS:
            found = search(viewer, canary(owner), now=AT, limit=50)
            assert leaks([hit.as_json() for hit in found.found], name) == set(), owner
            is_found = any(canary(owner) in hit.content for hit in found.found)
            assert is_found == (owner in MAY_KNOW[name]), (name, owner)
            kinds = [Passage.Kind.DOCUMENT]
            told = search(viewer, canary(owner), now=AT, limit=50, kinds=kinds).found
            assert leaks([hit.as_json() for hit in told], name) == set(), owner
            is_there = any(
                "handbook" in hit.content and canary(owner) in hit.content for hit in told
            )
            assert is_there == (owner in MAY_KNOW[name]), (name, owner)
            asked = f"What about {canary(owner)}?"
            recalled = recall.recall(recall.look(viewer, asked), now=AT, shown=(), is_first=True)
            said = recalled.text.replace(asked, "")
            assert leaks(said, name) == set(), owner
            assert "handbook" not in said
            everybodys = [
                recall.Item(id=str(row.pk), source=row.source) for row in Passage.objects.all()
            ]
            shown = [each.text for each in recall.with_words(everybodys, viewer) if each.text]
            assert leaks(shown, name) == set()


@pytest.mark.django_db
def test_case_isolation_1_nothing_of_one_person_is_in_anothers_prompt() -> None:
    world = build()
    wal.append(
        "My salary is 5000, remember it",
        viewer=world.viewers["anna"],
        source="message:salary",
        thread="session:1/1",
        author_id=world.people["anna"].pk,
        at=AT,
    )
    finish()
    viewer = world.viewers["bobur"]
    parts = memory_parts(viewer, thread="session:2/1", now=AT)
    asked = recall.recall(
        recall.look(viewer, "what is my salary?"), now=AT, shown=(), is_first=True
    )
    assert "5000" not in f"{parts.session_state}{parts.long_term}{asked.text}"
    own = memory_parts(world.viewers["anna"], thread="session:1/1", now=AT)
    assert "5000" in own.session_state + own.long_term


@pytest.mark.django_db
def test_case_isolation_4_each_agent_has_its_own_rows() -> None:
    team = factories.team()
    person = factories.person(team=team)
    MemorySettings.objects.create(team=team, embedder=MemorySettings.Embedder.NONE)
    agents = [factories.agent(team=team) for _ in range(4)]
    for number, agent in enumerate(agents):
        viewer = Viewer(team.pk, agent.pk, person_id=person.pk, is_private=True)
        wal.note(
            f"The door is number{number}", viewer=viewer, source=f"t{number}", thread="x", at=AT
        )
    finish()
    viewer = Viewer(team.pk, agents[1].pk, person_id=person.pk, is_private=True)
    found = search(viewer, "door", now=AT)
    assert {word for hit in found.found for word in hit.content.split() if "number" in word} == {
        "number1"
    }


# --- tools ---------------------------------------------------------------------------------------

# How each tool that reads memory is called; the others read none of it.
READING: Final[dict[str, list[dict[str, Any]]]] = {
    "memory_search": [{"query": canary(owner)} for owner in OWNERS],
    "memory": [
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": "/memories/plan.md"},
        {"command": "view", "path": "/memories/MEMORY.md"},
    ],
    "memory_recalled": [{}],
    "rag_list": [{}],
    "rag_search": [{"query": canary(owner)} for owner in OWNERS],
    # Takes out what is the viewer's own; of what others have it does not say that it is there.
    "rag_forget": [{"document": f"{canary(owner)}.md"} for owner in OWNERS],
}
NOT_READING: Final = {
    *("current_time", "daily_note", "finish_bootstrap", "memory_append", "memory_edit"),
    *("propose_document", "rag_index", "read_file", "remember_fact", "send_file"),
    *("session_status", "update_user_document"),
}


@pytest.mark.django_db(transaction=True)
async def test_no_tool_tells_what_is_not_the_viewers() -> None:
    world = await asyncio.to_thread(_built)
    ours = {name for name in registry.names() if _is_ours(name)}
    assert ours <= {*READING, *NOT_READING}, "a tool that this test does not know"
    for tool_name in sorted(ours & set(READING)):
        tool, calls = registry.get(tool_name), READING[tool_name]
        assert tool is not None
        for name, viewer in world.viewers.items():
            for arguments in calls:
                try:
                    parsed = tool.arguments.model_validate(arguments)
                    said = await tool.run(parsed, context(viewer))
                except ToolRefused as refusal:
                    said = str(refusal)
                assert leaks(said, name) == set(), (tool_name, name)


def _built() -> World:
    try:
        return build()
    finally:
        connection.close()


def _is_ours(name: str) -> bool:
    tool = registry.get(name)
    return tool is not None and not tool.run.__module__.startswith("tests")


# --- REST ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_no_operation_tells_what_is_not_the_tokens_persons() -> None:
    world = build()
    secrets = {name: _secret(person) for name, person in world.people.items()}
    walked = 0
    for path, operations in api.get_openapi_schema()["paths"].items():
        operation = operations.get("get")
        if operation is None or operation["operationId"] == "stream_turn":
            continue
        for name, secret in secrets.items():
            for agent in set(world.agents.values()):
                for query in _queries(operation, agent):
                    answer = Client().get(
                        _path(path, agent), query, headers={"Authorization": f"Bearer {secret}"}
                    )
                    assert answer.status_code < 500, path
                    # A person is the same with each agent, and is told what lies there.
                    names = ("anna", "second") if name in ("anna", "second") else (name,)
                    said = answer.content.decode()
                    told = set.intersection(*(leaks(said, each) for each in names))
                    assert told == set(), (path, name)
                    walked += 1
    assert walked > 20


def _secret(person: Person) -> str:
    scopes = [ApiToken.Scope.CHAT]
    _row, secret = tokens.issue(team=person.team, person=person, name="walk", scopes=scopes)
    return secret


def _queries(operation: dict[str, Any], agent: Agent) -> Iterator[dict[str, str]]:
    named = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
    base = {"agent": str(agent.public_id)} if "agent" in named else {}
    if "query" not in named:
        yield base
        return
    for owner in OWNERS:
        yield base | {"query": canary(owner)}


def _path(path: str, agent: Agent) -> str:
    path = path.replace("{agent_id}", str(agent.public_id))
    nothing = "01900000-0000-7000-8000-000000000000"
    path = path.replace("{name}", "SOUL.md").replace("{fact_id}", "1")
    somebodys = UploadedDocument.objects.filter(agent=agent).values_list("public_id", flat=True)
    path = path.replace("{document_id}", str(somebodys.first()))
    path = path.replace("{file_id}", nothing)
    return path.replace("{turn_id}", nothing).replace("{conversation_id}", nothing)


# --- commands ------------------------------------------------------------------------------------

OURS: Final = ("agents", "memory", "sessions", "qanot_site")
# Of the deployment or of settings: they tell nobody's memory to anybody.
COMMANDS: Final = {
    *("makemessages", "migrate", "test", "apply", "backup", "bench", "doctor", "export", "poller"),
    *("check", "prepare", "restore", "rotate_keys", "token", "up"),
    # It tells the administrator of the person that they name, and of nobody else.
    "person",
    # They work on files that they are given, in rows of their own.
    *("evaluate_memory", "evaluate_recall", "evaluate_wal", "import_workspace"),
}


@pytest.mark.django_db
def test_no_command_tells_what_is_not_the_named_persons(tmp_path: Path) -> None:
    ours = {name for name, app in get_commands().items() if str(app).split(".")[0] in OURS}
    assert ours <= {*COMMANDS, "memory", "export_workspace"}, (
        "a command that this test does not know"
    )
    world = build()
    for name in ("anna", "bobur", "unknown", "second", "theirs"):
        agent = Agent.objects.get(pk=world.viewers[name].agent_id)
        person = world.people.get(name)
        for owner in OWNERS:
            out = io.StringIO()
            arguments = ["memory", "search", canary(owner), "--agent", agent.slug]
            arguments += ["--team", agent.team.slug, "--json"]
            if person is not None:
                arguments += ["--person", str(person.public_id)]
            call_command(*arguments, stdout=out, stderr=io.StringIO())
            found = json.loads(out.getvalue())["found"]
            assert leaks(found, name) == set(), (name, owner)
        whose = ["--agent", agent.slug, "--team", agent.team.slug]
        whose += ["--person", str(person.public_id)] if person is not None else []
        call_command("export_workspace", str(tmp_path / name), *whose, stdout=io.StringIO())
        written = [file.read_text() for file in (tmp_path / name).rglob("*") if file.is_file()]
        assert any("canary" in text for text in written) or person is None
        assert leaks("".join(written), name) == set(), name
        if person is not None:
            out = io.StringIO()
            call_command("memory", "documents", "list", *whose, "--json", stdout=out)
            assert leaks(out.getvalue(), name) == set(), name


# --- pages ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_no_page_of_memory_tells_one_persons_words_to_another() -> None:
    """By an owner of the same team; that pages of all kinds are walked is `test_walk`'s matter."""
    ours = admin_scene.build_side("ours")
    client = Client()
    client.force_login(ours.users["owner"])
    walked = 0
    for step in steps(ours):
        is_memory = step.model is not None and step.model._meta.app_label == "memory"
        if not (
            is_memory or "memory" in step.name or step.name.startswith("admin:bot_sessions_turn")
        ):
            continue
        for row in ours.rows.get(step.model, [None]) if step.model and step.takes_row else [None]:
            path = step.path if row is None else _with_row(step.path, ours, step.model, row)
            answer = client.get(path)
            assert admin_scene.PRIVATE not in answer.content.decode(), path
            walked += 1
    assert walked > 20


def _with_row(path: str, side: Any, model: Any, row: Any) -> str:
    first = side.rows[model][0]
    return path.replace(f"/{first.pk}/", f"/{row.pk}/")


@pytest.mark.django_db
def test_only_owners_change_what_is_kept_of_the_team_and_persons_their_own() -> None:
    ours = admin_scene.build_side("ours")
    private, shared = ours.rows[WalEntry]
    for role, row, status in (
        ("owner", private, 403),
        ("person", private, 302),
        ("operator", shared, 403),
        ("editor", shared, 302),
    ):
        client = Client()
        client.force_login(ours.users[role])
        answer = client.post(f"/admin/memory/walentry/{row.pk}/forget/")
        assert answer.status_code == status, (role, row.scope)


def test_every_tool_that_reads_files_taints_what_is_remembered_after_it() -> None:
    for name in ("read_file", "rag_index", "rag_search"):
        tool = registry.get(name)
        assert tool is not None
        assert tool.brings_outside, name
