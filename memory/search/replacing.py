"""What holds now first: whether a later passage says anew what an earlier one said; plain Python.

A sum of what speaks for it and against, with weights that were fitted once and frozen
(docs/evaluation.md): on pairs of sentences of which the second takes back the first, against
later sentences about something or somebody else, in five languages, and against what was said
later in long conversations without taking back the evidence.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.search.grouping import Item, Likeness, pair_of
from memory.search.wording import (
    content_words,
    coverage,
    named,
    present,
    tells_change,
    weighed,
)

# How far up an earlier passage must stand that a later one is looked for, and how far down the
# later one may: to look further costs time and found nothing more.
OLD_AMONG: Final = 3
NEW_AMONG: Final = 20
# What is hardly relevant itself is not replaced.
OLD_RELEVANCE: Final = 0.5
# News are news: more of it does not make them surer.
MOST_CHANGE: Final = 2.0
# Behind another one by so much, a passage is not the nearest, however far it is.
MOST_BEHIND: Final = 0.15

# From here on being relevant says no more, and below it speaks against what is later.
FULLY_RELEVANT: Final = 0.7

# What each counts; above zero the later one replaces the earlier one.
BEGIN: Final = 0.1
WEIGHTS: Final[Mapping[str, float]] = {
    # Likeness of the two.
    "alike": 5.8,
    # By how much another one is nearer that has as many of the query's words.
    "behind": -26.8,
    # How much the later one tells of a change, and the earlier one.
    "change": 2.0,
    "change_before": -2.1,
    # A change that came after a change is another one.
    "was_change": -2.5,
    # How much the later one lacks of being relevant.
    "irrelevant": -4.0,
    # By how much the earlier one is nearer to what is asked.
    "gap": -7.4,
    # The share of the query's words that the earlier one has, and that both have.
    "told": 1.2,
    "kept": 1.4,
    # The query names somebody of whom the later one does not speak.
    "other_name": -2.5,
    # The share of the later one's words that are new.
    "extra": -7.5,
}


@dataclass(frozen=True, slots=True)
class Sought:
    """What is asked.

    Args:
        words: Those that say something.
        names: Of somebody or something, among the words.
    """

    words: Sequence[str]
    names: tuple[str, ...] = ()


def newest_first(items: Sequence[Item], sought: Sought, likeness: Likeness) -> list[Item]:
    """Put what holds now above what it replaces, and mark the latter.

    Args:
        items: The best first.
        likeness: Of pairs of ids, the smaller one first; missing where a vector is.
    """
    ordered = list(items)
    for old, new in _Pairs(items[:NEW_AMONG], sought, likeness).replaced():
        old.newer = new.id
        if ordered.index(new) > ordered.index(old):
            ordered.remove(new)
            ordered.insert(ordered.index(old), new)
    return ordered


class _Pairs:
    """Compares the passages of one answer with each other."""

    def __init__(self, items: Sequence[Item], sought: Sought, likeness: Likeness):
        self._items = items
        self._sought = sought
        self._likeness = likeness
        self._weights = weighed(sought.words)
        self._known: dict[int, frozenset[str]] = {}
        self._shares: dict[int, float] = {}

    def replaced(self) -> list[tuple[Item, Item]]:
        """Return what is replaced and by what, the best of the replaced first."""
        surest = {old.id: found for old in self._items[:OLD_AMONG] if (found := self._surest(old))}
        return [
            (old, surest[old.id][1])
            for old in self._items[:OLD_AMONG]
            if old.id in surest and not self._is_astray(old, surest)
        ]

    def _surest(self, old: Item) -> tuple[float, Item] | None:
        """Return what replaces an earlier passage the most surely, and how sure that is."""
        if old.relevance < OLD_RELEVANCE:
            return None
        later = [new for new in self._items if new.at > old.at and new.is_exact >= old.is_exact]
        sure = [(sum_, new) for new in later if (sum_ := self._sum(new, old)) > 0]
        return max(sure, key=lambda one: (one[0], one[1].at, one[1].id), default=None)

    def _is_astray(self, news: Item, surest: Mapping[int, tuple[float, Item]]) -> bool:
        """Return whether what replaces the news is about another matter.

        It must replace what the news replaced as well, where that is the surer thing.
        """
        sum_, new = surest[news.id]
        return any(
            one.id in surest
            and surest[one.id][1] is news
            and surest[one.id][0] > sum_
            and self._sum(new, one) <= 0
            for one in self._items
        )

    def _sum(self, new: Item, old: Item) -> float:
        alike = self._likeness.get(pair_of(new, old))
        if alike is None or new.change is None or old.change is None:
            return self._by_words(new, old)
        by_vectors = {
            "alike": alike,
            "change": _bounded(new.change),
            "change_before": _bounded(old.change),
            "was_change": max(_bounded(old.change), 0.0),
            "irrelevant": max(FULLY_RELEVANT - new.relevance, 0.0),
            "gap": (old.meaning or 0.0) - (new.meaning or 0.0),
        }
        summed = BEGIN + sum([WEIGHTS[name] * value for name, value in by_vectors.items()])
        # Words take longer: they are read where they can still make the difference.
        if summed + WEIGHTS["told"] + WEIGHTS["kept"] <= 0:
            return summed
        summed += WEIGHTS["told"] * self._has(old) + WEIGHTS["kept"] * self._kept(new, old)
        summed += WEIGHTS["other_name"] * (not self._named(old) <= self._named(new))
        if summed > 0:
            summed += WEIGHTS["behind"] * self._behind(new, old, alike)
        if summed > 0:
            summed += WEIGHTS["extra"] * (1 - coverage(content_words(new.text), old.text))
        return summed

    def _kept(self, new: Item, old: Item) -> float:
        return self._weigh(self._words(old) & self._words(new))

    def _has(self, item: Item) -> float:
        if item.id not in self._shares:
            self._shares[item.id] = self._weigh(self._words(item))
        return self._shares[item.id]

    def _weigh(self, words: Collection[str]) -> float:
        return sum([self._weights[word] for word in words])

    def _words(self, item: Item) -> frozenset[str]:
        if item.id not in self._known:
            self._known[item.id] = present(self._sought.words, item.text)
        return self._known[item.id]

    def _named(self, item: Item) -> frozenset[str]:
        return named(self._sought.names, item.text)

    def _behind(self, new: Item, old: Item, alike: float) -> float:
        """Return by how much others with as many of the query's words are nearer to either."""
        nearest = alike
        for rival in self._items:
            if rival.at > old.at and rival is not new:
                nearest = max(nearest, self._nearness(rival, old, nearest, self._has(new)))
            if rival.at < new.at and rival is not old:
                nearest = max(nearest, self._nearness(rival, new, nearest, self._has(old)))
        return min(nearest - alike, MOST_BEHIND)

    def _nearness(self, rival: Item, to: Item, nearest: float, has: float) -> float:
        """Return how near a rival is; 0 where it is no nearer or has fewer of the words."""
        near = self._likeness.get(pair_of(rival, to), 0.0)
        return near if near > nearest and self._has(rival) >= has - 0.01 else 0.0

    def _by_words(self, new: Item, old: Item) -> float:
        """Return how sure it is without vectors, or with those of a model nobody measured."""
        told = self._has(old)
        keeps = told > 0 and self._words(old) <= self._words(new)
        is_sure = keeps and tells_change(new.text) and not tells_change(old.text)
        return told if is_sure else 0.0


def _bounded(change: float) -> float:
    return max(min(change, MOST_CHANGE), -MOST_CHANGE)
