"""How alike passages are to each other, for the few that are shown."""

from collections.abc import Sequence
from typing import Final

from agents import sql
from memory.search.background import Background

# In the database, as the vectors are there; behind the mean of their kind, as all of a kind have
# much in common.
_PAIRS: Final = """
    WITH shown AS MATERIALIZED (
        SELECT passage_id AS id, vector::vector - CASE WHEN passage_id = ANY(%(said)s::bigint[])
            THEN %(mean_said)s::vector ELSE %(mean)s::vector END AS about
        FROM memory_passagevector
        WHERE passage_id = ANY(%(ids)s::bigint[]) AND space_id = %(space)s
    )
    SELECT a.id, b.id, 1 - (a.about <=> b.about)
    FROM shown a JOIN shown b ON a.id < b.id
"""


def likeness(
    ids: Sequence[int], *, said: Sequence[int], space_id: int, usual: Background
) -> dict[tuple[int, int], float]:
    """Return the cosine of each pair of passages behind what is usual, the smaller id first.

    Pairs of which one has no vector are left out.

    Args:
        said: Those whose vector names who said it.
    """
    if len(ids) < 2:
        return {}
    values = {
        "ids": list(ids),
        "said": list(said),
        "space": space_id,
        "mean": _text_of(usual.statements),
        "mean_said": _text_of(usual.said),
    }
    return {(one, other): alike for one, other, alike in sql.fetch(_PAIRS, values, prepare=False)}


def _text_of(vector: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.5g}' for value in vector)}]"
