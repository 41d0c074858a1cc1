"""What the postings of a query's terms say of passages: BM25, over arrays.

A search reads some ten thousand entries. In arrays that takes a millisecond, where the database
took six for grouping them.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory.models.index import POSITION_BITS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# BM25, as measured best on short turns (k1 0.9, b 0.4).
SATURATION: Final = 0.9
LENGTH_WEIGHT: Final = 0.4
# Neighbours are lifted by so many passages, those whose words fit best.
LIFTING: Final = 300
STEPS: Final = np.arange(-2, 3)
# Before an array's elements the database sends its shape: 20 bytes for one dimension. Each
# element has its own length before it.
_HEADER: Final = 20
_ELEMENT: Final = np.dtype([("size", ">i4"), ("value", ">i8")])


def best_places(scores: Floats, limit: int) -> Ints:
    """Return where the highest scores are; of equal ones, the later."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    bound = np.partition(scores, -limit)[-limit]
    among = np.flatnonzero(scores >= bound)
    return among[np.argsort(scores[among], kind="stable")[-limit:]]


def is_among(numbers: Ints, sought: Ints) -> Bools:
    """Return which numbers are among the sought ones, which rise; numpy's own way takes longer."""
    if not len(sought):
        return np.zeros(len(numbers), dtype=np.bool_)
    places = np.minimum(np.searchsorted(sought, numbers), len(sought) - 1)
    among: Bools = sought[places] == numbers
    return among


class Score(NamedTuple):
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
class Scores:
    """The same of many passages, each in a column, in the order of their ids."""

    ids: Ints
    word: Floats
    near: Floats
    letters: Floats
    thread: Floats
    is_exact: Bools

    def __iter__(self) -> Iterator[Score]:
        """Return them one by one."""
        columns = (self.ids, self.word, self.near, self.letters, self.thread, self.is_exact)
        return iter([Score(*row) for row in zip(*(c.tolist() for c in columns), strict=True)])


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long a passage is on the average, as entries count it."""

    words: float
    grams: float
    thread: float


@dataclass(frozen=True, slots=True)
class _Sums:
    """Scores by passage, ids rising."""

    ids: Ints
    scores: Floats

    def best(self, limit: int) -> Ints:
        """Return the ids of the highest scores; of equal ones, those of the later passages."""
        return self.ids[best_places(self.scores, limit)]

    def of(self, ids: Ints) -> Floats:
        """Return the scores of passages, 0 where there is none."""
        if not len(self.ids):
            return np.zeros(len(ids))
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.scores[places], 0.0)


class Hits:
    """The entries that a query's terms have, and what they add up to.

    Args:
        terms: Of each block.
        blocks: As the database sends arrays of entries.
        fresh: Terms and entries of passages that stand in no block yet; those of a passage that
            stands in one by now are left out.
        found: How many entries each term has in what is visible.
        scored: Terms that count; the others are read for what contains the query.
        passages: How many passages are visible.
    """

    def __init__(
        self,
        terms: Sequence[int],
        blocks: Sequence[bytes],
        fresh: tuple[Ints, Ints],
        found: dict[int, int],
        *,
        scored: Container[int],
        passages: int,
        lengths: Lengths,
    ) -> None:
        self._lengths = lengths
        self._found = found
        more, latest = fresh
        listed = sorted({*terms, *more.tolist()})
        number = {term: place for place, term in enumerate(listed)}
        sizes = [max(len(block) - _HEADER, 0) // _ELEMENT.itemsize for block in blocks]
        packed = np.frombuffer(b"".join([block[_HEADER:] for block in blocks]), dtype=_ELEMENT)
        entries = packed["value"].astype(np.int64)
        places = np.array([number[term] for term in terms], dtype=np.int64)
        places = np.repeat(places, sizes)
        if len(more):
            # Read a moment before the blocks, into which they may have been joined since.
            own, joined = np.sort(latest >> 15), entries >> 15
            is_apart = ~is_among(latest >> 15, np.unique(joined[is_among(joined, own)]))
            entries = np.concatenate([entries, latest[is_apart]])
            places = np.concatenate([places, np.searchsorted(listed, more[is_apart])])
        self._number = number
        self._terms = places
        self._ids = entries >> 15
        self._times = ((entries >> 8) & 127).astype(np.float64)
        self._length = (entries & 255).astype(np.float64)
        counts = np.array([found[term] for term in listed], dtype=np.float64)
        self._rarity = np.log1p(np.maximum(passages - counts, 0) / (counts + 0.5))
        # Stems are below zero, letter groups above.
        stems = np.array(listed, dtype=np.int64) < 0
        counting = np.array([term in scored for term in listed], dtype=np.bool_)
        self._is_word = (stems & counting)[self._terms]
        is_gram = (~stems & counting)[self._terms]
        self.word = self._sums(self._is_word, lengths.words)
        self.letters = self._sums(is_gram, lengths.grams)
        self.near = self._lifted()

    def with_all(self, terms: Sequence[int], *, rarest: int) -> Ints:
        """Return the passages that have the rarest of these terms; none where one is unknown."""
        ids: Ints | None = None
        known = sorted((self._found.get(term, 0), term) for term in terms)
        if not known or not known[0][0]:
            return np.empty(0, dtype=np.int64)
        for _, term in known[:rarest]:
            own = self._ids[self._terms == self._number[term]]
            ids = own if ids is None else np.intersect1d(ids, own, assume_unique=True)
        assert ids is not None  # noqa: S101 — there is a first term
        return ids

    def threads_of(self, ids: Ints) -> Ints:
        """Return the threads of passages that have a word of the query somewhere."""
        own = self._ids[self._is_word] >> POSITION_BITS
        return np.intersect1d(ids >> POSITION_BITS, own)

    def thread(self, threads: Ints, words: Floats) -> _Sums:
        """Return BM25 of whole threads.

        Args:
            threads: Rising.
            words: How many each has.
        """
        if not len(threads):
            return _Sums(threads, np.empty(0))
        own = self._ids[self._is_word] >> POSITION_BITS
        places = np.minimum(np.searchsorted(threads, own), len(threads) - 1)
        is_in = threads[places] == own
        kinds = len(self._rarity)
        cells = places[is_in] * kinds + self._terms[self._is_word][is_in]
        times: Floats = np.bincount(
            cells, weights=self._times[self._is_word][is_in], minlength=len(threads) * kinds
        ).astype(np.float64)
        times = times.reshape(len(threads), kinds)
        damped = _damped(times, words[:, None] / self._lengths.thread)
        return _Sums(threads, (self._rarity * damped).sum(axis=1))

    def _sums(self, chosen: Bools, mean: float) -> _Sums:
        given = self._rarity[self._terms[chosen]] * _damped(
            self._times[chosen], self._length[chosen] / mean
        )
        return _summed(self._ids[chosen], given)

    def _lifted(self) -> _Sums:
        lifting = np.sort(self.word.best(LIFTING))
        spread = (lifting[:, None] + STEPS).ravel()
        return _summed(spread, np.repeat(self.word.of(lifting), len(STEPS)))


def _damped(times: Floats, length: Floats) -> Floats:
    """Return what a term's coming so often counts in a text of this length, 1 the average."""
    weight = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    return times * (1 + SATURATION) / (times + weight)


def _summed(ids: Ints, given: Floats) -> _Sums:
    own, places = np.unique(ids, return_inverse=True)
    summed = np.bincount(places, weights=given, minlength=len(own))
    return _Sums(own, summed.astype(np.float64))
