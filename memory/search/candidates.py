"""Who may be among the found: the legs of the index, asked once each, joined by passage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.index import legs
from memory.index.legs import Row
from memory.index.scopes import Visible
from memory.index.terms import Query, of_query
from memory.models import Passage
from memory.models.index import POSITION_BITS
from memory.search.features import NEIGHBOURS, Candidate, describe, nearby, scale
from memory.search.weights import Weights
from memory.search.wording import content_words, identifiers

# How many passages each leg gives.
LEG_LIMIT: Final = 100
# How many of them, the best by their legs, are read with their texts.
READ: Final = 120
# How many passages with an identifier are looked at, besides those that contain all of the query.
IDENTIFIER_LIMIT: Final = 20
# A day, its month and its year.
WORDS_OF_DAY: Final = 3


@dataclass(frozen=True, slots=True)
class Pool:
    """One query's candidates, those that were read with their rows.

    Args:
        candidates: All of them, the best by their legs first.
        rows: Of the first ones, and of the passages before them.
    """

    candidates: list[Candidate]
    rows: dict[int, Row]

    def readable(self) -> list[Candidate]:
        """Return the candidates whose passages exist, may be seen and were read."""
        return [candidate for candidate in self.candidates if candidate.id in self.rows]


def gather(
    visible: Visible, query: Query, vector: Sequence[float] | None, weights: Weights
) -> Pool:
    """Ask each leg that has a weight, and describe what it gives.

    Args:
        vector: The query's, of length one and compared with passages as it is; None for words
            only.
    """
    candidates = _by_words(visible, query) if _counts(weights, "word", "letters") else {}
    _mark_identifiers(candidates, visible, query)
    if vector is not None and _counts(weights, "meaning"):
        _add_meaning(candidates, visible, vector, weights)
    joined = list(candidates.values())
    scale(joined, _ideal(visible, query))
    joined.sort(key=lambda candidate: (candidate.is_exact, candidate.score(weights), candidate.id))
    joined.reverse()
    rows = _read(visible, joined)
    for candidate in joined:
        if row := rows.get(candidate.id):
            before = rows.get(candidate.id - 1)
            describe(
                candidate,
                text=row.text,
                words=_own_words(row),
                author_name=row.author_name,
                before=before.text if before and before.thread_id == row.thread_id else "",
                query=query.folded,
            )
    return Pool(joined, rows)


def _ideal(visible: Visible, query: Query) -> dict[str, float]:
    """Return what a passage with all of the query's words, each of them rare, would score."""
    rarity = math.log(1 + visible.passages / 1.5)
    by_words = rarity * len(content_words(query.text))
    by_letters = rarity * len(query.grams)
    return {"word": by_words, "near": by_words, "thread": by_words, "letters": by_letters}


def _counts(weights: Weights, *names: str) -> bool:
    return any(weights.get(name) for name in names)


def _by_words(visible: Visible, query: Query) -> dict[int, Candidate]:
    found = {}
    for hit in legs.keyword(visible, query, limit=LEG_LIMIT):
        raw = {
            "word": hit.word, "letters": hit.letters, "near": hit.near, "thread": hit.thread
        }  # fmt: skip
        found[hit.id] = Candidate(hit.id, raw, is_exact=hit.is_exact)
    return found


def _mark_identifiers(candidates: dict[int, Candidate], visible: Visible, query: Query) -> None:
    """Let passages with an identifier that the query names count as exact hits."""
    for identifier in identifiers(query.text):
        sought = of_query(identifier)
        if sought.folded == query.folded:
            continue
        for hit in legs.keyword(visible, sought, limit=IDENTIFIER_LIMIT):
            if hit.is_exact:
                candidates.setdefault(hit.id, Candidate(hit.id)).is_exact = True


def _add_meaning(
    candidates: dict[int, Candidate],
    visible: Visible,
    vector: Sequence[float],
    weights: Weights,
) -> None:
    """Add the passages nearest in meaning, and the meaning of all candidates and neighbours."""
    likeness = legs.meaning(visible, vector, limit=LEG_LIMIT)
    for passage_id in likeness:
        candidates.setdefault(passage_id, Candidate(passage_id))
    wanted = set(candidates)
    if _counts(weights, "meaning_near"):
        wanted |= {place + step for place in candidates for step in NEIGHBOURS}
    wanted -= likeness.keys()
    if wanted:
        likeness.update(legs.likeness(visible, vector, sorted(wanted)))
    near = nearby(likeness, candidates, shift=POSITION_BITS)
    for passage_id, candidate in candidates.items():
        if passage_id in likeness:
            candidate.raw["meaning"] = likeness[passage_id]
            candidate.raw["meaning_near"] = near[passage_id]


def _own_words(row: Row) -> int:
    """Return how many words of a passage say something, without the author and day it is found by.

    Counted when it was indexed, as counting takes longer than all else here.
    """
    if row.kind != Passage.Kind.EXCHANGE:
        return row.words
    return max(row.words - len(row.author_name.split()) - WORDS_OF_DAY, 0)


def _read(visible: Visible, candidates: Sequence[Candidate]) -> dict[int, Row]:
    read = [candidate.id for candidate in candidates[:READ]]
    return legs.passages(visible, sorted({*read, *(place - 1 for place in read)}))
