"""Memory's files of a workspace, read into what they say: plain Python, each mistake by its line.

The files are those that ``exports`` writes, and Qanot AI's and OpenClaw's of the same names.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from memory import files

QUESTION_CHARACTERS: Final = 120
ANSWER_CHARACTERS: Final = 220
NOTE_CHARACTERS: Final = 2_000

_STATE: Final = re.compile(r"^- \[([^\]]{10,40})\] \*\*([a-z_]{3,20})\*\*: (.+)$")
_DAY: Final = re.compile(r"^memory/(\d{4}-\d{2}-\d{2})\.md$")
_TIME: Final = re.compile(r"^## \[(\d{2}:\d{2}(?::\d{2})?)([+-]\d{2}:\d{2}(?::\d{2})?|Z)?\]\s*$")
_SPOKEN: Final = re.compile(r"^\*\*(User|Agent|Note):\*\* ?(.*)$")
_BULLET: Final = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a line of a file is not understood for; line 0 is the whole file."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class StateLine:
    """One fact of SESSION-STATE.md."""

    category: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One entry in a day's notes; ``text`` is an own note, empty for an exchange."""

    at: datetime
    time_zone: str
    question: str = ""
    answer: str = ""
    text: str = ""


Report = Callable[[Mistake], None]


def day_of_file(name: str) -> date | None:
    """Return the day whose notes a file holds; None for every other file, or no such day."""
    found = _DAY.match(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def state_lines(text: str, *, categories: Iterable[str], report: Report) -> list[StateLine]:
    """Return the facts of a SESSION-STATE.md, in its order."""
    known = set(categories)
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fact = _STATE.match(line)
        at = _moment(fact[1]) if fact else None
        if fact is None:
            report(Mistake(number, "no fact: “- [time] **category**: text” is expected"))
        elif at is None:
            report(Mistake(number, f"no time with an offset: {fact[1][:40]}"))
        elif fact[2] not in known:
            report(Mistake(number, f"no category: {fact[2]}"))
        else:
            found.append(StateLine(fact[2], files.one_line(fact[3]), at))
    return found


def note_lines(text: str, day: date, *, zones: Iterable[str], report: Report) -> list[NoteLine]:
    """Return the entries of a day's notes, in its order.

    Text without our headings, as OpenClaw writes it, becomes own notes, a line each.

    Args:
        zones: Time zones that are likely, the likeliest first; times without an offset are of
            the first.
    """
    return list(_Notes(day, tuple(zones) or ("UTC",), report).read(text))


class _Notes:
    """Reads one day's file."""

    def __init__(self, day: date, zones: tuple[str, ...], report: Report) -> None:
        self._day, self._zones, self._report = day, zones, report
        self._at = datetime.combine(day, time(), tzinfo=ZoneInfo(zones[0]))
        self._zone = zones[0]

    def read(self, text: str) -> Iterator[NoteLine]:
        begun: dict[str, str] = {}
        last, number_of_first = "", 0
        for number, line in enumerate(text.splitlines(), start=1):
            heading, spoken = _TIME.match(line), _SPOKEN.match(line)
            if heading or line.startswith("# "):
                yield from self._entry(begun, number_of_first)
                begun, last = {}, ""
                if heading:
                    self._begin(heading, number)
            elif spoken:
                if spoken[1] == "Note" or spoken[1] in begun or "Note" in begun:
                    yield from self._entry(begun, number_of_first)
                    begun = {}
                number_of_first = number_of_first if begun else number
                last = spoken[1]
                begun[last] = spoken[2]
            elif not line.strip():
                last = last if begun and "Agent" not in begun and "Note" not in begun else ""
            elif last:
                # An answer that was written over several lines.
                begun[last] = f"{begun[last]} {line}"
            else:
                yield from self._entry(begun, number_of_first)
                begun = {}
                yield from self._loose(line, number)
        yield from self._entry(begun, number_of_first)

    def _begin(self, heading: "re.Match[str]", number: int) -> None:
        found = self._moment(heading[1], heading[2] or "")
        if found is None:
            self._report(Mistake(number, f"no time of day: {heading[0][:40]}"))
        else:
            self._at, self._zone = found

    def _moment(self, clock: str, offset: str) -> tuple[datetime, str] | None:
        try:
            local = datetime.combine(self._day, time.fromisoformat(clock))
            if not offset:
                return local.replace(tzinfo=ZoneInfo(self._zones[0])), self._zones[0]
            at = datetime.fromisoformat(f"{local.isoformat()}{offset}")
        except ValueError:
            return None
        shift = at.utcoffset() or timedelta()
        return at, _zone_with(shift, at, self._zones)

    def _entry(self, begun: dict[str, str], number: int) -> Iterator[NoteLine]:
        if not begun:
            return
        if "Note" in begun:
            yield self._own(begun["Note"], number)
            return
        if len(begun) < 2:
            self._report(Mistake(number, "only one side of an exchange; kept as it is"))
        yield NoteLine(
            self._at,
            self._zone,
            question=self._cut(begun.get("User", ""), QUESTION_CHARACTERS, number),
            answer=self._cut(begun.get("Agent", ""), ANSWER_CHARACTERS, number),
        )

    def _loose(self, line: str, number: int) -> Iterator[NoteLine]:
        words = files.one_line(_BULLET.sub("", line)).lstrip("# ")
        if any(sign.isalnum() for sign in words):
            yield self._own(words, number)

    def _own(self, text: str, number: int) -> NoteLine:
        return NoteLine(self._at, self._zone, text=self._cut(text, NOTE_CHARACTERS, number))

    def _cut(self, text: str, most: int, number: int) -> str:
        line = files.one_line(text)
        if len(line) > most:
            self._report(Mistake(number, f"longer than {most} characters: cut"))
        return line[:most].rstrip()


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def _zone_with(shift: timedelta, at: datetime, likely: Iterable[str]) -> str:
    """Return a time zone that had this offset then; the file tells no more of it."""
    for name in likely:
        if at.astimezone(ZoneInfo(name)).utcoffset() == shift:
            return name
    hours, rest = divmod(int(shift.total_seconds()), 3600)
    if rest == 0 and -14 <= -hours <= 12:
        return f"Etc/GMT{-hours:+d}" if hours else "UTC"
    for name in sorted(available_timezones()):
        if at.astimezone(ZoneInfo(name)).utcoffset() == shift:
            return name
    return "UTC"
