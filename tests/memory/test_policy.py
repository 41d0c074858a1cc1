"""What an agent's settings say about remembering."""

from datetime import datetime

import pytest

from memory import wal
from memory.models import MemoryDocument, WalEntry
from memory.policy import Policy, keeps_memory, notes_days, policy_of

from .conftest import Scene


def append(scene: Scene, at: datetime, policy: Policy, viewer: str = "anna") -> list[WalEntry]:
    who = getattr(scene, viewer)
    return wal.append(
        "My name is Anna",
        viewer=who,
        source="message:1",
        thread="session:1/1",
        author_id=who.person_id,
        at=at,
        policy=policy,
    )


def test_switched_off_nothing_is_noted(scene: Scene, noon: datetime) -> None:
    scene.agent.keeps_memory = False
    scene.agent.save()
    assert append(scene, noon, policy_of(scene.agent)) == []
    assert not WalEntry.objects.exists()
    assert not MemoryDocument.objects.exists()
    assert not keeps_memory(scene.agent.pk)


@pytest.mark.parametrize(
    ("policy", "viewer", "scope"),
    [
        ("private", "anna", "person"),
        ("agent", "anna", "agent"),
        ("team", "anna", "team"),
        ("team", "group", "chat"),
    ],
)
def test_policy_says_where_private_facts_go(
    scene: Scene, noon: datetime, policy: str, viewer: str, scope: str
) -> None:
    scene.agent.private_facts = policy
    (entry,) = append(scene, noon, policy_of(scene.agent), viewer)
    assert (entry.scope, entry.author_id) == (scope, scene.anna.person_id)
    assert MemoryDocument.objects.get().scope == scope


def test_shared_by_policy_it_can_still_be_taken_back(scene: Scene, noon: datetime) -> None:
    (entry,) = append(scene, noon, Policy(private_facts="agent"))
    assert not wal.retract(entry.source, entry.text, scene.bobur)
    assert wal.retract(entry.source, entry.text, scene.anna)
    assert "Anna" not in MemoryDocument.objects.get().text


@pytest.mark.parametrize(
    ("preset", "set_to", "days"),
    [("default", None, None), ("default", 7, 7), ("qanot", None, 30), ("qanot", 90, 90)],
)
def test_preset_qanot_searches_thirty_days(
    scene: Scene, preset: str, set_to: int | None, days: int | None
) -> None:
    scene.agent.prompt_preset, scene.agent.notes_days = preset, set_to
    scene.agent.save()
    assert notes_days(scene.agent.pk) == days
