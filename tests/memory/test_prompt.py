"""What of memory stands in a prompt, for whom, and in which form."""

from datetime import datetime, timedelta

from pytest_django import DjangoAssertNumQueries

from agents.core.viewer import Viewer
from memory import wal
from memory.models import MemoryDocument, Origin, Scope, WalEntry
from memory.prompt import MemoryParts, memory_parts

from .conftest import Scene

THREAD = "session:1/1"


def tell(text: str, viewer: Viewer, at: datetime, thread: str = THREAD) -> None:
    source = f"message:{WalEntry.objects.count()}"
    wal.append(text, viewer=viewer, source=source, thread=thread, author_id=None, at=at)


def parts(viewer: Viewer, now: datetime) -> MemoryParts:
    return memory_parts(viewer, thread=THREAD, now=now)


def test_session_state_has_the_known_form(scene: Scene, noon: datetime) -> None:
    tell("My name is Anna", scene.anna, noon)
    tell("Let's use FastAPI", scene.anna, noon + timedelta(minutes=5))
    assert parts(scene.anna, noon).session_state == (
        "# SESSION-STATE.md -- Active Working Memory\n\n"
        "- [2025-01-15T12:05:00+00:00] **decision**: Let's use FastAPI\n"
        "- [2025-01-15T12:00:00+00:00] **proper_noun**: My name is Anna"
    )


def test_of_other_threads_only_recent_and_not_durable_ones(scene: Scene, noon: datetime) -> None:
    tell("I like tea", scene.anna, noon, thread="session:9/1")
    tell("Let's use Redis", scene.anna, noon, thread="session:9/1")
    tell("Let's use Kafka", scene.anna, noon - timedelta(days=8), thread="session:9/1")
    tell("Let's use MySQL", scene.anna, noon - timedelta(days=8))
    state = parts(scene.anna, noon).session_state
    assert "Redis" in state
    assert "MySQL" in state
    assert "tea" not in state
    assert "Kafka" not in state


def test_session_state_is_bounded_and_keeps_the_newest(scene: Scene, noon: datetime) -> None:
    for number in range(150):
        tell(
            f"Let's use library {number} for all of it",
            scene.anna,
            noon + timedelta(seconds=number),
        )
    state = parts(scene.anna, noon).session_state
    assert 7_900 < len(state) <= 8_000
    assert "library 149 " in state
    assert "library 0 " not in state


def test_same_fact_is_shown_once(scene: Scene, noon: datetime) -> None:
    for second in range(3):
        tell("My name is Anna", scene.anna, noon + timedelta(seconds=second))
    assert parts(scene.anna, noon).session_state.count("Anna") == 1


def test_two_queries_are_enough(
    scene: Scene, noon: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    tell("My name is Anna", scene.anna, noon)
    with django_assert_num_queries(2):
        parts(scene.anna, noon)


def test_long_term_says_whose_part_it_is(scene: Scene, noon: datetime) -> None:
    tell("My name is Anna", scene.anna, noon)
    team = {"team": scene.team, "version_number": 1}
    MemoryDocument.objects.create(**team, scope=Scope.TEAM, text="- We are Crew\n")
    MemoryDocument.objects.create(**team, scope=Scope.AGENT, agent=scene.agent, text="- I am Q\n")
    shown = parts(scene.anna, noon)
    assert shown.long_term == (
        "# Your Long-Term Memory\n\n"
        "## About this person\n\n- [2025-01-15] My name is Anna\n\n"
        "## Known to this agent, for everybody\n\n- I am Q\n\n"
        "## Known to the whole team\n\n- We are Crew"
    )
    assert [(ref.scope, ref.version) for ref in shown.references] == [
        ("person", 1),
        ("agent", 1),
        ("team", 1),
    ]
    assert str(shown.references[0]) == f"{shown.references[0].document_id}v1"


def test_no_other_viewer_is_shown_a_persons_facts(scene: Scene, noon: datetime) -> None:
    tell("My salary is 5000, remember it", scene.anna, noon)
    assert "5000" in parts(scene.anna, noon).session_state
    assert "5000" in parts(scene.anna, noon).long_term
    for other in (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team):
        assert parts(other, noon) == MemoryParts("", "", [])


def test_contradicting_likings_do_not_mix(scene: Scene, noon: datetime) -> None:
    tell("I prefer tea", scene.anna, noon)
    tell("I prefer coffee", scene.bobur, noon)
    assert "coffee" not in parts(scene.anna, noon).long_term
    assert "tea" not in parts(scene.bobur, noon).long_term


def test_what_came_from_outside_is_left_out(scene: Scene, noon: datetime) -> None:
    tell("Let's use Redis", scene.anna, noon)
    WalEntry.objects.update(origin=Origin.UNTRUSTED)
    assert parts(scene.anna, noon).session_state == ""
