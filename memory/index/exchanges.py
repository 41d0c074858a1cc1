"""Each exchange in full: what a person said and what the agent answered, as passages."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone

from agents import sql
from agents.core.viewer import Viewer
from memory import files
from memory.detector import mask_secrets
from memory.index import versions, writing
from memory.index.folding import fold
from memory.index.writing import Text
from memory.models import Origin, Passage, owns_scope, scope_of

# Shorter words stand in many exchanges that say something else.
_FEWEST_LETTERS: Final = 4

_NAMES: Final = """
    SELECT coalesce((SELECT display_name FROM agents_person WHERE id = %s), ''),
        coalesce((SELECT name FROM agents_agent WHERE id = %s), '')
"""


def add(
    *,
    viewer: Viewer,
    said: str,
    answer: str,
    at: datetime,
    time_zone: str,
    source: str,
    thread: str,
    is_tainted: bool = False,
) -> None:
    """Let an exchange be found, secrets masked; once a source, in the caller's transaction.

    Nothing is kept for a viewer without a scope of their own.

    Args:
        at: When it was answered.
        time_zone: IANA name; the exchange is noted under the day that it is there.
        source: The turn, as text: ``turn:81``.
        thread: The conversation's stretch, as text: ``session:3/1``.
        is_tainted: Text from outside was read before it was answered, which the answer may repeat:
            the answer is marked as untrusted. What the person said is theirs all the same.
    """
    if not owns_scope(viewer):
        return
    ((author_name, agent_name),) = sql.fetch(_NAMES, [viewer.person_id, viewer.agent_id])
    file = files.note_file(at.astimezone(ZoneInfo(time_zone)).date())
    parts = [
        Text(mask_secrets(said), at, Origin.PERSON, viewer.person_id, author_name, file),
        Text(
            mask_secrets(answer),
            at,
            Origin.UNTRUSTED if is_tainted else Origin.AGENT,
            None,
            agent_name,
            file,
        ),
    ]
    writing.add(
        parts,
        home=scope_of(viewer),
        kind=Passage.Kind.EXCHANGE,
        source=source,
        thread=thread,
    )


def hide_telling(texts: Iterable[str], *, home: Mapping[str, object]) -> list[str]:
    """Let exchanges of a scope in which one of these texts was said never be found again.

    The whole exchange goes: what the agent answered may repeat it.

    Returns:
        Their sources, as text: ``turn:81``.
    """
    needles = {" ".join(fold(text).split()).strip(" .,;:!") for text in texts}
    says = Q()
    for needle in needles:
        if sum(map(str.isalnum, needle)) >= _FEWEST_LETTERS:
            says |= Q(folded__contains=needle)
    if not says:
        return []
    versions.hold_filling(int(str(home["team_id"])))
    scope = {f"scope__{column}": value for column, value in home.items()}
    told = Passage.objects.filter(**scope, kind=Passage.Kind.EXCHANGE, hidden_at=None)
    sources = sorted(set(told.filter(says).values_list("source", flat=True)))
    told.filter(source__in=sources).update(hidden_at=timezone.now())
    return sources
