"""Facts are noted once, in the scope in which they were said."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from agents.core.viewer import Viewer
from memory import documents, wal
from memory.models import MemoryDocument, MemoryDocumentVersion, Origin, Scope, WalEntry
from memory.policy import Policy

from .conftest import Scene, make_scene


def append(text: str, viewer: Viewer, at: datetime, source: str = "message:1") -> list[WalEntry]:
    return wal.append(
        text, viewer=viewer, source=source, thread="session:1/1", author_id=viewer.person_id, at=at
    )


def memory_of(viewer: Viewer) -> str:
    document = MemoryDocument.objects.filter(
        scope=Scope.PERSON, agent_id=viewer.agent_id, person=viewer.person_id
    ).first()
    return document.text if document else ""


def test_fact_is_noted_with_where_it_comes_from(scene: Scene, noon: datetime) -> None:
    (entry,) = append("My name is Anna", scene.anna, noon, source="message:7")
    stored = WalEntry.objects.get()
    assert stored.pk == entry.pk
    assert (stored.category, stored.text) == ("proper_noun", "My name is Anna")
    assert (stored.source, stored.thread) == ("message:7", "session:1/1")
    assert (stored.origin, stored.author_id) == (Origin.PERSON, scene.anna.person_id)
    assert (stored.scope, stored.person_id, stored.created_at) == (
        "person",
        scene.anna.person_id,
        noon,
    )


def test_durable_fact_stands_in_memory_md_at_once(scene: Scene, noon: datetime) -> None:
    append("My name is Anna. The deadline is 2025-06-15.", scene.anna, noon)
    assert memory_of(scene.anna) == (
        "# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] My name is Anna.\n"
    )


def test_same_fact_is_written_once(scene: Scene, noon: datetime) -> None:
    append("I like green tea", scene.anna, noon, source="message:1")
    append("i  like\ngreen TEA", scene.anna, noon, source="message:2")
    append("Remember that I like green tea", scene.anna, noon, source="message:3")
    assert memory_of(scene.anna).lower().count("green tea") == 1
    assert MemoryDocument.objects.get().version_number == 1


def test_same_fact_again_is_counted(scene: Scene, noon: datetime) -> None:
    for number, text in enumerate(("My name is Anna", "my name is ANNA", "I'm Anna")):
        append(text, scene.anna, noon + timedelta(hours=number), source=f"message:{number}")
    entry = WalEntry.objects.get()
    assert (entry.source, entry.mentions) == ("message:0", 3)
    assert (entry.created_at, entry.last_said_at) == (noon, noon + timedelta(hours=2))


def test_same_fact_in_the_other_script_is_one_row(scene: Scene, noon: datetime) -> None:
    append("Mening ismim O‘ktam", scene.anna, noon)
    append("Менинг исмим Ўктам", scene.anna, noon, source="message:2")
    assert WalEntry.objects.get().mentions == 2


def test_in_a_group_each_says_their_own(scene: Scene, noon: datetime) -> None:
    append("I like green tea", scene.group, noon)
    other = replace(scene.group, person_id=scene.bobur.person_id)
    append("I like green tea", other, noon, source="message:2")
    assert WalEntry.objects.count() == 2


def test_second_call_for_a_source_gives_the_first_entries(scene: Scene, noon: datetime) -> None:
    first = append("My name is Anna", scene.anna, noon)
    second = append("My name is Anna", scene.anna, noon)
    assert [entry.pk for entry in second] == [entry.pk for entry in first]
    assert WalEntry.objects.count() == 1


def test_message_without_facts_asks_the_database_nothing(
    scene: Scene, noon: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        noted = wal.append(
            "How are you today?",
            viewer=scene.anna,
            source="message:1",
            thread="session:1/1",
            author_id=None,
            at=noon,
            policy=Policy(),
        )
    assert noted == []


def test_viewer_without_a_scope_notes_nothing(scene: Scene, noon: datetime) -> None:
    assert append("My name is Nobody", scene.unknown, noon) == []
    assert not WalEntry.objects.exists()


def test_what_is_told_in_a_group_goes_into_the_groups_part(scene: Scene, noon: datetime) -> None:
    (entry,) = append("My name is Anna", scene.group, noon)
    assert (entry.scope, entry.person_id, entry.chat_id) == ("chat", None, scene.group.chat_id)
    assert memory_of(scene.anna) == ""


def test_secret_reaches_no_row(scene: Scene, noon: datetime) -> None:
    append("My password is hunter2secret, don't forget it", scene.anna, noon)
    assert "hunter2secret" not in WalEntry.objects.get().text
    assert "hunter2secret" not in memory_of(scene.anna)
    assert "•••" in memory_of(scene.anna)


def test_facts_are_visible_to_their_scope_only(scene: Scene, noon: datetime) -> None:
    append("My name is Anna", scene.anna, noon)
    others = (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team)
    for model in (WalEntry, MemoryDocument):
        assert model.objects.visible_to(scene.anna).count() == 1
        assert not any(model.objects.visible_to(viewer).exists() for viewer in others)


def test_rolled_back_message_leaves_no_fact(scene: Scene, noon: datetime) -> None:
    with transaction.atomic():
        append("My name is Anna", scene.anna, noon)
        transaction.set_rollback(True)
    assert not WalEntry.objects.exists()
    assert memory_of(scene.anna) == ""


def test_each_write_is_a_version(scene: Scene, noon: datetime) -> None:
    append("My name is Anna", scene.anna, noon, source="message:1")
    append("I like tea", scene.anna, noon, source="message:2")
    document = MemoryDocument.objects.get()
    assert documents.replace(document.pk, text="# MEMORY.md\n", source="user:1")
    assert not documents.replace(document.pk, text="# MEMORY.md\n", source="user:1")
    versions = MemoryDocumentVersion.objects.order_by("number")
    assert [(v.number, v.source) for v in versions] == [
        (1, "message:1"),
        (2, "message:2"),
        (3, "user:1"),
    ]
    assert versions[2].text == MemoryDocument.objects.get().text == "# MEMORY.md\n"


@pytest.mark.django_db(transaction=True)
def test_messages_at_once_lose_no_line(noon: datetime) -> None:
    """All start before the document is there, each message in its own transaction."""
    viewer = make_scene().anna
    start = threading.Barrier(4)

    def tell(number: int) -> None:
        start.wait(10)
        try:
            for message in range(5):
                with transaction.atomic():
                    fact = f"Remember that door {number}{message} is green"
                    append(fact, viewer, noon, source=f"message:{number}-{message}")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(tell, range(4), timeout=30))
    document = MemoryDocument.objects.get()
    assert sorted(document.text.splitlines()[2:]) == sorted(
        f"- [2025-01-15] Remember that door {number}{message} is green"
        for number in range(4)
        for message in range(5)
    )
    assert document.version_number == document.versions.count() == 20
