"""The texts of memory's files, line by line; rows are the truth, these are how they are shown.

MEMORY.md is a heading and one line a fact, with the day (UTC) on which it was noted::

    # MEMORY.md -- Long-Term Memory

    - [2025-01-15] My name is Sardor
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Final, Literal, Protocol
from zoneinfo import ZoneInfo

MEMORY: Final = "MEMORY.md"
SESSION_STATE: Final = "SESSION-STATE.md"
MEMORY_HEADING: Final = "# MEMORY.md -- Long-Term Memory"
SESSION_STATE_HEADING: Final = "# SESSION-STATE.md -- Active Working Memory"
# A viewer sees several MEMORY.md: the one of their own scope has the plain name.
FOLDERS: Final[Mapping[str, str]] = {"agent": "agent/", "team": "team/"}

# Headings as Qanot AI writes them, or ours, which tell the offset from UTC.
Preset = Literal["default", "qanot"]

_DATED = re.compile(r"^- (?:\[(\d{4}-\d{2}-\d{2})\] )?")

_STAMPED = re.compile(
    r"^\s*(?:[-*]\s+)?(?:\[\d{4}-\d{2}-\d{2}[^\]]{0,20}\]\s*)?(?:\*\*[a-z_]{3,20}\*\*:\s*)?"
)


class NoteEntry(Protocol):
    """What of a daily note its file shows; ``text`` is the agent's own, empty for an exchange."""

    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def occurred_at(self) -> datetime: ...
    @property
    def time_zone(self) -> str: ...


def one_line(text: str) -> str:
    """Fold white space of every kind, new lines too, into single spaces.

    A model may send what PostgreSQL's text does not hold: NUL is left out, half a pair of
    surrogates becomes a question mark.
    """
    clean = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return " ".join(clean.split())


def fact_line(fact: str, on: date) -> str:
    """Return a fact as a line of MEMORY.md."""
    return f"- [{on.isoformat()}] {one_line(fact)}"


def fact_of(line: str) -> str | None:
    """Return the fact of a line of MEMORY.md; None for headings, blanks and prose."""
    mark = _DATED.match(line)
    return line[mark.end() :] if mark else None


def words_of_line(line: str) -> str:
    """Return what a line of any of memory's files says, without day, stamp and category."""
    return one_line(_STAMPED.sub("", line))


def day_of(line: str) -> date | None:
    """Return the day that a line of MEMORY.md bears."""
    mark = _DATED.match(line)
    return date.fromisoformat(mark[1]) if mark and mark[1] else None


def state_line(category: str, text: str, at: datetime) -> str:
    """Return a noted fact as a line of SESSION-STATE.md."""
    return f"- [{at.isoformat(timespec='seconds')}] **{category}**: {one_line(text)}"


def note_file(day: date) -> str:
    """Return the name of a day's notes."""
    return f"memory/{day.isoformat()}.md"


def note_heading(day: date) -> list[str]:
    """Return the lines with which a day's notes begin."""
    return [f"# Daily Notes -- {day.isoformat()}", ""]


def note_lines(
    question: str, answer: str, at: datetime, time_zone: str, *, preset: Preset = "default"
) -> list[str]:
    """Return one exchange as lines of its day's notes, at its local time."""
    heading = note_time(at, time_zone, preset=preset)
    return [heading, f"**User:** {question}", f"**Agent:** {answer}", ""]


def own_note_lines(
    text: str, at: datetime, time_zone: str, *, preset: Preset = "default"
) -> list[str]:
    """Return the agent's own note as lines of its day's notes."""
    return [note_time(at, time_zone, preset=preset), f"**Note:** {text}", ""]


def note_time(at: datetime, time_zone: str, *, preset: Preset = "default") -> str:
    """Return the heading of an entry in a day's notes: its local time, ours with the offset."""
    local = at.astimezone(ZoneInfo(time_zone))
    if preset == "qanot":
        return f"## [{local:%H:%M:%S}]"
    return f"## [{local.isoformat('T', 'seconds')[11:]}]"


def notes_of_day(
    day: date, entries: Iterable[NoteEntry], *, preset: Preset = "default"
) -> list[str]:
    """Return a day's file, line by line; a search names these numbers, counted from one."""
    lines = note_heading(day)
    for entry in entries:
        lines += lines_of(entry, preset=preset)
    return lines


def lines_of(entry: NoteEntry, *, preset: Preset = "default") -> list[str]:
    """Return one entry as lines of its day's notes."""
    if entry.text:
        return own_note_lines(entry.text, entry.occurred_at, entry.time_zone, preset=preset)
    return note_lines(
        entry.question, entry.answer, entry.occurred_at, entry.time_zone, preset=preset
    )
