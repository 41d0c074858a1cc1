"""Terms of passages that came alone: one row each, until enough of a scope's are joined to blocks.

A passage has a hundred terms. Written as blocks of one, they take the database most of the time
that indexing takes; a search reads the few rows that wait here beside the blocks.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from agents import sql
from memory.index.terms import Terms

# A term, how often it stands in the passage, and how long that is in words or letter groups.
_RECORD: Final = struct.Struct("<qBB")
MOST_TIMES: Final = 127
MOST_LENGTH: Final = 255
# So many of a scope are joined at once. A search reads them all, some two kilobytes each.
JOINED_FROM: Final = 64

_FULL: Final = """
    SELECT id FROM memory_memoryscope WHERE fresh >= %s ORDER BY fresh DESC LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
"""
# What another transaction is adding right now is not seen, and stays.
_TAKE: Final = """
    DELETE FROM memory_freshterms WHERE scope_id = %s RETURNING passage_id, terms
"""
_FORGET: Final = """
    WITH gone AS (
        DELETE FROM memory_freshterms
        WHERE scope_id = ANY(%(scopes)s::bigint[]) AND passage_id = ANY(%(ids)s::bigint[])
        RETURNING scope_id, passage_id
    ),
    counted AS (
        UPDATE memory_memoryscope s SET fresh = s.fresh - d.n
        FROM (SELECT scope_id, count(*) AS n FROM gone GROUP BY scope_id) d
        WHERE s.id = d.scope_id
    )
    SELECT passage_id FROM gone
"""


class Entry(NamedTuple):
    """Where a term stands: what a block holds of a passage."""

    term: int
    entry: int


def packed(found: Terms) -> bytes:
    """Return a passage's terms as one value."""
    return b"".join(
        [
            _RECORD.pack(term, min(times, MOST_TIMES), length)
            for kind, length in lengths(found)
            for term, times in kind.items()
        ]
    )


def lengths(found: Terms) -> Iterator[tuple[dict[int, int], int]]:
    """Yield the terms of both kinds, with how long the passage is in that kind, as entries hold it.

    Letter groups are counted in eights, as a text has so many more of them.
    """
    yield found.stems, min(found.words, MOST_LENGTH)
    yield found.grams, min(-(-found.letters // 8), MOST_LENGTH)


def entry(passage_id: int, times: int, length: int) -> int:
    """Return what a block holds of one term of a passage."""
    return passage_id << 15 | min(times, MOST_TIMES) << 8 | length


def fullest(at_least: int) -> int | None:
    """Return the scope that has most passages here, if it has so many; its row is held."""
    rows = sql.fetch(_FULL, [at_least])
    return rows[0][0] if rows else None


def take(scope_id: int) -> tuple[int, list[Entry]]:
    """Take a scope's terms from here; return of how many passages, and the terms.

    The caller holds the scope's row.
    """
    rows = sql.fetch(_TAKE, [scope_id])
    return len(rows), [
        Entry(term, entry(passage_id, times, length))
        for passage_id, terms in rows
        for term, times, length in _RECORD.iter_unpack(terms)
    ]


def forget(ids: list[int], scope_ids: list[int]) -> set[int]:
    """Remove the terms of passages from here; return of which there were some.

    The caller holds the scopes' rows, so that they are not being joined.
    """
    values = {"ids": sql.array(ids), "scopes": sql.array(scope_ids)}
    return {row[0] for row in sql.fetch(_FORGET, values)}
