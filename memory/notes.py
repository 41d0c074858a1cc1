"""Daily notes: a cut of every exchange, in the scope in which it happened."""

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agents import sql
from agents.core.viewer import Viewer
from memory import files
from memory.detector import mask_secrets
from memory.models import owns_scope, scope_of

QUESTION_CHARACTERS: Final = 100
ANSWER_CHARACTERS: Final = 200

_SCOPE_COLUMNS = ("team_id", "scope", "agent_id", "person_id", "chat_id")
_ADD = """
    INSERT INTO memory_dailynote (team_id, scope, agent_id, person_id, chat_id,
        day, occurred_at, time_zone, question, answer, text, source)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '', %s)
    ON CONFLICT (source) DO NOTHING
"""


def add_exchange(
    *, viewer: Viewer, question: str, answer: str, at: datetime, time_zone: str, source: str
) -> None:
    """Note an exchange, secrets masked; once a source, and nowhere for a viewer without a scope.

    Args:
        time_zone: IANA name; the note belongs to the day that it is there.
        source: The turn, as text: ``turn:81``.
    """
    if not owns_scope(viewer):
        return
    scope = scope_of(viewer)
    sql.execute(
        _ADD,
        [
            *(scope.get(column) for column in _SCOPE_COLUMNS),
            at.astimezone(ZoneInfo(time_zone)).date(),
            at,
            time_zone,
            _cut(question, QUESTION_CHARACTERS),
            _cut(answer, ANSWER_CHARACTERS),
            source,
        ],
    )


def _cut(text: str, characters: int) -> str:
    """Mask, fold and cut; what lies far behind the cut is not even looked at."""
    start = files.one_line(mask_secrets(text[: 20 * characters]))
    return start if len(start) <= characters else f"{start[:characters].rstrip()}…"
