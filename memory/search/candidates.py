"""Who may be among the found: the legs of the index, asked once each, joined by passage."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.index import legs
from memory.index.legs import Around, Brief
from memory.index.scopes import Visible
from memory.index.scoring import Bools, Floats, Ints, Scores
from memory.index.terms import Query, of_query
from memory.models import Passage
from memory.search.features import Candidate, described, nearby, scaled, total
from memory.search.weights import Weights
from memory.search.wording import content_words, identifiers

# How many passages each leg gives.
LEG_LIMIT: Final = 100
# How many of them, the best by their legs, are looked at themselves, besides those that contain
# the query.
READ: Final = 120
# So many of a query's nearest the index of vectors gives at most (pgvector's `hnsw.ef_search`).
MOST_NEAREST: Final = 1_000
# How many passages with an identifier are looked at, besides those that contain all of the query.
IDENTIFIER_LIMIT: Final = 20
# A day, its month and its year.
WORDS_OF_DAY: Final = 3
_NONE: Final = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Pool:
    """One query's best candidates by their legs.

    Args:
        candidates: Those whose passages exist, may be seen and are wanted.
        rows: What they are ranked by.
        may_be_more: Some leg may have more than it was asked for.
    """

    candidates: list[Candidate]
    rows: Mapping[int, Brief]
    may_be_more: bool


@dataclass(frozen=True, slots=True)
class Words:
    """What the words of a query bring.

    Args:
        marked: Passages with an identifier that the query names.
    """

    scores: Scores | None
    marked: Ints

    @property
    def ids(self) -> Ints:
        """Return every passage that they bring."""
        return self.marked if self.scores is None else np.union1d(self.scores.ids, self.marked)

    def exact(self, ids: Ints) -> Bools:
        """Return which passages contain the query, or an identifier of it, as it stands."""
        own = self.scores.ids[self.scores.is_exact] if self.scores else _NONE
        return np.isin(ids, np.union1d(own, self.marked))


def of_words(visible: Visible, query: Query, weights: Weights, *, depth: int = 1) -> Words:
    """Ask the legs of words, if they have a weight."""
    scores = None
    if _counts(weights, "word", "letters"):
        scores = legs.keyword(visible, query, limit=depth * LEG_LIMIT)
    return Words(scores, _marked(visible, query))


def gather(
    visible: Visible,
    query: Query,
    vector: Sequence[float] | None,
    weights: Weights,
    words: Words | None = None,
    *,
    is_wanted: Callable[[Brief], bool] = lambda row: True,
    depth: int = 1,
) -> Pool:
    """Ask each leg that has a weight, and describe the best of what it gives.

    Args:
        vector: The query's, of length one and compared with passages as it is; None for words
            only.
        words: What the legs of words gave, where they were asked before.
        is_wanted: Tells whether a passage may be found.
        depth: How many times as many candidates as usual.
    """
    words = words or of_words(visible, query, weights, depth=depth)
    around = None
    ids = words.ids
    if vector is not None and _counts(weights, "meaning"):
        nearest = min(depth * LEG_LIMIT, MOST_NEAREST)
        around = legs.around(visible, vector, ids, limit=nearest)
        ids = np.union1d(ids, around.best)
    raw = _raw(ids, words, around)
    features = scaled(raw, _ideal(visible, query))
    is_exact = words.exact(ids)
    scores = total(features, weights, len(ids))
    read = max(depth * READ, int(is_exact.sum()))
    order = np.lexsort((ids, scores, is_exact))[::-1][:read]
    listed = ids[order].tolist()
    rows = legs.briefs(visible, listed) if listed else {}
    meaning = raw["meaning"][order].tolist() if around else [None] * len(listed)
    columns = {name: column[order].tolist() for name, column in features.items()}
    candidates = []
    for place, passage_id in enumerate(listed):
        row = rows.get(passage_id)
        if row is None or not is_wanted(row):
            continue
        own = described(row, words=_own_words(row), query=query.folded)
        more = sum([weights.get(name, 0.0) * value for name, value in own.items()])
        near = meaning[place]
        candidates.append(
            Candidate(
                id=passage_id,
                features={name: column[place] for name, column in columns.items()} | own,
                score=float(scores[order[place]]) + more,
                meaning=None if near is None or math.isnan(near) else near,
                is_exact=bool(is_exact[order[place]]),
            )
        )
    return Pool(candidates, rows, may_be_more=len(ids) >= depth * LEG_LIMIT)


def _raw(ids: Ints, words: Words, around: Around | None) -> dict[str, Floats]:
    """Return the legs' scores in their own units; NaN where nothing is known of a meaning."""
    raw = {}
    if words.scores is not None and len(words.scores.ids):
        places = np.searchsorted(ids, words.scores.ids)
        for name in ("word", "letters", "near", "thread"):
            raw[name] = np.zeros(len(ids))
            raw[name][places] = getattr(words.scores, name)
    if around is not None:
        raw["meaning"] = around.of(ids)
        raw["meaning_near"] = nearby(around, ids)
    return raw


def _ideal(visible: Visible, query: Query) -> dict[str, float]:
    """Return what a passage with all of the query's words, each of them rare, would score."""
    rarity = math.log(1 + visible.passages / 1.5)
    by_words = rarity * len(content_words(query.text))
    by_letters = rarity * len(query.grams)
    return {"word": by_words, "near": by_words, "thread": by_words, "letters": by_letters}


def _counts(weights: Weights, *names: str) -> bool:
    return any(weights.get(name) for name in names)


def _marked(visible: Visible, query: Query) -> Ints:
    """Return the passages with an identifier that the query names."""
    found = [_NONE]
    for identifier in identifiers(query.text):
        sought = of_query(identifier)
        if sought.folded == query.folded:
            continue
        scores = legs.keyword(visible, sought, limit=IDENTIFIER_LIMIT)
        found.append(scores.ids[scores.is_exact])
    return np.unique(np.concatenate(found))


def _own_words(row: Brief) -> int:
    """Return how many words of a passage say something, without the author and day it is found by.

    Counted when it was indexed, as counting takes longer than all else here.
    """
    if row.kind != Passage.Kind.EXCHANGE:
        return row.words
    return max(row.words - len(row.author_name.split()) - WORDS_OF_DAY, 0)
