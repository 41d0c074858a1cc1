"""Daily notes: one cut an exchange, on the right day, in the right scope."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from memory import exports, hooks, notes
from memory.models import DailyNote

from .conftest import Scene, make_scene


def add(scene: Scene, **changes: Any) -> None:
    values: dict[str, Any] = {
        "viewer": scene.anna,
        "question": "Tell me about FastAPI",
        "answer": "FastAPI is a modern framework.",
        "at": datetime(2025, 1, 15, 10, 30, tzinfo=UTC),
        "time_zone": "UTC",
        "source": "turn:1",
    }
    notes.add_exchange(**values | changes)


def test_exchange_is_cut_and_folded(scene: Scene) -> None:
    add(scene, question="word\n\n" * 100, answer="x" * 500)
    note = DailyNote.objects.get()
    assert note.question == ("word " * 100)[:99] + "…"
    assert note.answer == "x" * 200 + "…"


def test_short_exchange_stays_whole(scene: Scene) -> None:
    add(scene)
    note = DailyNote.objects.get()
    assert (note.question, note.answer) == (
        "Tell me about FastAPI",
        "FastAPI is a modern framework.",
    )


def test_turn_is_noted_once(scene: Scene) -> None:
    add(scene)
    add(scene, answer="again")
    assert DailyNote.objects.get().answer == "FastAPI is a modern framework."


def test_case_timezone_1_day_is_the_local_one(scene: Scene) -> None:
    add(scene, at=datetime(2025, 1, 1, 19, 30, tzinfo=UTC), time_zone="Asia/Tashkent")
    assert DailyNote.objects.get().day == date(2025, 1, 2)


def test_secret_is_masked_before_the_cut(scene: Scene) -> None:
    question = "so " * 28 + "my password is hunter2secret"
    add(scene, question=question, answer="Your password hunter2secret is noted")
    note = DailyNote.objects.get()
    assert "hunter2" not in note.question
    assert "hunter2" not in note.answer


def test_secret_ends_with_its_line(scene: Scene) -> None:
    add(scene, question="password: hunter2\nserver: alpha")
    assert DailyNote.objects.get().question == "password: ••• server: alpha"


def test_what_a_database_cannot_hold_is_left_out(scene: Scene) -> None:
    add(scene, answer="a\x00b \ud83d c")
    assert DailyNote.objects.get().answer == "ab ? c"


@pytest.mark.parametrize(("viewer", "scope"), [("anna", "person"), ("group", "chat")])
def test_note_lies_in_the_viewers_own_scope(scene: Scene, viewer: str, scope: str) -> None:
    add(scene, viewer=getattr(scene, viewer))
    assert DailyNote.objects.get().scope == scope


def test_viewer_without_a_scope_leaves_no_note(scene: Scene) -> None:
    add(scene, viewer=scene.unknown)
    assert not DailyNote.objects.exists()


def test_case_daily_notes_1_later_lines_follow_earlier_ones(scene: Scene) -> None:
    at = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
    for number, line in enumerate(("A", "B")):
        notes.add_note(
            viewer=scene.anna,
            text=line,
            at=at + timedelta(seconds=number),
            time_zone="UTC",
            source=f"turn:{number} a",
        )
    text = exports.export(scene.anna)["memory/2025-01-15.md"]
    assert text.index("**Note:** A") < text.index("**Note:** B")


def test_case_daily_notes_2_what_is_written_past_midnight_is_the_new_days(scene: Scene) -> None:
    add(scene, at=datetime(2025, 1, 15, 18, 59, 58, tzinfo=UTC), time_zone="Asia/Tashkent")
    after = datetime(2025, 1, 15, 19, 0, 3, tzinfo=UTC)
    add(scene, at=after, time_zone="Asia/Tashkent", source="turn:2")
    assert sorted(exports.export(scene.anna)) == [
        "memory/2025-01-15.md",
        "memory/2025-01-16.md",
    ]


@pytest.mark.django_db(transaction=True)
def test_two_writers_at_once_lose_nothing() -> None:
    viewer = make_scene().anna
    start = threading.Barrier(2)

    def write(writer: int) -> None:
        start.wait(10)
        try:
            for number in range(100):
                notes.add_note(
                    viewer=viewer,
                    text=f"line {writer} {number}",
                    at=datetime(2025, 1, 15, 10, 30, tzinfo=UTC),
                    time_zone="UTC",
                    source=f"turn:{writer} {number}",
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, range(2), timeout=30))
    assert DailyNote.objects.count() == 200
    assert exports.export(viewer)["memory/2025-01-15.md"].count("**Note:**") == 200


def test_hooks_hear_of_writes_and_their_mistakes_reach_nobody(
    scene: Scene, django_capture_on_commit_callbacks: Any
) -> None:
    heard: list[tuple[str, str]] = []

    def broken(content: str, source: str) -> None:
        raise RuntimeError("not the writer's")

    def listen(content: str, source: str) -> None:
        heard.append((content, source))

    for hook in (broken, listen):
        hooks.add_write_hook(hook)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            add(scene)
            add(scene)
    finally:
        for hook in (broken, listen):
            hooks.remove_write_hook(hook)
    assert heard == [("Tell me about FastAPI\nFastAPI is a modern framework.", "turn:1")]
