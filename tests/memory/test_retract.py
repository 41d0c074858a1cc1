"""A person takes back what was noted from a message of theirs."""

from datetime import datetime

import pytest

from agents.core.viewer import Viewer
from memory import documents, wal
from memory.index import postings
from memory.models import MemoryDocument, MemoryDocumentVersion, Origin, WalEntry
from memory.prompt import memory_parts
from memory.search import search

from .conftest import Scene

TEA = "I like green tea"


def append(text: str, viewer: Viewer, at: datetime, source: str = "message:1") -> None:
    wal.append(
        text, viewer=viewer, source=source, thread="session:1/1", author_id=viewer.person_id, at=at
    )


def memory_of(viewer: Viewer) -> str:
    return "".join(MemoryDocument.objects.visible_to(viewer).values_list("text", flat=True))


def test_fact_is_in_no_prompt_and_no_search_afterwards(scene: Scene, noon: datetime) -> None:
    append(f"{TEA}. The deadline is 2025-06-15.", scene.anna, noon)
    facts = list(WalEntry.objects.values_list("text", flat=True))
    assert len(facts) == 2
    assert all(wal.retract("message:1", fact, scene.anna) for fact in facts)
    parts = memory_parts(scene.anna, thread="session:1/1", now=noon)
    assert (parts.session_state, parts.long_term) == ("", "")
    assert postings.index_waiting() == 0
    assert search(scene.anna, "green tea deadline 2025-06-15", now=noon).found == []
    assert WalEntry.objects.filter(retracted_at=None).count() == 0


def test_of_another_thread_it_is_in_no_prompt_either(scene: Scene, noon: datetime) -> None:
    append("The deadline is 2025-06-15.", scene.anna, noon)
    shown = memory_parts(scene.anna, thread="session:2/1", now=noon).session_state
    assert "2025-06-15" in shown
    assert wal.retract("message:1", WalEntry.objects.get().text, scene.anna)
    assert memory_parts(scene.anna, thread="session:2/1", now=noon).session_state == ""


def test_memory_md_loses_the_line_alone_and_keeps_the_version(scene: Scene, noon: datetime) -> None:
    append("My name is Anna", scene.anna, noon)
    append(TEA, scene.anna, noon, source="message:2")
    assert wal.retract("message:2", TEA, scene.anna)
    assert memory_of(scene.anna) == (
        "# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] My name is Anna\n"
    )
    newest = MemoryDocumentVersion.objects.order_by("-number")[0]
    assert (newest.number, newest.source) == (3, "undo:message:2")


def test_second_call_changes_nothing(scene: Scene, noon: datetime) -> None:
    append(TEA, scene.anna, noon)
    assert wal.retract("message:1", TEA, scene.anna)
    at = WalEntry.objects.get().retracted_at
    assert not wal.retract("message:1", TEA, scene.anna)
    assert WalEntry.objects.get().retracted_at == at
    assert MemoryDocument.objects.get().version_number == 2


def test_sentence_noted_for_two_reasons_is_taken_back_for_both(
    scene: Scene, noon: datetime
) -> None:
    append("Remember that my name is Anna", scene.anna, noon)
    texts = set(WalEntry.objects.values_list("text", flat=True))
    for text in texts:
        wal.retract("message:1", text, scene.anna)
    assert not WalEntry.objects.filter(retracted_at=None).exists()
    assert "Anna" not in memory_of(scene.anna)


def test_fact_that_was_said_twice_is_one_and_is_taken_back_once(
    scene: Scene, noon: datetime
) -> None:
    append(TEA, scene.anna, noon)
    append(TEA.upper(), scene.anna, noon, source="message:2")
    assert wal.retract("message:1", TEA, scene.anna)
    assert TEA not in memory_of(scene.anna)


def test_line_stays_where_the_agent_noted_the_same(scene: Scene, noon: datetime) -> None:
    append(TEA, scene.anna, noon)
    wal.note(TEA, viewer=scene.anna, source="turn:1#2", thread="session:1/1", at=noon)
    assert wal.retract("message:1", TEA, scene.anna)
    assert TEA in memory_of(scene.anna)
    assert WalEntry.objects.filter(retracted_at=None).get().origin == Origin.AGENT


@pytest.mark.parametrize("stranger", ["bobur", "group", "unknown", "other_agent", "other_team"])
def test_nobody_else_can_take_it_back(scene: Scene, noon: datetime, stranger: str) -> None:
    append(TEA, scene.anna, noon)
    assert not wal.retract("message:1", TEA, getattr(scene, stranger))
    assert TEA in memory_of(scene.anna)
    assert WalEntry.objects.get().retracted_at is None


def test_in_a_group_only_its_author_can(scene: Scene, noon: datetime) -> None:
    append(TEA, scene.group, noon)
    other = Viewer(
        scene.team.pk, scene.agent.pk, person_id=scene.bobur.person_id, chat_id=scene.group.chat_id
    )
    assert not wal.retract("message:1", TEA, other)
    assert wal.retract("message:1", TEA, scene.group)
    assert TEA not in memory_of(scene.group)


def test_what_was_taken_back_can_be_said_again(scene: Scene, noon: datetime) -> None:
    append(TEA, scene.anna, noon)
    wal.retract("message:1", TEA, scene.anna)
    append(TEA, scene.anna, noon, source="message:2")
    assert TEA in memory_of(scene.anna)
    parts = memory_parts(scene.anna, thread="session:1/1", now=noon)
    assert TEA in parts.session_state


def test_text_between_the_lines_is_left_as_it_is(scene: Scene, noon: datetime) -> None:
    append(TEA, scene.anna, noon)
    document = MemoryDocument.objects.get()
    documents.replace(document.pk, text=f"{document.text}\nSome prose.\n- undated", source="x")
    assert wal.retract("message:1", TEA, scene.anna)
    assert memory_of(scene.anna) == "# MEMORY.md -- Long-Term Memory\n\n\nSome prose.\n- undated"
