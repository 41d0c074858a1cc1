"""Turns the raw scores of one query's candidates into features that can be added."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from memory.index.folding import fold
from memory.index.legs import Around, Brief
from memory.index.scoring import STEPS, Floats, Ints
from memory.models.index import POSITION_BITS
from memory.search.weights import OF_MEANING, SCALED, Weights

_WORD: Final = re.compile(r"[^\W_]+")
# What the neighbours at these steps count.
NEARNESS: Final = np.array([0.5, 1.0, 0.0, 1.0, 0.5])
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


@dataclass(slots=True)
class Candidate:
    """A passage that a leg found, with what is known of it.

    Args:
        features: What it is ranked by, each with a weight of its own.
        score: Their weighted sum.
        meaning: How near it is to what is sought; None where it has no vector.
    """

    id: int
    features: dict[str, float]
    score: float
    meaning: float | None
    is_exact: bool

    def why(self, weights: Weights) -> dict[str, float]:
        """Return what each feature gives, those that give nothing left out."""
        given = {
            name: round(weights.get(name, 0.0) * value, 3) for name, value in self.features.items()
        }
        return {name: value for name, value in given.items() if value}


def z_scores(scores: Floats) -> Floats:
    """Centre and scale one leg's scores so that legs can be added.

    Args:
        scores: Raw scores of one query's candidates, any unit, any order.

    Returns:
        Same length and order; all zeros when the scores do not differ.
    """
    centred = scores - scores.mean()
    spread = math.sqrt(float(centred @ centred) / len(scores))
    return np.zeros(len(scores)) if spread < 1e-9 else centred / spread


def scaled(raw: Mapping[str, Floats], ideal: Mapping[str, float]) -> dict[str, Floats]:
    """Return the features that are z-scores over the candidates.

    A passage that words did not find has 0 there. One without a vector says nothing of its
    meaning, so it gets the mean. A leg whose best score is a small part of what a full match would
    give has found noise: it counts for as much less, else a question in another language than the
    facts would be answered by chance letters.

    Args:
        raw: By leg, NaN where nothing is known.
        ideal: By leg, about what a passage with all of the query's words would score.
    """
    features = {}
    for name in SCALED:
        scores = raw.get(name)
        if scores is None or not len(scores):
            continue
        if name in OF_MEANING:
            known = scores[~np.isnan(scores)]
            if not len(known):
                continue
            scores = np.where(np.isnan(scores), known.mean(), scores)
        trust = _trust(name, float(scores.max()), ideal.get(name, 0.0))
        features[name] = trust * z_scores(scores)
    return features


def total(features: Mapping[str, Floats], weights: Weights, count: int) -> Floats:
    """Return the weighted sum of what is known so far, by candidate."""
    summed = np.zeros(count)
    for name, values in features.items():
        summed += weights.get(name, 0.0) * values
    return summed


def _trust(name: str, best: float, ideal: float) -> float:
    if name not in TRUST or not ideal:
        return 1.0
    begin, full = TRUST[name]
    return min(max((best / ideal - begin) / (full - begin), 0.0), 1.0)


def nearby(around: Around, ids: Ints) -> Floats:
    """Return how near in meaning the neighbours of passages are, against the mean of all.

    It is NaN for passages without a vector of their own.
    """
    places = ids[:, None] + STEPS
    is_there = places >> POSITION_BITS == (ids >> POSITION_BITS)[:, None]
    beside = around.of(places.ravel())
    # Each once, as neighbours of one are neighbours of another.
    known = around.of(np.unique(places))
    known = known[~np.isnan(known)]
    if not len(known):
        return np.full(len(ids), np.nan)
    beside = beside.reshape(places.shape)
    given = np.where(is_there & ~np.isnan(beside), (beside - known.mean()) * NEARNESS, 0.0).sum(
        axis=1
    )
    own = beside[:, len(STEPS) // 2]
    return np.where(np.isnan(own), np.nan, given)


def described(row: Brief, *, words: int, query: str) -> dict[str, float]:
    """Return the features that the passage's own text and author give.

    Args:
        words: How many of them say something.
        query: Folded.
    """
    return {
        "author": float(is_named(row.author_name, query)),
        "asks": float(row.asks),
        "answers": float(row.answers),
        "length": math.log1p(min(words, LONG_ENOUGH)),
    }


@lru_cache(maxsize=1_024)
def is_named(name: str, folded_query: str) -> bool:
    """Return whether a folded query names somebody, endings allowed: ``Dilshodning``."""
    if not name:
        return False
    parts = [part for part in _WORD.findall(fold(name)) if len(part) >= SHORTEST_NAME]
    words = _WORD.findall(folded_query)
    return any(word.startswith(part) for part in parts for word in words)
