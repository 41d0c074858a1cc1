"""Daily notes: one cut an exchange, on the right day, in the right scope."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memory import notes
from memory.models import DailyNote

from .conftest import Scene


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


def test_day_is_the_local_one(scene: Scene) -> None:
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
