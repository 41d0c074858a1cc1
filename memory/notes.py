"""Daily notes: a cut of every exchange and the agent's own notes, in the scope they belong to.

Notes are only ever added, each as a row of its own, so that writers at the same time lose
nothing, and each belongs to the local day on which it is written.
"""

import hashlib
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agents import sql
from agents.core.viewer import Viewer
from memory import files, hooks
from memory.detector import mask_secrets
from memory.models import owns_scope, scope_of

QUESTION_CHARACTERS: Final = 100
ANSWER_CHARACTERS: Final = 200
NOTE_CHARACTERS: Final = 2_000
_SOURCE_CHARACTERS: Final = 64

_SCOPE_COLUMNS = ("team_id", "scope", "agent_id", "person_id", "chat_id")
_ADD = """
    INSERT INTO memory_dailynote (team_id, scope, agent_id, person_id, chat_id,
        day, occurred_at, time_zone, question, answer, text, source)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (source) DO NOTHING
"""


def add_exchange(
    *,
    viewer: Viewer,
    question: str,
    answer: str,
    at: datetime,
    time_zone: str,
    source: str,
    keeps: bool = True,
) -> None:
    """Note an exchange, secrets masked; once a source, and nowhere for a viewer without a scope.

    Args:
        time_zone: IANA name; the note belongs to the day that it is there.
        source: The turn, as text: ``turn:81``.
        keeps: False for an agent that remembers nothing.
    """
    if not keeps or not owns_scope(viewer):
        return
    asked, answered = _cut(question, QUESTION_CHARACTERS), _cut(answer, ANSWER_CHARACTERS)
    if _add(viewer, at, time_zone, asked, answered, "", source):
        hooks.written(f"{asked}\n{answered}", source)


def add_note(*, viewer: Viewer, text: str, at: datetime, time_zone: str, source: str) -> bool:
    """Add the agent's own line to the day's notes, secrets masked; False where it stands there.

    Args:
        text: Folded to one line, cut after 2,000 characters.
        source: The tool's call, as text; the same call writes once.

    Raises:
        ValueError: The viewer owns no scope.
    """
    if not owns_scope(viewer):
        raise ValueError("a viewer without a private person or a group owns no scope")
    clean = _cut(text, NOTE_CHARACTERS)
    if not clean or not _add(viewer, at, time_zone, "", "", clean, _short(source)):
        return False
    hooks.written(clean, source)
    return True


def _add(
    viewer: Viewer,
    at: datetime,
    time_zone: str,
    question: str,
    answer: str,
    text: str,
    source: str,
) -> bool:
    scope = scope_of(viewer)
    day = at.astimezone(ZoneInfo(time_zone)).date()
    columns = (scope.get(column) for column in _SCOPE_COLUMNS)
    values = [*columns, day, at, time_zone, question, answer, text, source]
    return sql.execute(_ADD, values) == 1


def _short(source: str) -> str:
    """Return a source that fits its column; a provider's call ids have any length."""
    if len(source) <= _SOURCE_CHARACTERS:
        return source
    turn, _, call = source.partition(" ")
    return f"{turn[:31]} {hashlib.sha256(call.encode()).hexdigest()[:32]}"


def _cut(text: str, characters: int) -> str:
    """Mask, fold and cut; what lies far behind the cut is not even looked at."""
    start = files.one_line(mask_secrets(text[: 20 * characters]))
    return start if len(start) <= characters else f"{start[:characters].rstrip()}…"
