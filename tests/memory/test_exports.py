"""Memory as files: exact, ordered, for a named viewer."""

from datetime import UTC, datetime, timedelta

from agents.core.viewer import Viewer
from memory import documents, exports, notes, sharing, wal, workspace
from memory.models import WalEntry, scope_of
from tests import factories

from .conftest import Scene

AT = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)


def fill(scene: Scene) -> None:
    for minute, text in enumerate(("My name is Sardor", "I prefer Python over JavaScript")):
        wal.append(
            text,
            viewer=scene.anna,
            source=f"message:{minute}",
            thread="session:1/1",
            author_id=scene.anna.person_id,
            at=AT + timedelta(minutes=minute),
        )
    notes.add_exchange(
        viewer=scene.anna,
        question="Tell me about FastAPI",
        answer="FastAPI is a modern Python web framework",
        at=AT,
        time_zone="Asia/Jakarta",
        source="turn:1",
    )
    notes.add_note(
        viewer=scene.anna,
        text="A quiet day",
        at=AT + timedelta(hours=1),
        time_zone="Asia/Jakarta",
        source="turn:1 a",
    )
    documents.save(scope_of(scene.anna), "memory/work.md", "# Work\n", source="x")


def test_preset_qanot_is_written_byte_for_byte(scene: Scene) -> None:
    fill(scene)
    assert exports.export(scene.anna, preset="qanot") == {
        "SESSION-STATE.md": (
            "# SESSION-STATE.md -- Active Working Memory\n\n"
            "- [2025-01-15T10:30:00+00:00] **proper_noun**: My name is Sardor\n"
            "- [2025-01-15T10:31:00+00:00] **preference**: I prefer Python over JavaScript\n"
        ),
        "MEMORY.md": (
            "# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] My name is Sardor\n"
            "- [2025-01-15] I prefer Python over JavaScript\n"
        ),
        "memory/work.md": "# Work\n",
        "memory/2025-01-15.md": (
            "# Daily Notes -- 2025-01-15\n\n## [17:30:00]\n**User:** Tell me about FastAPI\n"
            "**Agent:** FastAPI is a modern Python web framework\n\n## [18:30:00]\n"
            "**Note:** A quiet day\n"
        ),
    }


def test_case_timezone_2_our_headings_tell_the_offset(scene: Scene) -> None:
    fill(scene)
    note = exports.export(scene.anna)["memory/2025-01-15.md"]
    assert "## [17:30:00+07:00]\n" in note


def test_others_get_nothing(scene: Scene) -> None:
    fill(scene)
    for viewer in (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team):
        assert exports.export(viewer) == {}


def test_shared_facts_are_kept_apart_and_taken_in_where_they_belong(scene: Scene) -> None:
    fill(scene)
    fact = WalEntry.objects.get(category="preference")
    sharing.share(fact, to="team", by=factories.user(), at=AT + timedelta(hours=2))
    exported = exports.export(scene.anna)
    assert "Python" in exported["team/SESSION-STATE.md"]
    assert "Sardor" not in exported["team/SESSION-STATE.md"]
    assert "agent/SESSION-STATE.md" not in exported
    agent = factories.agent()
    person = factories.person(team=agent.team)
    there = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
    workspace.take_in(
        exported, there, zones=["Asia/Jakarta"], tell=lambda *_: None, report=lambda *_: None
    )
    assert exports.export(there) == exported
    rows = WalEntry.objects.filter(team=agent.team).values_list("scope", "text")
    assert set(rows) == set(WalEntry.objects.filter(team=scene.team).values_list("scope", "text"))
