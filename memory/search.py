"""Search over MEMORY.md, the last 30 days' notes and session state, by words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Final

from agents.core.viewer import Viewer
from memory import files
from memory.models import DailyNote, MemoryDocument, Scope, WalEntry
from memory.ranking import Line, rank
from memory.superseding import HOLDS, TRUSTED

NOTES_AGE: Final = timedelta(days=30)

# A viewer sees several MEMORY.md: the one of their own scope has the plain name.
_FOLDERS: dict[str, str] = {Scope.AGENT: "agent/", Scope.TEAM: "team/"}


@dataclass(frozen=True, slots=True)
class Found:
    """One line that fits, in the file as it is exported for this viewer."""

    file: str
    line: int
    content: str


def search(query: str, *, viewer: Viewer, now: datetime, limit: int = 10) -> list[Found]:
    """Return the lines visible to the viewer that fit a query, the best first.

    Whatever a case-insensitive substring search finds, this finds, and first. What came from
    outside is not searched: it is no fact by itself. Nor is what its person took back.
    """
    lines = [*_documents(viewer), *_notes(viewer, now), *_session_state(viewer)]
    return [Found(hit.file, hit.line, hit.content) for hit in rank(query, lines, limit=limit)]


def _documents(viewer: Viewer) -> Iterator[Line]:
    for document in MemoryDocument.objects.visible_to(viewer).order_by("id"):
        name = _FOLDERS.get(document.scope, "") + document.name
        for number, content in enumerate(document.text.splitlines(), start=1):
            day = files.day_of(content)
            yield Line(name, number, content, _midnight(day) if day else document.updated_at)


def _notes(viewer: Viewer, now: datetime) -> Iterator[Line]:
    """Yield the lines of each day's file, which shows the day's exchanges in their order."""
    since = now.astimezone(UTC).date() - NOTES_AGE
    notes = (
        DailyNote.objects.visible_to(viewer)
        .filter(day__gte=since)
        .order_by("day", "occurred_at", "id")
    )
    for day, exchanges in groupby(notes, key=lambda note: note.day):
        name = files.note_file(day)
        number = 0
        for content in files.note_heading(day):
            number += 1
            yield Line(name, number, content, _midnight(day))
        for note in exchanges:
            for content in files.lines_of(note):
                number += 1
                yield Line(name, number, content, note.occurred_at)


def _session_state(viewer: Viewer) -> Iterator[Line]:
    """Yield every noted fact, of all times: a reset forgets nothing in silence."""
    entries = (
        WalEntry.objects.visible_to(viewer)
        .filter(HOLDS, TRUSTED)
        .exclude(category=WalEntry.Category.FORGET)
        .order_by("created_at", "id")
        .values_list("category", "text", "created_at")
    )
    # The heading and a blank line stand before the first.
    for number, (category, text, at) in enumerate(entries, start=3):
        yield Line(files.SESSION_STATE, number, files.state_line(category, text, at), at)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
