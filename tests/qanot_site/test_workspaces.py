"""Workspaces: taken in once, told line by line, and written out as they were."""

import io
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.core.viewer import Viewer
from agents.models import Agent, AgentDocument, AuditEvent, Person
from agents.services import documents as personas
from memory import documents, notes, wal
from memory.index.work import finish
from memory.models import DailyNote, MemoryDocument, Scope, WalEntry, scope_of
from memory.search import search
from qanot_site import workspaces
from tests import factories

pytestmark = pytest.mark.django_db
AT = datetime(2025, 1, 15, 10, 30, 0, 123456, tzinfo=UTC)
CONFIG = {
    "bot_name": "Lola",
    "timezone": "Asia/Tashkent",
    "language": "uz",
    "bot_token": "123:very-secret",
    "api_key": "sk-secret",
    "model": "some-model",
    "max_iterations": 12,
}
QANOT = {
    "SOUL.md": "# Soul\n\nWarm.\r\nExact.",
    "TOOLS.md": "None yet.\n",
    "USER.md": "Likes tea.\n",
    "MEMORY.md": "# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] My name is Sardor\n",
    "SESSION-STATE.md": (
        "# SESSION-STATE.md -- Active Working Memory\n\n"
        "- [2025-01-15T10:30:00+00:00] **proper_noun**: My name is Sardor\n"
        "- [2025-01-15T10:31:00+00:00] **preference**: I don't like coffee\n"
    ),
    "memory/2025-01-15.md": (
        "# Daily Notes -- 2025-01-15\n\n"
        "## [10:30:00]\n**User:** Tell me about FastAPI...\n"
        "**Agent:** FastAPI is a modern Python web framework...\n\n"
        "## [11:30:00]\n**Note:** A quiet day\n"
    ),
    "memory/projects/house.md": "# House\n\nThe roof is new.\n",
    "config.json": json.dumps(CONFIG),
}


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run(*words: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*(str(word) for word in words), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def rows(agent: Agent) -> list[object]:
    """Return what an agent remembers, without keys and sources."""
    noted = WalEntry.objects.filter(agent=agent).order_by("created_at", "id")
    facts = noted.values_list("scope", "category", "text", "is_durable", "value", "is_negated")
    kept = MemoryDocument.objects.filter(agent=agent).order_by("name")
    said = DailyNote.objects.filter(agent=agent).order_by("occurred_at", "id")
    return [
        [*facts],
        [row.created_at.replace(microsecond=0) for row in noted],
        [*kept.values_list("scope", "name", "text")],
        [*said.values_list("scope", "day", "question", "answer", "text")],
        # A file tells the offset of a time, not what the zone is called.
        [
            row.occurred_at.astimezone(ZoneInfo(row.time_zone)).isoformat("T", "seconds")
            for row in said
        ],
        [*AgentDocument.objects.filter(agent=agent).order_by("name").values_list("name", "text")],
    ]


@pytest.fixture
def agent() -> Agent:
    return factories.agent(slug="lola", time_zone="Asia/Tashkent")


@pytest.fixture
def sardor(agent: Agent) -> Person:
    return factories.person(team=agent.team, display_name="Sardor")


def test_qanots_workspace_becomes_rows_that_are_found(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    said, wrong = run(
        "import_workspace", write(tmp_path, QANOT), "--agent", "lola", "--person", "Sardor"
    )

    assert wrong == ""
    assert "SOUL.md: new, 21 characters" in said
    assert "memory/2025-01-15.md: 2 new entries" in said
    agent.refresh_from_db()
    assert (agent.name, agent.language, agent.max_iterations) == ("Lola", "uz", 12)
    facts = WalEntry.objects.filter(person=sardor).order_by("created_at")
    assert [(row.category, row.is_negated, row.value) for row in facts] == [
        ("proper_noun", False, "Sardor"),
        ("preference", True, "coffee"),
    ]
    note = DailyNote.objects.get(question__startswith="Tell me")
    assert note.occurred_at == datetime(2025, 1, 15, 5, 30, tzinfo=UTC)
    finish()
    viewer = workspaces.viewer_of(agent, sardor)
    for query in ("FastAPI framework", "coffee", "roof"):
        assert search(viewer, query, now=AT).found, query
    stranger = factories.person(team=agent.team)
    assert not search(workspaces.viewer_of(agent, stranger), "coffee", now=AT).found


def test_keys_and_tokens_are_named_and_never_taken(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    said, wrong = run("import_workspace", write(tmp_path, QANOT), "--agent", "lola")
    assert "keys and tokens are never taken: api_key, bot_token" in said
    assert "secret" not in (said + wrong).replace("sk-secret", "LEAK")
    assert "LEAK" not in (said + wrong).replace("sk-secret", "LEAK")
    changes = AuditEvent.objects.get(action="agent.changed").changes
    assert "secret" not in str(changes)


def test_a_second_time_nothing_is_stored_twice(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    words = ("import_workspace", write(tmp_path, QANOT), "--agent", "lola", "--person", "Sardor")
    run(*words)
    before, versions = rows(agent), _versions()

    said, _ = run(*words)

    assert rows(agent) == before
    assert _versions() == versions
    assert "0 new facts, 2 there already" in said


def _versions() -> int:
    return sum(row.versions.count() for row in MemoryDocument.objects.all()) + sum(
        row.versions.count() for row in AgentDocument.objects.all()
    )


def test_trial_says_the_same_and_changes_nothing(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    words = ("import_workspace", write(tmp_path, QANOT), "--agent", "lola", "--person", "Sardor")
    before = rows(agent)
    trial, _ = run(*words, "--dry-run")
    assert rows(agent) == before
    assert trial.replace("Nothing was changed.\n", "") == run(*words)[0].replace("Lola", "Lola")


def fill(agent: Agent, person: Person) -> None:
    viewer = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
    for number, text in enumerate(("My name is Sardor", "I don't like coffee", "Let's use Django")):
        wal.append(
            text,
            viewer=viewer,
            source=f"message:{number}",
            thread="session:1/1",
            author_id=person.pk,
            at=AT + timedelta(minutes=number),
        )
    for hour, zone in enumerate(("Asia/Tashkent", "Asia/Kolkata", "Asia/Tashkent")):
        notes.add_exchange(
            viewer=viewer,
            question=f"Question {hour}?",
            answer="An answer: " + "long " * 60,
            at=AT + timedelta(hours=hour),
            time_zone=zone,
            source=f"turn:{hour}",
        )
    notes.add_note(
        viewer=viewer, text="Own note", at=AT, time_zone="Asia/Tashkent", source="turn:1 c"
    )
    documents.save(scope_of(viewer), "memory/work.md", "# Work\n\n- a\n\n  b", source="x")
    home = {"team_id": agent.team_id, "agent_id": agent.pk, "scope": Scope.AGENT}
    documents.append_facts(["Offices close at six"], home=home, source="x", at=AT)
    for name, whose in (("SOUL.md", None), ("USER.md", person)):
        document = AgentDocument(agent=agent, name=name, person=whose)
        personas.save(document, text=f"{name} says this\n", author=None, reason="x")


@pytest.mark.parametrize("preset", ["default", "qanot"])
def test_what_was_written_out_and_taken_in_again_is_the_same(
    agent: Agent, sardor: Person, tmp_path: Path, preset: str
) -> None:
    fill(agent, sardor)
    twin = factories.agent(team=agent.team, slug="twin", time_zone="Asia/Tashkent")
    same = ("--viewer", "Sardor", "--preset", preset)

    run("export_workspace", tmp_path / "first", "--agent", "lola", *same)
    _, wrong = run("import_workspace", tmp_path / "first", "--agent", "twin", "--person", "Sardor")
    run("export_workspace", tmp_path / "second", "--agent", "twin", *same)

    assert wrong == ""
    first = read(tmp_path / "first")
    assert first == read(tmp_path / "second")
    assert {"SOUL.md", "USER.md", "MEMORY.md", "agent/MEMORY.md", "memory/work.md"} <= set(first)
    assert (tmp_path / "first" / "MEMORY.md").stat().st_mode & 0o077 == 0
    if preset == "default":
        assert rows(twin) == rows(agent)


def test_export_without_a_viewer_is_what_everybody_may_see(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    fill(agent, sardor)
    run("export_workspace", tmp_path / "all", "--agent", "lola")
    found = read(tmp_path / "all")
    assert set(found) == {"SOUL.md", "MEMORY.md", "config.json"}
    assert b"Offices" in found["MEMORY.md"]
    assert b"Sardor" not in b"".join(found.values())
    twin = factories.agent(team=agent.team, slug="twin", time_zone="Asia/Tashkent")
    run("import_workspace", tmp_path / "all", "--agent", "twin")
    run("export_workspace", tmp_path / "again", "--agent", "twin")
    assert read(tmp_path / "again") == found
    assert MemoryDocument.objects.get(agent=twin).scope == Scope.AGENT


def test_what_is_not_understood_is_told_by_its_line_and_the_rest_is_taken(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    write(
        tmp_path,
        {
            "SESSION-STATE.md": (
                "# State\n- [yesterday at noon] **preference**: x\nnonsense\n"
                "- [2025-01-15T10:30:00+00:00] **gossip**: y\n"
                "- [2025-01-15T10:30:00+00:00] **preference**: I like tea\n"
            ),
            "memory/2025-01-15.md": "# Notes\n## [25:99:00]\n**User:** Hi\n**Agent:** Hello\n",
            "memory/2025-01-16.md": "# Tuesday\n\n- Went to the market\n- Bought apples\n",
            "memory/2025-02-31.md": "no such day\n",
            "config.json": '{"bot_name": "x",\n oops}',
            "users/nobody/USER.md": "?",
            "README.txt": "not ours",
        },
    )
    (tmp_path / "MEMORY.md").write_bytes(b"# M\n- [2025-01-15] One\n- \xff\xfe\n- Two\n")
    (tmp_path / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "SOUL.md").symlink_to("/etc/passwd")
    (tmp_path / "memory" / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "IDENTITY.md")
    (tmp_path / "SKILL.md").write_bytes(b"x" * (workspaces.FILE_BYTES + 1))

    said, wrong = run("import_workspace", tmp_path, "--agent", "lola", "--person", "Sardor")

    for start in (
        "SESSION-STATE.md:2: no time with an offset",
        "SESSION-STATE.md:3: no fact",
        "SESSION-STATE.md:4: no category: gossip",
        "memory/2025-01-15.md:2: no time of day",
        "memory/2025-02-31.md: this name cannot be taken",
        "config.json:2: no JSON",
        "users/nobody/USER.md: the team has no person",
        "MEMORY.md:3: not UTF-8",
        "SOUL.md: a link",
        "memory/out: a link",
        "IDENTITY.md: no ordinary file",
        "SKILL.md: larger than 2 MB",
    ):
        assert any(line.startswith(start) for line in wrong.splitlines()), (start, wrong)
    assert "1 new fact\n" in said
    assert "1 other files" in said
    assert not AgentDocument.objects.filter(agent=agent).exists()
    assert MemoryDocument.objects.get(name="MEMORY.md").text.endswith("- Two\n")
    own = DailyNote.objects.filter(day="2025-01-16").order_by("id").values_list("text", flat=True)
    assert list(own) == ["Went to the market", "Bought apples"]
    assert DailyNote.objects.get(question="Hi").answer == "Hello"


def test_memory_that_is_there_gets_what_it_lacks_and_loses_nothing(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    fill(agent, sardor)
    write(tmp_path, {"MEMORY.md": "# M\n\n- [2024-01-01] my name is sardor\n- A new line\n"})

    said, _ = run("import_workspace", tmp_path, "--agent", "lola", "--person", "Sardor")

    assert "MEMORY.md: 1 lines added" in said
    text = MemoryDocument.objects.get(person=sardor, name="MEMORY.md").text
    assert text.startswith("# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] My name is Sardor")
    assert text.endswith("- A new line\n")


def test_a_persons_user_document_is_found_by_their_number_or_name(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    anna = factories.person(team=agent.team)
    factories.identity(person=anna, external_id="4242")
    write(tmp_path, {"users/4242/USER.md": "Anna\n", "users/Sardor/USER.md": "Sardor\n"})
    run("import_workspace", tmp_path, "--agent", "lola")
    found = AgentDocument.objects.filter(name="USER.md").values_list("person", "text")
    assert set(found) == {(anna.pk, "Anna\n"), (sardor.pk, "Sardor\n")}


def test_what_cannot_be_done_is_one_sentence(agent: Agent, tmp_path: Path) -> None:
    write(tmp_path, {"SOUL.md": "x"})
    for words, said in (
        (("import_workspace", tmp_path / "none", "--agent", "lola"), "There is no folder"),
        (("import_workspace", tmp_path, "--agent", "nobody"), "There is no agent"),
        (("import_workspace", tmp_path, "--agent", "lola", "--person", "No"), "no person"),
        (("export_workspace", tmp_path, "--agent", "lola"), "is not empty"),
    ):
        with pytest.raises(CommandError, match=said):
            run(*words)
    Agent.objects.filter(pk=agent.pk).update(managed_by="qanot.toml")
    with pytest.raises(CommandError, match="owns"):
        run("import_workspace", tmp_path, "--agent", "lola")


def test_secrets_in_memory_are_masked_as_everywhere(
    agent: Agent, sardor: Person, tmp_path: Path
) -> None:
    write(
        tmp_path, {"memory/keys.md": "The key: sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n"}
    )
    run("import_workspace", tmp_path, "--agent", "lola", "--person", "Sardor")
    assert "abcdefghij" not in MemoryDocument.objects.get(name="memory/keys.md").text
