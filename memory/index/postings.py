"""Terms of passages: written in blocks, taken out when a passage is gone, joined when loose.

Passages that come one by one have their terms in a row each first (`memory.index.fresh`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import structlog
from django.db import connection, transaction

from agents import sql
from memory.index import fresh, terms, texts
from memory.index.fresh import Entry
from memory.index.terms import Terms
from memory.models import Passage

_log = structlog.get_logger(__name__)

# A block of so many entries still lies in its row, where reading it costs least.
BLOCK: Final = 200
# Blocks of one, as new passages write them, are joined when a scope has so many.
LOOSE: Final = 20_000
# So many passages that a scope gets at once make blocks; fewer are fresh first.
FEW: Final = 16

_WAITING: Final = """
    SELECT id, scope_id, thread_id, kind, author_name, occurred_at, text FROM memory_passage
    WHERE NOT is_indexed AND hidden_at IS NULL AND {due}
    ORDER BY retry_at, id LIMIT %s FOR UPDATE SKIP LOCKED
"""
# New ones first; each of the two follows its index, which one condition for both would not.
_NEW: Final = _WAITING.format(due="retry_at IS NULL")
_AGAIN: Final = _WAITING.format(due="retry_at <= now()")
_NEWEST: Final = """
    SELECT id, scope_id, thread_id, kind, author_name, occurred_at, text FROM memory_passage
    WHERE NOT is_indexed AND hidden_at IS NULL AND retry_at IS NULL
        AND scope_id = ANY(%s)
    ORDER BY id DESC LIMIT %s FOR UPDATE SKIP LOCKED
"""
_COPY: Final = "COPY memory_posting (scope_id, term, first, entries) FROM STDIN"
# One statement for four tables, as a turn's exchange is indexed on its own. Nobody waits for it to
# reach the disk: what a crash takes away is indexed again. A thread is touched once its scope is
# held, as whoever removes passages does it in that order.
_INDEXED: Final = """
    WITH done AS (
        SELECT d.* FROM (SELECT set_config('synchronous_commit', 'off', true)) unwaited,
            unnest(%(ids)s::bigint[], %(scopes)s::bigint[], %(threads)s::bigint[],
                %(words)s::int[], %(grams)s::int[], %(blocks)s::int[], %(fresh)s::bytea[])
                AS d(id, scope_id, thread_id, words, grams, blocks, fresh)
    ),
    passages AS (
        UPDATE memory_passage p SET is_indexed = true, words = d.words, grams = d.grams,
            retry_at = NULL, attempts = 0
        FROM done d WHERE p.id = d.id
    ),
    fresh AS (
        INSERT INTO memory_freshterms (scope_id, passage_id, terms)
        SELECT scope_id, id, fresh FROM done WHERE fresh IS NOT NULL
    ),
    scopes AS (
        UPDATE memory_memoryscope s SET passages = s.passages + d.passages,
            words = s.words + d.words, grams = s.grams + d.grams, blocks = s.blocks + d.blocks,
            fresh = s.fresh + d.fresh
        FROM (
            SELECT scope_id, count(*) AS passages, sum(words) AS words, sum(grams) AS grams,
                sum(blocks) AS blocks, count(fresh) AS fresh
            FROM done GROUP BY scope_id
        ) d WHERE s.id = d.scope_id RETURNING s.id
    )
    UPDATE memory_memorythread t SET words = t.words + d.words
    FROM (SELECT scope_id, thread_id, sum(words) AS words FROM done GROUP BY 1, 2) d
    JOIN scopes ON scopes.id = d.scope_id WHERE t.id = d.thread_id
"""
_POSTPONE: Final = """
    UPDATE memory_passage SET attempts = least(attempts + 1, 1000),
        retry_at = now() + make_interval(secs => least(15 * 2 ^ least(attempts, 20), 3600))
    WHERE id = ANY(%s)
"""
_HIDDEN: Final = """
    SELECT id, scope_id, thread_id, kind, author_name, occurred_at, text, is_indexed, words, grams
    FROM memory_passage WHERE hidden_at IS NOT NULL ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
"""
# Entries of one scope change place only under its row.
_LOCK_SCOPES: Final = """
    SELECT id FROM memory_memoryscope WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE
"""
_TAKE_OUT: Final = """
    UPDATE memory_posting b
    SET entries = ARRAY(SELECT e FROM unnest(b.entries) AS e WHERE e >> 15 <> %(id)s ORDER BY e)
    WHERE b.scope_id = %(scope)s AND b.term = ANY(%(terms)s::bigint[]) AND b.first <= %(id)s
        AND EXISTS (SELECT FROM unnest(b.entries) AS e WHERE e >> 15 = %(id)s)
"""
_SWEEP_EMPTY: Final = """
    DELETE FROM memory_posting
    WHERE scope_id = %s AND term = ANY(%s::bigint[]) AND cardinality(entries) = 0
"""
_FORGET_VECTORS: Final = """
    WITH gone AS (DELETE FROM memory_passagevector WHERE passage_id = ANY(%s) RETURNING scope_id)
    UPDATE memory_memoryscope s SET vectors = s.vectors - d.n
    FROM (SELECT scope_id, count(*) AS n FROM gone GROUP BY scope_id) d WHERE s.id = d.scope_id
"""
_FORGET: Final = "DELETE FROM memory_passage WHERE id = ANY(%s)"
_LOOSE: Final = """
    SELECT id FROM memory_memoryscope WHERE blocks > %s ORDER BY blocks DESC LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
"""
_JOIN: Final = """
    WITH loose AS (
        SELECT term FROM memory_posting
        WHERE scope_id = %(scope)s AND cardinality(entries) < %(size)s
        GROUP BY term HAVING count(*) > 1
    ),
    gone AS (
        DELETE FROM memory_posting b USING loose
        WHERE b.scope_id = %(scope)s AND b.term = loose.term AND cardinality(b.entries) < %(size)s
        RETURNING b.term, b.entries
    )
    INSERT INTO memory_posting (scope_id, term, first, entries)
    SELECT %(scope)s, term, min(e >> 15), array_agg(e ORDER BY e)
    FROM (
        SELECT term, e, (row_number() OVER (PARTITION BY term ORDER BY e) - 1) / %(size)s AS block
        FROM gone, unnest(gone.entries) AS e
    ) entries GROUP BY term, block
"""
_JOINED: Final = "UPDATE memory_memoryscope SET blocks = 0 WHERE id = %s"
_JOINED_FRESH: Final = """
    UPDATE memory_memoryscope SET fresh = fresh - %s, blocks = blocks + %s WHERE id = %s
"""


class Row(NamedTuple):
    """What of a passage its terms are made of."""

    id: int
    scope_id: int
    thread_id: int
    kind: str
    author_name: str
    occurred_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class _Indexed:
    row: Row
    terms: Terms


def terms_of(row: Row) -> Terms:
    """Return a passage's terms: of who said it, on which day, and what."""
    at = row.occurred_at if row.kind == Passage.Kind.EXCHANGE else None
    return terms.of_text(texts.searched(row.text, author_name=row.author_name, at=at))


@transaction.atomic
def index_waiting(limit: int = 200) -> int:
    """Write the terms of passages that have none; return of how many.

    Several workers may do so at once: none takes a row that another one has.
    """
    return _index(
        sql.fetch(_NEW, [limit], prepare=False) or sql.fetch(_AGAIN, [limit], prepare=False)
    )


@transaction.atomic
def index_newest(scope_ids: Sequence[int], limit: int) -> int:
    """Write the terms of the last passages of some scopes that have none; return of how many.

    For a search that cannot wait until it is their turn.
    """
    return _index(sql.fetch(_NEWEST, [list(scope_ids), limit], prepare=False))


def _index(waiting: Iterable[Sequence[Any]]) -> int:
    rows = [Row(*row) for row in waiting]
    indexed, failed = [], []
    for row in rows:
        try:
            indexed.append(_Indexed(row, terms_of(row)))
        except Exception:
            # One text that cannot be read must not keep the others from being found.
            _log.exception("index.unreadable", passage=row.id)
            failed.append(row.id)
    if indexed:
        write(indexed)
    if failed:
        sql.execute(_POSTPONE, [failed])
    return len(rows)


def write(indexed: Sequence[_Indexed]) -> None:
    """Write the terms of passages that have none, and count them in their scopes."""
    count = Counter(item.row.scope_id for item in indexed)
    many = [item for item in indexed if count[item.row.scope_id] >= FEW]
    # Blocks are counted once a scope, with its first passage.
    blocks = _write_blocks(_entries(many)) if many else {}
    if len(count) > 1:
        # In one order, so that two workers never wait for each other.
        sql.fetch(_LOCK_SCOPES, [sorted(count)])
    values = {
        "ids": sql.array(item.row.id for item in indexed),
        "scopes": sql.array(item.row.scope_id for item in indexed),
        "threads": sql.array(item.row.thread_id for item in indexed),
        "words": sql.array(item.terms.words for item in indexed),
        "grams": sql.array(item.terms.letters for item in indexed),
        "blocks": sql.array(blocks.pop(item.row.scope_id, 0) for item in indexed),
        "fresh": [
            fresh.packed(item.terms) if count[item.row.scope_id] < FEW else None for item in indexed
        ],
    }
    sql.execute(_INDEXED, values)


def _entries(indexed: Iterable[_Indexed]) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of passages, each with its scope."""
    for item in indexed:
        for kind, length in fresh.lengths(item.terms):
            for term, times in kind.items():
                yield item.row.scope_id, Entry(term, fresh.entry(item.row.id, times, length))


def _write_blocks(entries: Iterable[tuple[int, Entry]]) -> dict[int, int]:
    """Copy entries into their table, in blocks; return how many each scope got."""
    blocks: dict[tuple[int, int], list[int]] = defaultdict(list)
    for scope_id, (term, entry) in entries:
        blocks[scope_id, term].append(entry)
    counts: dict[int, int] = defaultdict(int)
    lines = []
    for (scope_id, term), found in sorted(blocks.items()):
        found.sort()
        for start in range(0, len(found), BLOCK):
            block = found[start : start + BLOCK]
            counts[scope_id] += 1
            listed = ",".join(map(str, block))
            lines.append(f"{scope_id}\t{term}\t{block[0] >> 15}\t{{{listed}}}\n")
    # At once: for one passage, a call a line took longer than everything else.
    with connection.cursor() as cursor, cursor.cursor.copy(_COPY) as copy:
        copy.write("".join(lines))
    return counts


@transaction.atomic
def remove_hidden(limit: int = 100) -> int:
    """Take hidden passages out of the database: terms, vectors and texts; return how many."""
    rows = sql.fetch(_HIDDEN, [limit], prepare=False)
    if not rows:
        return 0
    ids, scopes = [row[0] for row in rows], sorted({row[1] for row in rows})
    sql.fetch(_LOCK_SCOPES, [scopes])
    forgotten = fresh.forget(ids, scopes)
    for *of_row, is_indexed, words, letters in rows:
        row = Row(*of_row)
        if is_indexed and row.id not in forgotten:
            _take_out(row)
        if is_indexed:
            _uncount(row, words=words, letters=letters)
    sql.execute(_FORGET_VECTORS, [ids])
    sql.execute(_FORGET, [ids])
    return len(rows)


def _take_out(row: Row) -> None:
    found = terms_of(row)
    listed = [*found.stems, *found.grams]
    sql.execute(_TAKE_OUT, {"id": row.id, "scope": row.scope_id, "terms": listed})
    sql.execute(_SWEEP_EMPTY, [row.scope_id, listed])


def _uncount(row: Row, *, words: int, letters: int) -> None:
    sql.execute(
        "UPDATE memory_memoryscope SET passages = greatest(passages - 1, 0),"
        " words = greatest(words - %s, 0), grams = greatest(grams - %s, 0) WHERE id = %s",
        [words, letters, row.scope_id],
    )
    sql.execute(
        "UPDATE memory_memorythread SET words = greatest(words - %s, 0) WHERE id = %s",
        [words, row.thread_id],
    )


@transaction.atomic
def join_fresh(at_least: int = fresh.JOINED_FROM) -> bool:
    """Make blocks of the terms of the scope that has most fresh passages, if it has so many.

    Returns:
        Whether there was one.
    """
    scope_id = fresh.fullest(at_least)
    if scope_id is None:
        return False
    count, taken = fresh.take(scope_id)
    blocks = _write_blocks((scope_id, entry) for entry in taken)
    sql.execute(_JOINED_FRESH, [count, blocks[scope_id], scope_id])
    return True


@transaction.atomic
def join_loose() -> bool:
    """Join the blocks of the scope that has most loose ones; return whether there was one.

    Search reads joined blocks several times faster.
    """
    rows = sql.fetch(_LOOSE, [LOOSE])
    if not rows:
        return False
    ((scope_id,),) = rows
    sql.execute(_JOIN, {"scope": scope_id, "size": BLOCK})
    sql.execute(_JOINED, [scope_id])
    return True
