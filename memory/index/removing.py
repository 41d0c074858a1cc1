"""Many passages leave the index at once: each block of terms is written once, however many go.

One by one, as the background does it, every passage would write all blocks of its terms again.
"""

from collections.abc import Collection
from typing import Final

from django.db import transaction

from agents import sql
from memory.index import fresh

_SCOPES: Final = """
    SELECT id FROM memory_memoryscope WHERE id IN (
        SELECT scope_id FROM memory_passage WHERE id = ANY(%s))
    ORDER BY id FOR NO KEY UPDATE
"""
_STATEMENTS: Final = (
    """
    UPDATE memory_posting b SET entries = ARRAY(
        SELECT e FROM unnest(b.entries) AS e WHERE NOT e >> 15 = ANY(%(ids)s::bigint[]) ORDER BY e)
    WHERE b.scope_id = ANY(%(scopes)s) AND EXISTS (
        SELECT FROM unnest(b.entries) AS e WHERE e >> 15 = ANY(%(ids)s::bigint[]))
    """,
    "DELETE FROM memory_posting WHERE scope_id = ANY(%(scopes)s) AND cardinality(entries) = 0",
    """
    WITH gone AS (
        DELETE FROM memory_passagevector WHERE passage_id = ANY(%(ids)s) RETURNING scope_id
    )
    UPDATE memory_memoryscope s SET vectors = greatest(s.vectors - d.n, 0)
    FROM (SELECT scope_id, count(*) AS n FROM gone GROUP BY scope_id) d WHERE s.id = d.scope_id
    """,
    """
    UPDATE memory_memoryscope s SET passages = greatest(s.passages - d.n, 0),
        words = greatest(s.words - d.words, 0), grams = greatest(s.grams - d.grams, 0)
    FROM (SELECT scope_id, count(*) AS n, sum(words) AS words, sum(grams) AS grams
        FROM memory_passage WHERE id = ANY(%(ids)s) AND is_indexed GROUP BY scope_id) d
    WHERE s.id = d.scope_id
    """,
    """
    UPDATE memory_memorythread t SET words = greatest(t.words - d.words, 0)
    FROM (SELECT thread_id, sum(words) AS words FROM memory_passage
        WHERE id = ANY(%(ids)s) AND is_indexed GROUP BY thread_id) d
    WHERE t.id = d.thread_id
    """,
    "DELETE FROM memory_passage WHERE id = ANY(%(ids)s)",
)


@transaction.atomic
def remove(ids: Collection[int]) -> None:
    """Remove passages with their terms and vectors, and what they count for in their scopes."""
    keys = sorted(ids)
    # Who is indexing one of them holds it before its scope: first wait for that.
    sql.fetch("SELECT id FROM memory_passage WHERE id = ANY(%s) ORDER BY id FOR UPDATE", [keys])
    scopes = [row[0] for row in sql.fetch(_SCOPES, [keys])]
    fresh.forget(keys, scopes)
    for statement in _STATEMENTS:
        sql.execute(statement, {"ids": keys, "scopes": scopes})
