"""The legs of search: raw scores of passages, computed in the database over visible scopes only.

Every leg counts terms and passages of the scopes it was given and of no others, so that what a
viewer may not see does not even move a score. Scores have units of their own: who adds them
scales them first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from agents import sql
from memory.index.scopes import Visible
from memory.index.terms import Query
from memory.models.index import POSITION_BITS

# BM25, as measured best on short turns (k1 0.9, b 0.4).
SATURATION: Final = 0.9
LENGTH_WEIGHT: Final = 0.4
# A query's commonest letter groups say least and cost most: groups are taken from the rarest on
# until so many entries are read. A few are always taken.
GRAM_ENTRIES: Final = 2_500
# The same for words, which say more: a word that stands in every other passage is dropped where
# the rarer ones fill the room.
WORD_ENTRIES: Final = 10_000
# Neighbours are lifted by so many passages, those whose words fit best.
LIFTING: Final = 300
EXACT_LIMIT: Final = 1_000
# Up to so many vectors are compared one by one, which misses none and takes 0.25 ms a thousand:
# 2 ms for 8,000 where the index took 15 among 100,000. Beyond, the index is asked.
COMPARED: Final = 50_000
NEAREST_SEARCHED: Final = 200

_KEYWORD: Final = f"""
    WITH blocks AS MATERIALIZED (
        SELECT term, entries FROM memory_posting
        WHERE scope_id = ANY(%(scopes)s::bigint[]) AND term = ANY(%(terms)s::bigint[])
    ),
    counts AS MATERIALIZED (
        SELECT term, sum(cardinality(entries)) AS found FROM blocks GROUP BY term
    ),
    rising AS (
        SELECT term, found, term < 0 AS is_word,
            row_number() OVER (PARTITION BY term < 0 ORDER BY found, term) AS place,
            sum(found) OVER (PARTITION BY term < 0 ORDER BY found, term) AS total
        FROM counts
    ),
    chosen AS MATERIALIZED (
        SELECT term, is_word,
            ln(1 + greatest(%(passages)s - found, 0) / (found + 0.5))::float8 AS rarity
        FROM rising
        WHERE place <= 3
            OR total <= CASE WHEN is_word THEN %(word_entries)s ELSE %(gram_entries)s END
    ),
    hits AS MATERIALIZED (
        SELECT c.is_word, b.term, e >> 15 AS id, c.rarity, (e >> 8) & 127 AS times,
            (e & 255)::float8 AS length
        FROM blocks b JOIN chosen c ON c.term = b.term, unnest(b.entries) AS e
    ),
    word AS MATERIALIZED (
        SELECT id, sum(rarity * times * {1 + SATURATION} / (times + {SATURATION}
            * (1 - {LENGTH_WEIGHT} + {LENGTH_WEIGHT} * length / %(mean_words)s))) AS score
        FROM hits WHERE is_word GROUP BY id
    ),
    letters AS MATERIALIZED (
        SELECT id, sum(rarity * times * {1 + SATURATION} / (times + {SATURATION}
            * (1 - {LENGTH_WEIGHT} + {LENGTH_WEIGHT} * length / %(mean_grams)s))) AS score
        FROM hits WHERE NOT is_word GROUP BY id
    ),
    near AS MATERIALIZED (
        SELECT id + step AS id, sum(score) AS score
        FROM (SELECT id, score FROM word ORDER BY score DESC LIMIT %(lifting)s) best
        CROSS JOIN generate_series(-2, 2) AS step GROUP BY id + step
    ),
    thread AS MATERIALIZED (
        SELECT t.thread, sum(t.rarity * t.times * {1 + SATURATION} / (t.times + {SATURATION}
            * (1 - {LENGTH_WEIGHT} + {LENGTH_WEIGHT} * m.words / %(mean_thread)s))) AS score
        FROM (
            SELECT id >> {POSITION_BITS} AS thread, term, rarity, sum(times) AS times
            FROM hits WHERE is_word GROUP BY 1, 2, 3
        ) t JOIN memory_memorythread m ON m.id = t.thread
        GROUP BY t.thread
    ),
    needed AS (
        SELECT c.term FROM counts c WHERE c.term = ANY(%(inner)s::bigint[])
        ORDER BY c.found, c.term LIMIT 3
    ),
    exact AS MATERIALIZED (
        SELECT p.id FROM (
            SELECT e >> 15 AS id FROM blocks b JOIN needed n ON n.term = b.term,
                unnest(b.entries) AS e
            WHERE (SELECT count(*) FROM counts WHERE term = ANY(%(inner)s::bigint[]))
                = cardinality(%(inner)s::bigint[])
            GROUP BY 1 HAVING count(*) = (SELECT count(*) FROM needed)
        ) h JOIN memory_passage p ON p.id = h.id
        WHERE p.hidden_at IS NULL AND strpos(p.folded, %(folded)s) > 0
        ORDER BY p.occurred_at DESC, p.id DESC LIMIT %(exact)s
    ),
    candidates AS (
        (SELECT id FROM word ORDER BY score DESC, id DESC LIMIT %(limit)s)
        UNION (SELECT id FROM near ORDER BY score DESC, id DESC LIMIT %(limit)s)
        UNION (SELECT id FROM letters ORDER BY score DESC, id DESC LIMIT %(limit)s)
        UNION SELECT id FROM exact
    )
    SELECT c.id, coalesce(w.score, 0), coalesce(n.score, 0), coalesce(l.score, 0),
        coalesce(t.score, 0), x.id IS NOT NULL
    FROM candidates c
    LEFT JOIN word w ON w.id = c.id
    LEFT JOIN near n ON n.id = c.id
    LEFT JOIN letters l ON l.id = c.id
    LEFT JOIN thread t ON t.thread = c.id >> {POSITION_BITS}
    LEFT JOIN exact x ON x.id = c.id
"""  # noqa: S608 — constants only; values are bound
# For what has no letter group that every text with it must have: two letters, or a sign.
_EXACT = """
    SELECT id FROM memory_passage
    WHERE scope_id = ANY(%s) AND hidden_at IS NULL AND strpos(folded, %s) > 0
    ORDER BY occurred_at DESC, id DESC LIMIT %s
"""
_EXACT_RAW = """
    SELECT id FROM memory_passage
    WHERE scope_id = ANY(%s) AND hidden_at IS NULL AND strpos(lower(text), lower(%s)) > 0
    ORDER BY occurred_at DESC, id DESC LIMIT %s
"""
# Vectors have length one, so the inner product is the cosine. Without the cast that the index
# has, the index is not thought of.
_COMPARE = """
    SELECT passage_id, -(vector <#> %(sought)s::halfvec) AS likeness FROM memory_passagevector
    WHERE space_id = %(space)s AND scope_id = ANY(%(scopes)s::bigint[])
    ORDER BY vector <#> %(sought)s::halfvec LIMIT %(limit)s
"""
# Names and dimensions are ours. Literal conditions, as an index on some of the rows is only used
# where the planner sees that they are those.
_NEAREST = """
    SELECT passage_id, -(vector::halfvec({dimensions}) <#> %(sought)s::halfvec({dimensions}))
    FROM memory_passagevector
    WHERE space_id = {space} AND scope_id = ANY(%(scopes)s::bigint[])
    ORDER BY vector::halfvec({dimensions}) <#> %(sought)s::halfvec({dimensions}) LIMIT %(limit)s
"""
_SETTINGS = """
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true),
        set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)
"""
_LIKENESS = """
    SELECT passage_id, -(vector <#> %s::halfvec) FROM memory_passagevector
    WHERE passage_id = ANY(%s::bigint[]) AND scope_id = ANY(%s::bigint[]) AND space_id = %s
"""
_PASSAGES = """
    SELECT p.id, p.kind, p.origin, p.author_id, p.author_name, p.source, p.file, p.line,
        p.occurred_at, p.text, p.words, p.thread_id, p.position, s.scope
    FROM memory_passage p JOIN memory_memoryscope s ON s.id = p.scope_id
    WHERE p.id = ANY(%s::bigint[]) AND p.scope_id = ANY(%s::bigint[]) AND p.hidden_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Scores:
    """What the words of a query say of one passage; 0 where a leg did not find it.

    Args:
        id: The passage, which may be hidden or, at the edge of a thread, not exist.
        word: BM25 of its stems.
        near: The same, summed over it and two neighbours on each side.
        letters: BM25 of its groups of three letters.
        thread: BM25 of the stems of its whole thread.
        is_exact: The folded passage contains the folded query.
    """

    id: int
    word: float
    near: float
    letters: float
    thread: float
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A passage as search shows it."""

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
    words: int
    thread_id: int
    position: int
    scope: str


def keyword(visible: Visible, query: Query, *, limit: int = 100) -> list[Scores]:
    """Return the passages that have words, letters or neighbours of a query, in any order.

    Every passage that contains the query as it stands is among them (up to 1,000, the newest
    first), and the best ``limit`` of each leg, each with its scores in all of them.
    """
    if not visible.scope_ids or not query.text:
        return []
    scores = []
    if query.stems or query.grams:
        scores = [Scores(*row) for row in sql.fetch(_KEYWORD, _values(visible, query, limit))]
    if query.inner:
        return scores
    known = {score.id: score for score in scores}
    for passage_id in _exact(visible, query):
        at = known.get(passage_id)
        known[passage_id] = (
            Scores(at.id, at.word, at.near, at.letters, at.thread, is_exact=True)
            if at
            else Scores(passage_id, 0.0, 0.0, 0.0, 0.0, is_exact=True)
        )
    return list(known.values())


def _values(visible: Visible, query: Query, limit: int) -> dict[str, object]:
    passages = max(visible.passages, 1)
    return {
        "scopes": list(visible.scope_ids),
        "terms": [*query.stems, *dict.fromkeys([*query.grams, *query.inner])],
        "inner": list(query.inner),
        "folded": query.folded,
        "passages": passages,
        "mean_words": coded_words(visible.words / passages) or 1,
        "mean_grams": coded_grams(visible.grams / passages) or 1,
        "mean_thread": max(visible.words / passages, 1) * MEAN_THREAD,
        "word_entries": WORD_ENTRIES,
        "gram_entries": GRAM_ENTRIES,
        "lifting": LIFTING,
        "exact": EXACT_LIMIT,
        "limit": limit,
    }


def _exact(visible: Visible, query: Query) -> list[int]:
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


def meaning(visible: Visible, vector: Sequence[float], *, limit: int = 100) -> dict[int, float]:
    """Return the passages nearest in meaning with their cosines, the nearest first.

    Args:
        vector: Of length one, in the visible index's own space.
    """
    space = visible.space
    if space is None or not visible.vectors:
        return {}
    values = {
        "scopes": list(visible.scope_ids),
        "sought": text_of(vector),
        "space": space.id,
        "limit": limit,
    }
    if visible.vectors <= COMPARED or not space.has_index:
        return dict(sql.fetch(_COMPARE, values, prepare=False))
    statement = _NEAREST.format(dimensions=int(space.dimensions), space=int(space.id))
    with transaction.atomic():
        sql.fetch(_SETTINGS, [str(max(NEAREST_SEARCHED, limit)), "2000000"], prepare=False)
        found = sql.fetch(statement, values, prepare=False)
    return dict(sorted(found, key=lambda row: -row[1]))


def nearest_of_all(
    visible: Visible, vector: Sequence[float], *, limit: int = 100
) -> dict[int, float]:
    """Return what `meaning` does, by comparing every vector: what its index is measured by."""
    space = visible.space
    if space is None:
        return {}
    values = {
        "scopes": list(visible.scope_ids),
        "sought": text_of(vector),
        "space": space.id,
        "limit": limit,
    }
    return dict(sql.fetch(_COMPARE, values, prepare=False))


def likeness(
    visible: Visible, vector: Sequence[float], passage_ids: Sequence[int]
) -> dict[int, float]:
    """Return the cosines of passages that are known by id; those without a vector are left out."""
    if visible.space is None or not visible.vectors:
        return {}
    scopes = list(visible.scope_ids)
    values = [text_of(vector), list(passage_ids), scopes, visible.space.id]
    return dict(sql.fetch(_LIKENESS, values, prepare=False))


def passages(visible: Visible, passage_ids: Sequence[int]) -> dict[int, Row]:
    """Return the passages that exist, are visible and not hidden, by id."""
    rows = sql.fetch(_PASSAGES, [list(passage_ids), list(visible.scope_ids)], prepare=False)
    return {row[0]: Row(*row) for row in rows}


def text_of(vector: Sequence[float]) -> str:
    """Return a vector as the database reads it."""
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"
