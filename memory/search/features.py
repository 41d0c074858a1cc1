"""Turns the raw scores of one query's candidates into features that can be added; plain Python."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from memory.index.folding import fold
from memory.search.weights import OF_MEANING, SCALED, Weights

_WORD: Final = re.compile(r"[^\W_]+")
# Neighbours within so many places, and what each counts.
NEIGHBOURS: Final[Mapping[int, float]] = {1: 1.0, -1: 1.0, 2: 0.5, -2: 0.5}
SHORTEST_NAME: Final = 3
# Longer ones say no more by their length: an agent's long answer shall not outdo a noted fact,
# only `Great!` shall not stand before either.
LONG_ENOUGH: Final = 3
# From which part of a full match on a leg of words begins to be trusted, and is trusted fully:
# questions about what was said have .2 to 1 by words and .13 to .7 by letters, those in another
# language than the facts 0 and .03 to .12.
TRUST: Final[Mapping[str, tuple[float, float]]] = {
    "word": (0.0, 0.2),
    "near": (0.0, 0.2),
    "thread": (0.0, 0.2),
    "letters": (0.11, 0.17),
}
# What may end a sentence behind its question mark.
_CLOSING: Final = ' \t\n"»”)*_'


@dataclass(slots=True)
class Candidate:
    """A passage that a leg found, with what is known of it.

    Args:
        raw: Scores of the legs, in their own units; a leg that did not find it is missing.
        features: Filled by ``scale`` and ``describe``.
    """

    id: int
    raw: dict[str, float] = field(default_factory=dict)
    features: dict[str, float] = field(default_factory=dict)
    is_exact: bool = False

    def score(self, weights: Weights) -> float:
        """Return the weighted sum of what is known so far."""
        return sum(weights.get(name, 0.0) * value for name, value in self.features.items())

    def why(self, weights: Weights) -> dict[str, float]:
        """Return what each feature gives, those that give nothing left out."""
        given = {
            name: round(weights.get(name, 0.0) * value, 3) for name, value in self.features.items()
        }
        return {name: value for name, value in given.items() if value}


def z_scores(scores: Sequence[float]) -> list[float]:
    """Centre and scale one leg's scores so that legs can be added.

    Args:
        scores: Raw scores of one query's candidates, any unit, any order.

    Returns:
        Same length and order; all zeros when the scores do not differ.
    """
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if spread < 1e-9:
        return [0.0] * len(scores)
    return [(score - mean) / spread for score in scores]


def scale(candidates: Sequence[Candidate], ideal: Mapping[str, float]) -> None:
    """Fill the features that are z-scores over the candidates.

    A passage that words did not find has none of them. One without a vector says nothing of its
    meaning, so it gets the mean. A leg whose best score is a small part of what a full match would
    give has found noise: it counts for as much less, else a question in another language than the
    facts would be answered by chance letters.

    Args:
        ideal: By leg, about what a passage with all of the query's words would score.
    """
    for name in SCALED:
        known = [candidate.raw[name] for candidate in candidates if name in candidate.raw]
        if not known:
            continue
        missing = sum(known) / len(known) if name in OF_MEANING else 0.0
        scores = [candidate.raw.get(name, missing) for candidate in candidates]
        trust = _trust(name, max(known), ideal.get(name, 0.0))
        for candidate, score in zip(candidates, z_scores(scores), strict=True):
            candidate.features[name] = trust * score


def _trust(name: str, best: float, ideal: float) -> float:
    if name not in TRUST or not ideal:
        return 1.0
    begin, full = TRUST[name]
    return min(max((best / ideal - begin) / (full - begin), 0.0), 1.0)


def nearby(likeness: Mapping[int, float], ids: Iterable[int], *, shift: int) -> dict[int, float]:
    """Return how near in meaning the neighbours of passages are, against the mean of all.

    Args:
        likeness: Of passages and their neighbours, by id.
        shift: Ids that differ above these bits stand in different threads.
    """
    if not likeness:
        return {}
    mean = sum(likeness.values()) / len(likeness)
    return {
        place: sum(
            weight * (likeness[place + step] - mean)
            for step, weight in NEIGHBOURS.items()
            if place + step in likeness and (place + step) >> shift == place >> shift
        )
        for place in ids
    }


def describe(
    candidate: Candidate, *, text: str, words: int, author_name: str, before: str, query: str
) -> None:
    """Fill the features that the passage's own text and author give.

    Args:
        words: How many of them say something.
        before: The text of the passage before it; empty where there is none.
        query: Folded.
    """
    candidate.features["author"] = float(is_named(author_name, query))
    candidate.features["asks"] = float(asks(text))
    candidate.features["answers"] = float(asks(before))
    candidate.features["length"] = math.log1p(min(words, LONG_ENOUGH))


@lru_cache(maxsize=1_024)
def is_named(name: str, folded_query: str) -> bool:
    """Return whether a folded query names somebody, endings allowed: ``Dilshodning``."""
    parts = [part for part in _WORD.findall(fold(name)) if len(part) >= SHORTEST_NAME]
    words = _WORD.findall(folded_query)
    return any(word.startswith(part) for part in parts for word in words)


def asks(text: str) -> bool:
    """Return whether a text ends as a question."""
    return text.rstrip(_CLOSING).endswith("?")
