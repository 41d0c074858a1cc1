"""Search shows a viewer their own lines, with their places in the exported files."""

from datetime import datetime, timedelta

from agents.core.viewer import Viewer
from memory import files, notes, wal
from memory.models import DailyNote, MemoryDocument, Origin, Scope, WalEntry
from memory.search import Found, search

from .conftest import Scene


def tell(text: str, viewer: Viewer, at: datetime) -> None:
    source = f"message:{WalEntry.objects.count()}"
    wal.append(text, viewer=viewer, source=source, thread="session:1/1", author_id=None, at=at)


def note(question: str, answer: str, viewer: Viewer, at: datetime, zone: str = "UTC") -> None:
    notes.add_exchange(
        viewer=viewer,
        question=question,
        answer=answer,
        at=at,
        time_zone=zone,
        source=f"turn:{DailyNote.objects.count()}",
    )


def test_lines_stand_where_the_file_has_them(scene: Scene, noon: datetime) -> None:
    for minute in range(3):
        note(f"question {minute}", f"answer {minute}", scene.anna, noon + timedelta(minutes=minute))
    exchange = files.note_lines("question 0", "answer 0", noon, "UTC")
    assert exchange == ["## [12:00:00+00:00]", "**User:** question 0", "**Agent:** answer 0", ""]
    assert search("answer 2", viewer=scene.anna, now=noon)[0] == Found(
        "memory/2025-01-15.md", 13, "**Agent:** answer 2"
    )


def test_local_time_of_a_note_shows_its_offset(noon: datetime) -> None:
    assert files.note_lines("q", "a", noon, "Asia/Jakarta")[0] == "## [19:00:00+07:00]"


def test_all_three_places_are_searched(scene: Scene, noon: datetime) -> None:
    tell("I like green tea", scene.anna, noon)
    note("Is green tea healthy?", "Yes.", scene.anna, noon)
    assert {
        (found.file, found.line) for found in search("green tea", viewer=scene.anna, now=noon)
    } == {
        ("MEMORY.md", 3),
        ("SESSION-STATE.md", 3),
        ("memory/2025-01-15.md", 4),
    }


def test_exact_figure_is_first(scene: Scene, noon: datetime) -> None:
    for number in range(20):
        note(f"invoice INV-{number}", "paid", scene.anna, noon + timedelta(minutes=number))
    note("The invoice is INV-88123", "noted", scene.anna, noon - timedelta(days=3))
    assert "INV-88123" in search("INV-88123", viewer=scene.anna, now=noon)[0].content


def test_notes_older_than_thirty_days_are_left_out_and_facts_are_not(
    scene: Scene, noon: datetime
) -> None:
    note("old zebra", "old", scene.anna, noon - timedelta(days=31))
    tell("Let's use zebra stripes", scene.anna, noon - timedelta(days=400))
    assert [found.file for found in search("zebra", viewer=scene.anna, now=noon)] == [
        "SESSION-STATE.md"
    ]


def test_others_find_nothing_of_a_persons(scene: Scene, noon: datetime) -> None:
    tell("Remember that my salary is high", scene.anna, noon)
    note("my salary is high", "noted", scene.anna, noon)
    assert len(search("salary", viewer=scene.anna, now=noon)) == 3
    for other in (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team):
        assert search("salary", viewer=other, now=noon) == []


def test_shared_documents_are_found_by_everybody_of_the_team(scene: Scene, noon: datetime) -> None:
    MemoryDocument.objects.create(team=scene.team, scope=Scope.TEAM, text="- Office opens at 9\n")
    assert search("office", viewer=scene.unknown, now=noon) == [
        Found("team/MEMORY.md", 1, "- Office opens at 9")
    ]
    assert search("office", viewer=scene.other_team, now=noon) == []


def test_what_came_from_outside_is_not_found(scene: Scene, noon: datetime) -> None:
    tell("Let's use Redis", scene.anna, noon)
    WalEntry.objects.update(origin=Origin.UNTRUSTED)
    assert search("Redis", viewer=scene.anna, now=noon) == []
