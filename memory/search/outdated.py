"""Conversations that tell what was corrected since.

A corrected fact is not in the index, but the exchange in which it was told is, and stays: it was
said. It is marked with the fact that took its place, and stands below it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents import sql
from agents.core.viewer import Viewer
from memory.index.folding import fold
from memory.models import VISIBLE_SQL, Passage, visible_values
from memory.search.results import Found

# Of very many the newest; what was said again since, in the same scope, holds again: what others
# say elsewhere tells nothing here.
_CORRECTED: Final = f"""
    SELECT old.text, p.id FROM (
        SELECT text, superseded_by_id FROM memory_walentry told
        WHERE {VISIBLE_SQL} AND superseded_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM memory_walentry again
            WHERE again.team_id = told.team_id AND again.scope = told.scope
                AND again.agent_id IS NOT DISTINCT FROM told.agent_id
                AND again.person_id IS NOT DISTINCT FROM told.person_id
                AND again.chat_id IS NOT DISTINCT FROM told.chat_id
                AND again.fingerprint = told.fingerprint
                AND again.superseded_at IS NULL AND again.retracted_at IS NULL)
        ORDER BY superseded_at DESC LIMIT 300) old
    JOIN memory_passage p ON p.source = 'fact:' || old.superseded_by_id
        AND p.scope_id = ANY(%s) AND p.hidden_at IS NULL
"""  # noqa: S608 — constants only


@dataclass(frozen=True, slots=True)
class _Corrected:
    words: str
    newer: str


def marked(found: Sequence[Found], viewer: Viewer, scope_ids: Sequence[int]) -> list[Found]:
    """Mark exchanges that tell what was corrected, and put them below what holds now.

    Args:
        found: The best first.
        scope_ids: The scopes of the index that the viewer sees.
    """
    if not any(_may_be(one) for one in found):
        return list(found)
    rows = sql.fetch(_CORRECTED, [*visible_values(viewer), list(scope_ids)])
    corrected = [
        _Corrected(words, str(newer)) for text, newer in rows if (words := fold(text).strip(" .!"))
    ]
    if not corrected:
        return list(found)
    return _below_what_holds([_mark(one, corrected) for one in found])


def _may_be(one: Found) -> bool:
    return one.kind == Passage.Kind.EXCHANGE


def _tells(folded: str, words: str) -> bool:
    """Return whether a text has these words: ``My name is Alisher`` has no ``My name is Ali``."""
    if words not in folded:
        return False
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w|[.,:/-]\d)", folded))


def _mark(one: Found, corrected: Sequence[_Corrected]) -> Found:
    if not _may_be(one):
        return one
    folded = fold(one.content)
    newer = next((each.newer for each in corrected if _tells(folded, each.words)), "")
    return replace(one, newer=newer, was_corrected=True) if newer else one


def _below_what_holds(found: Sequence[Found]) -> list[Found]:
    places = {id_: number for number, one in enumerate(found) for id_ in (one.id, *one.also)}

    def place(number: int) -> tuple[int, bool]:
        below = places.get(found[number].newer, -1)
        return (below, True) if below > number else (number, False)

    return [found[number] for number in sorted(range(len(found)), key=place)]
