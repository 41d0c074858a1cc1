"""The legs of search: raw scores of passages, computed in the database over visible scopes only.

Every leg counts terms and passages of the scopes it was given and of no others, so that what a
viewer may not see does not even move a score. Scores have units of their own: who adds them
scales them first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from django.db import transaction

from agents import sql
from memory.index import fresh_reading, texts
from memory.index.scopes import Visible
from memory.index.scoring import (
    STEPS,
    Floats,
    Hits,
    Ints,
    Lengths,
    Scores,
    best_places,
    is_among,
)
from memory.index.terms import Query
from memory.index.vectors import COMPARED
from memory.models.index import POSITION_BITS

# A query's commonest letter groups say least and cost most: groups are taken from the rarest on
# until so many entries are read. A few are always taken.
GRAM_ENTRIES: Final = 2_500
# The same for words, which say more: a word that stands in every other passage is dropped where
# the rarer ones fill the room.
WORD_ENTRIES: Final = 10_000
# Whatever contains a query has all its inner letter groups: so many of them, the rarest, are
# enough to find it.
NEEDED: Final = 3
EXACT_LIMIT: Final = 1_000
NEAREST_SEARCHED: Final = 200

# Counts first: of a query's terms only the chosen ones are read.
_POSTINGS: Final = """
    WITH counts AS MATERIALIZED (
        SELECT term, sum(entries) AS found FROM (
            SELECT term, cardinality(entries) AS entries FROM memory_posting
            WHERE scope_id = ANY(%(scopes)s::bigint[]) AND term = ANY(%(terms)s::bigint[])
            UNION ALL
            SELECT * FROM unnest(%(fresh)s::bigint[], %(fresh_entries)s::int[])
        ) counted GROUP BY term
    ),
    rising AS (
        SELECT term, found, term < 0 AS is_word,
            row_number() OVER (PARTITION BY term < 0 ORDER BY found, term) AS place,
            sum(found) OVER (PARTITION BY term < 0 ORDER BY found, term) AS total
        FROM counts
    ),
    needed AS (
        SELECT term FROM counts WHERE term = ANY(%(inner)s::bigint[])
        ORDER BY found, term LIMIT %(needed)s
    ),
    chosen AS MATERIALIZED (
        SELECT r.term, place <= 3
                OR total <= CASE WHEN is_word THEN %(word_entries)s ELSE %(gram_entries)s END
                AS is_scored, n.term IS NOT NULL AS is_needed
        FROM rising r LEFT JOIN needed n ON n.term = r.term
    )
    SELECT n.term, n.found::bigint, array_send(b.entries), c.is_scored, c.term IS NOT NULL
    FROM counts n
    LEFT JOIN chosen c ON c.term = n.term AND (c.is_scored OR c.is_needed)
    LEFT JOIN memory_posting b ON b.scope_id = ANY(%(scopes)s::bigint[]) AND b.term = c.term
"""
_THREADS: Final = """
    SELECT id, words FROM memory_memorythread WHERE id = ANY(%s::bigint[]) ORDER BY id
"""
_CONTAINING: Final = """
    SELECT id FROM memory_passage
    WHERE id = ANY(%s::bigint[]) AND hidden_at IS NULL AND strpos(folded, %s) > 0
    ORDER BY occurred_at DESC, id DESC LIMIT %s
"""
# For what has no letter group that every text with it must have: two letters, or a sign.
_EXACT: Final = """
    SELECT id FROM memory_passage
    WHERE scope_id = ANY(%s) AND hidden_at IS NULL AND strpos(folded, %s) > 0
    ORDER BY occurred_at DESC, id DESC LIMIT %s
"""
_EXACT_RAW: Final = """
    SELECT id FROM memory_passage
    WHERE scope_id = ANY(%s) AND hidden_at IS NULL AND strpos(lower(text), lower(%s)) > 0
    ORDER BY occurred_at DESC, id DESC LIMIT %s
"""
# Vectors have length one, so the inner product is the cosine. Without the cast that the index
# has, the index is not thought of.
_COMPARE: Final = """
    SELECT passage_id, -(vector <#> %(sought)s::halfvec) AS likeness FROM memory_passagevector
    WHERE space_id = %(space)s AND scope_id = ANY(%(scopes)s::bigint[])
    ORDER BY vector <#> %(sought)s::halfvec LIMIT %(limit)s
"""
# All of them, packed into one value, as rows and sorting take longer than comparing.
_ALL: Final = """
    SELECT string_agg(int8send(passage_id) || float8send(-(vector <#> %(sought)s::halfvec)), '')
    FROM memory_passagevector
    WHERE space_id = %(space)s AND scope_id = ANY(%(scopes)s::bigint[])
"""
# Names and dimensions are ours. Literal conditions, as an index on some of the rows is only used
# where the planner sees that they are those.
_NEAREST: Final = """
    SELECT passage_id, -(vector::halfvec({dimensions}) <#> %(sought)s::halfvec({dimensions}))
    FROM memory_passagevector
    WHERE space_id = {space} AND scope_id = ANY(%(scopes)s::bigint[])
    ORDER BY vector::halfvec({dimensions}) <#> %(sought)s::halfvec({dimensions}) LIMIT %(limit)s
"""
_SETTINGS: Final = """
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true),
        set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)
"""
_LIKENESS: Final = """
    SELECT string_agg(int8send(passage_id) || float8send(-(vector <#> %(sought)s::halfvec)), '')
    FROM memory_passagevector
    WHERE passage_id = ANY(%(ids)s::bigint[]) AND scope_id = ANY(%(scopes)s::bigint[])
        AND space_id = %(space)s
"""
# What of a passage is ranked by. Whether it ends as a question, and the one before it does.
_BRIEFS: Final = """
    SELECT p.id, p.kind, p.origin, p.author_name, p.source, p.occurred_at, p.words,
        right(rtrim(p.text, %(closing)s), 1) = '?',
        coalesce(right(rtrim(b.text, %(closing)s), 1) = '?', false)
    FROM memory_passage p
    LEFT JOIN memory_passage b ON b.id = p.id - 1 AND b.thread_id = p.thread_id
        AND b.hidden_at IS NULL
    WHERE p.id = ANY(%(ids)s::bigint[]) AND p.scope_id = ANY(%(scopes)s::bigint[])
        AND p.hidden_at IS NULL
"""
# What may end a sentence behind its question mark.
CLOSING: Final = ' \t\n"»”)*_'
_PASSAGES: Final = """
    SELECT p.id, p.kind, p.origin, p.author_id, p.author_name, p.source, p.file, p.line,
        p.occurred_at, p.text, p.thread_id, p.position, s.scope, halfvec_send(v.vector)
    FROM memory_passage p JOIN memory_memoryscope s ON s.id = p.scope_id
    LEFT JOIN memory_passagevector v ON v.passage_id = p.id AND v.space_id = %(space)s
    WHERE p.id = ANY(%(ids)s::bigint[]) AND p.scope_id = ANY(%(scopes)s::bigint[])
        AND p.hidden_at IS NULL
"""


_PACKED: Final = np.dtype([("id", ">i8"), ("likeness", ">f8")])


class Brief(NamedTuple):
    """What of a passage is ranked by.

    Args:
        words: How many that say something, those of its author and day among them.
        asks: It ends as a question.
        answers: The passage before it does.
    """

    id: int
    kind: str
    origin: str
    author_name: str
    source: str
    occurred_at: datetime
    words: int
    asks: bool
    answers: bool


class Row(NamedTuple):
    """A passage as search shows it; its vector as the database sends it."""

    id: int
    kind: str
    origin: str
    author_id: int | None
    author_name: str
    source: str
    file: str
    line: int | None
    occurred_at: datetime
    text: str
    thread_id: int
    position: int
    scope: str
    vector: bytes | None


def keyword(visible: Visible, query: Query, *, limit: int = 100) -> Scores:
    """Return the passages that have words, letters or neighbours of a query.

    Every passage that contains the query as it stands is among them (up to 1,000, the newest
    first), and the best ``limit`` of each leg, each with its scores in all of them.
    """
    hits, containing = _hits(visible, query), []
    if query.text and visible.scope_ids:
        containing = _containing(visible, query, hits)
    exact = np.array(sorted(containing), dtype=np.int64)
    best = [leg.best(limit) for leg in (hits.word, hits.near, hits.letters)]
    ids = np.unique(np.concatenate([*best, exact]))
    threads = hits.threads_of(ids)
    words = sql.fetch(_THREADS, [sql.array(threads.tolist())]) if len(threads) else []
    thread = hits.thread(
        np.array([row[0] for row in words], dtype=np.int64),
        np.array([row[1] for row in words], dtype=np.float64),
    )
    return Scores(
        ids=ids,
        word=hits.word.of(ids),
        near=hits.near.of(ids),
        letters=hits.letters.of(ids),
        thread=thread.of(ids >> POSITION_BITS),
        is_exact=is_among(ids, exact),
    )


def _hits(visible: Visible, query: Query) -> Hits:
    """Read the entries of a query's terms, the commonest left out."""
    rows: list[sql.Row] = []
    fresh = fresh_reading.NONE
    if visible.scope_ids and (query.stems or query.grams):
        wanted = {*query.stems, *query.grams, *query.inner}
        fresh = fresh_reading.read(visible, wanted)
        terms, counts = fresh.counts()
        values = {
            "scopes": sql.array(visible.scope_ids),
            "terms": sql.array(wanted),
            "fresh": sql.array(terms),
            "fresh_entries": sql.array(counts),
            "inner": sql.array(query.inner),
            "needed": NEEDED,
            "word_entries": WORD_ENTRIES,
            "gram_entries": GRAM_ENTRIES,
        }
        rows = sql.fetch(_POSTINGS, values, binary=True)
    read = [row for row in rows if row[2] is not None]
    chosen = {row[0] for row in rows if row[4]}
    passages = max(visible.passages, 1)
    return Hits(
        [row[0] for row in read],
        [row[2] for row in read],
        fresh.of(chosen),
        {row[0]: row[1] for row in rows},
        scored={row[0] for row in rows if row[3]},
        passages=passages,
        lengths=Lengths(
            words=coded_words(visible.words / passages) or 1,
            grams=coded_grams(visible.grams / passages) or 1,
            thread=max(visible.words / passages, 1) * MEAN_THREAD,
        ),
    )


def _containing(visible: Visible, query: Query, hits: Hits) -> list[int]:
    """Return the passages that contain a query, the newest first."""
    if query.inner:
        having = hits.with_all(query.inner, rarest=NEEDED)
        if not len(having):
            return []
        values = [sql.array(having.tolist()), query.folded, EXACT_LIMIT]
        rows = sql.fetch(_CONTAINING, values)
    else:
        statement, sought = (_EXACT, query.folded) if query.folded else (_EXACT_RAW, query.text)
        rows = sql.fetch(statement, [list(visible.scope_ids), sought, EXACT_LIMIT], prepare=False)
    return [row[0] for row in rows]


# How many passages a thread is taken to have where lengths of threads are compared.
MEAN_THREAD: Final = 20


def coded_words(words: float) -> float:
    """Return a number of words as an entry holds it: at most 255."""
    return min(words, 255)


def coded_grams(grams: float) -> float:
    """Return a number of letter groups as an entry holds it: in eights, at most 255."""
    return min(grams / 8, 255)


@dataclass(frozen=True, slots=True)
class Around:
    """What the vectors say of passages and their neighbours.

    Args:
        ids: Rising; where all vectors were compared, all of them, else those of neighbours, which
            may stand in another thread, among them.
        likeness: Their cosines with what is sought.
        best: The passages nearest in meaning.
    """

    ids: Ints
    likeness: Floats
    best: Ints

    def of(self, ids: Ints) -> Floats:
        """Return the likeness of passages, NaN where there is none."""
        if not len(self.ids):
            return np.full(len(ids), np.nan)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.likeness[places], np.nan)


def around(visible: Visible, vector: Sequence[float], known: Ints, *, limit: int = 100) -> Around:
    """Return the passages nearest in meaning, and how near these, others and neighbours are.

    Args:
        vector: Of length one, in the visible index's own space.
        known: Ids of passages whose likeness is wanted anyhow.
    """
    space = visible.space
    if space is None or not visible.vectors:
        return Around(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    values = _values(visible, vector, limit)
    if _is_compared(visible):
        ids, likeness = _unpacked(sql.fetch(_ALL, values, prepare=False, binary=True))
        best = ids[best_places(likeness, limit)]
        return Around(ids, likeness, best)
    nearest = np.array(list(meaning(visible, vector, limit=limit)), dtype=np.int64)
    wanted = np.unique((np.union1d(known, nearest)[:, None] + STEPS).ravel())
    values |= {"ids": sql.array(wanted.tolist())}
    ids, likeness = _unpacked(sql.fetch(_LIKENESS, values, binary=True))
    return Around(ids, likeness, nearest)


def _unpacked(rows: Sequence[sql.Row]) -> tuple[Ints, Floats]:
    packed = np.frombuffer(rows[0][0] or b"", dtype=_PACKED)
    ids = packed["id"].astype(np.int64)
    order = np.argsort(ids, kind="stable")
    return ids[order], packed["likeness"].astype(np.float64)[order]


def meaning(visible: Visible, vector: Sequence[float], *, limit: int = 100) -> dict[int, float]:
    """Return the passages nearest in meaning with their cosines, the nearest first.

    Args:
        vector: Of length one, in the visible index's own space.
    """
    space = visible.space
    if space is None or not visible.vectors:
        return {}
    if _is_compared(visible):
        return nearest_of_all(visible, vector, limit=limit)
    statement = _NEAREST.format(dimensions=int(space.dimensions), space=int(space.id))
    with transaction.atomic():
        sql.fetch(_SETTINGS, [str(max(NEAREST_SEARCHED, limit)), "2000000"], prepare=False)
        found = sql.fetch(statement, _values(visible, vector, limit), prepare=False)
    return dict(sorted(found, key=lambda row: -row[1]))


def nearest_of_all(
    visible: Visible, vector: Sequence[float], *, limit: int = 100
) -> dict[int, float]:
    """Return what `meaning` does, by comparing every vector: what its index is measured by."""
    if visible.space is None:
        return {}
    return dict(sql.fetch(_COMPARE, _values(visible, vector, limit), prepare=False))


def _is_compared(visible: Visible) -> bool:
    return visible.vectors <= COMPARED or not (visible.space and visible.space.has_index)


def _values(visible: Visible, vector: Sequence[float], limit: int) -> dict[str, object]:
    return {
        "scopes": sql.array(visible.scope_ids),
        "sought": texts.text_of_vector(vector),
        "space": visible.space.id if visible.space else None,
        "limit": limit,
    }


def briefs(visible: Visible, passage_ids: Iterable[int]) -> dict[int, Brief]:
    """Return what the passages are ranked by that exist, are visible and not hidden, by id."""
    values = {
        "ids": sql.array(passage_ids),
        "scopes": sql.array(visible.scope_ids),
        "closing": CLOSING,
    }
    rows = sql.fetch(_BRIEFS, values, binary=True)
    return {row[0]: Brief(*row) for row in rows}


def passages(visible: Visible, passage_ids: Iterable[int]) -> dict[int, Row]:
    """Return the passages that exist, are visible and not hidden, by id."""
    values = {
        "ids": sql.array(passage_ids),
        "scopes": sql.array(visible.scope_ids),
        "space": visible.space.id if visible.space else None,
    }
    rows = sql.fetch(_PASSAGES, values, binary=True)
    return {row[0]: Row(*row) for row in rows}
