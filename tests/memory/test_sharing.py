"""Sharing a fact and letting in what came from outside: acts of somebody, written down."""

from datetime import datetime

import pytest

from agents.models import AuditEvent, Person
from memory import quarantine, sharing, superseding, wal
from memory.errors import NotShareable
from memory.models import MemoryDocument, WalEntry
from memory.prompt import memory_parts
from tests import factories

from .conftest import Scene, look

FACT = "The gate is green"


@pytest.fixture
def fact(scene: Scene, noon: datetime) -> WalEntry:
    wal.note(FACT, viewer=scene.anna, source="turn:1 a", thread="session:1", at=noon)
    return WalEntry.objects.get()


def knows(scene: Scene, name: str, noon: datetime) -> bool:
    viewer = getattr(scene, name)
    parts = memory_parts(viewer, thread="session:9/1", now=noon)
    in_prompt = FACT in parts.long_term + parts.session_state
    assert in_prompt == bool(look("gate", viewer, now=noon))
    return in_prompt


def test_case_isolation_7_shared_fact_is_known_to_both_agents(
    scene: Scene, fact: WalEntry, noon: datetime
) -> None:
    by = Person.objects.get(pk=scene.anna.person_id or 0)
    shared = sharing.share(fact, to="team", by=by, at=noon)
    assert shared.shared_from == fact
    assert all(knows(scene, name, noon) for name in ("anna", "bobur", "other_agent", "unknown"))
    assert not knows(scene, "other_team", noon)
    event = AuditEvent.objects.get()
    assert (event.actor, event.action) == (f"person:{by.pk}", "fact.shared_with_team")
    assert sharing.unshare(shared, by=by, at=noon)
    assert not sharing.unshare(shared, by=by, at=noon)
    assert knows(scene, "anna", noon)
    assert not knows(scene, "other_agent", noon)


def test_shared_with_the_agent_stays_with_the_agent(
    scene: Scene, fact: WalEntry, noon: datetime
) -> None:
    sharing.share(fact, to="agent", by=factories.user(), at=noon)
    assert knows(scene, "bobur", noon)
    assert not knows(scene, "other_agent", noon)


def test_forgotten_fact_is_shared_no_longer(scene: Scene, fact: WalEntry, noon: datetime) -> None:
    sharing.share(fact, to="agent", by=factories.user(), at=noon)
    superseding.forget(fact, by=factories.user(), at=noon)
    assert not knows(scene, "bobur", noon)
    assert not knows(scene, "anna", noon)


def test_fact_is_shared_once_and_only_while_it_holds(fact: WalEntry, noon: datetime) -> None:
    user = factories.user()
    shared = sharing.share(fact, to="team", by=user, at=noon)
    for entry in (fact, shared):
        with pytest.raises(NotShareable):
            sharing.share(entry, to="team", by=user, at=noon)
    superseding.forget(fact, by=user, at=noon)
    with pytest.raises(NotShareable):
        sharing.share(fact, to="agent", by=user, at=noon)


def test_case_prompt_budget_4_taint_is_per_fact(
    scene: Scene, fact: WalEntry, noon: datetime
) -> None:
    wal.note_untrusted(
        "The gate is red", viewer=scene.anna, source="turn:2 a", thread="session:1", at=noon
    )
    parts = memory_parts(scene.anna, thread="session:1", now=noon)
    assert FACT in parts.long_term
    assert "red" not in parts.long_term + parts.session_state
    assert all("red" not in hit.content for hit in look("gate", scene.anna, now=noon))


def test_accepted_text_counts_and_dropped_one_never(scene: Scene, noon: datetime) -> None:
    user = factories.user()
    first, second = (
        wal.note_untrusted(
            text, viewer=scene.anna, source=f"turn:{text}", thread="session:1", at=noon
        )
        for text in ("The gate is red", "The gate is blue")
    )
    assert quarantine.accept(first, by=user, at=noon)
    assert quarantine.drop(second, by=user, at=noon)
    assert not quarantine.waiting().exists()
    assert not quarantine.accept(second, by=user, at=noon)
    assert "The gate is red" in MemoryDocument.objects.get().text
    found = {hit.content for hit in look("gate", scene.anna, now=noon)}
    assert any("red" in content for content in found)
    assert not any("blue" in content for content in found)
    actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["fact.accepted", "fact.dropped"]
