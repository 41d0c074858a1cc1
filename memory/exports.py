"""Memory as files, for a named viewer: what they may see, and nothing else."""

from collections.abc import Iterable
from itertools import groupby

from django.db.models import QuerySet

from agents.core.viewer import Viewer
from memory import files
from memory.files import Preset
from memory.models import DailyNote, MemoryDocument, WalEntry
from memory.superseding import HOLDS, TRUSTED


def export(viewer: Viewer, *, preset: Preset = "default") -> dict[str, str]:
    """Return the files that this viewer's memory is, by name.

    Entries stand in the order of their time, then of their number.

    Args:
        preset: ``qanot`` writes them byte for byte as Qanot AI does; ours tells in the notes'
            headings how far the local time is from UTC.
    """
    shown: dict[str, str] = {}
    for folder in ("", *files.FOLDERS.values()):
        if state := _state_of(viewer, folder):
            shown[folder + files.SESSION_STATE] = state
    shown |= _documents(viewer)
    shown |= _notes(viewer, preset)
    return shown


def _state_of(viewer: Viewer, folder: str) -> str:
    """Return as SESSION-STATE.md the facts of the scope that a folder names, or of the others."""
    named = [scope for scope, start in files.FOLDERS.items() if start == folder]
    facts = _facts(viewer)
    return _as_state(
        facts.filter(scope__in=named) if named else facts.exclude(scope__in=files.FOLDERS)
    )


def _facts(viewer: Viewer) -> QuerySet[WalEntry]:
    return (
        WalEntry.objects.visible_to(viewer)
        .filter(HOLDS, TRUSTED)
        .exclude(category=WalEntry.Category.FORGET)
        .order_by("created_at", "id")
    )


def _as_state(entries: Iterable[WalEntry]) -> str:
    lines = [files.state_line(entry.category, entry.text, entry.created_at) for entry in entries]
    return "\n".join([files.SESSION_STATE_HEADING, "", *lines, ""]) if lines else ""


def _documents(viewer: Viewer) -> dict[str, str]:
    rows = MemoryDocument.objects.visible_to(viewer).filter(deleted_at=None).order_by("id")
    return {files.FOLDERS.get(row.scope, "") + row.name: row.text for row in rows if row.text}


def _notes(viewer: Viewer, preset: Preset) -> dict[str, str]:
    notes = DailyNote.objects.visible_to(viewer).order_by("day", "occurred_at", "id")
    return {
        files.note_file(day): "\n".join(files.notes_of_day(day, entries, preset=preset))
        for day, entries in groupby(notes, key=lambda note: note.day)
    }
