"""The texts of memory's files, line by line; rows are the truth, these are how they are shown.

MEMORY.md is a heading and one line a fact, with the day (UTC) on which it was noted::

    # MEMORY.md -- Long-Term Memory

    - [2025-01-15] My name is Sardor
"""

import re
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

MEMORY: Final = "MEMORY.md"
SESSION_STATE: Final = "SESSION-STATE.md"
MEMORY_HEADING: Final = "# MEMORY.md -- Long-Term Memory"
SESSION_STATE_HEADING: Final = "# SESSION-STATE.md -- Active Working Memory"

_DATED = re.compile(r"^- (?:\[(\d{4}-\d{2}-\d{2})\] )?")


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


def note_lines(question: str, answer: str, at: datetime, time_zone: str) -> list[str]:
    """Return one exchange as lines of its day's notes, at its local time; an offset is shown."""
    local = at.astimezone(ZoneInfo(time_zone))
    time = f"{local:%H:%M:%S}" if not local.utcoffset() else local.isoformat("T", "seconds")[11:]
    return [f"## [{time}]", f"**User:** {question}", f"**Agent:** {answer}", ""]
