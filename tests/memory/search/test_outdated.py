"""Exchanges that tell what was corrected since: which of them are marked, and for whom."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from agents.core.viewer import Viewer
from memory import wal
from memory.index import exchanges
from memory.models import MemorySettings
from memory.policy import Policy, PrivateFacts
from tests.memory.conftest import Scene, look

OLD = "My name is Sarvar"
NEW = "Actually, my name is Sardor, not Sarvar"
Say = Callable[..., None]


@pytest.fixture
def say(scene: Scene, noon: datetime) -> Say:
    """Return what lets somebody say something, each a minute later."""
    MemorySettings.objects.create(team=scene.team, embedder=MemorySettings.Embedder.NONE)
    numbers = iter(range(1, 100))

    def said(text: str, by: Viewer = scene.anna, private_facts: PrivateFacts = "private") -> None:
        number = next(numbers)
        at = noon + timedelta(minutes=number)
        wal.append(
            text,
            viewer=by,
            source=f"message:{number}",
            thread="session:1/1",
            author_id=by.person_id,
            at=at,
            policy=Policy(private_facts=private_facts),
        )
        exchanges.add(
            viewer=by,
            said=text,
            answer="Fine.",
            at=at,
            time_zone="UTC",
            source=f"turn:{number}",
            thread="session:1/1",
        )

    return said


def corrected(query: str, viewer: Viewer, now: datetime) -> dict[str, bool]:
    found = look(query, viewer, now)
    return {hit.content: hit.was_corrected for hit in found if hit.kind == "exchange"}


def test_what_another_person_says_changes_nothing_for_who_corrected_it(
    scene: Scene, noon: datetime, say: Say
) -> None:
    say(OLD)
    say(NEW)
    assert corrected("name is Sarvar", scene.anna, noon)[OLD]
    say(OLD, scene.bobur)
    assert corrected("name is Sarvar", scene.anna, noon)[OLD]
    assert not corrected("name is Sarvar", scene.bobur, noon)[OLD]


def test_what_is_said_again_in_the_teams_part_holds_again(
    scene: Scene, noon: datetime, say: Say
) -> None:
    for text in ("I like green tea", "I don't like green tea"):
        say(text, private_facts="team")
    assert corrected("like green tea", scene.anna, noon)["I like green tea"]
    say("I like green tea", private_facts="team")
    assert not corrected("like green tea", scene.anna, noon)["I like green tea"]


def test_a_longer_name_is_another_one(scene: Scene, noon: datetime, say: Say) -> None:
    say("My name is Ali")
    say("Actually, my name is Sardor, not Ali")
    say("In the play my name is Alisher Navoiy")
    found = corrected("my name is Ali", scene.anna, noon)
    assert found["My name is Ali"]
    assert not found["In the play my name is Alisher Navoiy"]
