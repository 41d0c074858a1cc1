"""Memory as files, for a named viewer: what they may see, and nothing else."""

from itertools import groupby

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
    state = session_state(viewer)
    if state:
        shown[files.SESSION_STATE] = state
    shown |= _documents(viewer)
    shown |= _notes(viewer, preset)
    return shown


def session_state(viewer: Viewer) -> str:
    """Return every fact that holds as SESSION-STATE.md; empty where there is none."""
    entries = (
        WalEntry.objects.visible_to(viewer)
        .filter(HOLDS, TRUSTED)
        .exclude(category=WalEntry.Category.FORGET)
        .order_by("created_at", "id")
    )
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
