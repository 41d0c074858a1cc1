"""What holds now first: whether a later passage says anew what an earlier one said; plain Python.

A sum of what speaks for it and against, with weights that were fitted once and frozen
(docs/evaluation.md): on pairs of sentences of which the second takes back the first, against
later sentences about something or somebody else, in five languages, and against what was said
later in long conversations without taking back the evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.search.grouping import Item, Likeness, pair_of
from memory.search.wording import content_words, coverage, loses_name, shared, tells_change

# Both must be among the best: what is shown is put in order and marked.
OLD_AMONG: Final = 10
NEW_AMONG: Final = 20
# What is hardly relevant itself is not replaced.
OLD_RELEVANCE: Final = 0.5
# News are news: more of it does not make them surer.
MOST_CHANGE: Final = 2.0
# Behind another one by so much, a passage is not the nearest, however far it is.
MOST_BEHIND: Final = 0.15

# What each counts; above zero the later one replaces the earlier one.
BEGIN: Final = -0.8
WEIGHTS: Final[Mapping[str, float]] = {
    # Likeness of the two.
    "alike": 5.4,
    # By how much another one is nearer that has as many of the query's words.
    "behind": -27.2,
    # How much the later one tells of a change, and the earlier one.
    "change": 1.9,
    "change_before": -2.0,
    # A change that came after a change is another one.
    "was_change": -2.2,
    # By how much the earlier one is nearer to what is asked.
    "gap": -8.8,
    # The share of the query's words that the earlier one has, and that both have.
    "told": 1.7,
    "kept": 1.8,
    # The query names somebody of whom the later one does not speak.
    "other_name": -2.4,
    # The share of the later one's words that are new.
    "extra": -6.2,
}


@dataclass(frozen=True, slots=True)
class Sought:
    """What is asked.

    Args:
        words: Those that say something.
        names: Of somebody or something, among the words.
    """

    words: Sequence[str]
    names: Sequence[str] = ()


def newest_first(items: Sequence[Item], sought: Sought, likeness: Likeness) -> list[Item]:
    """Put what holds now above what it replaces, and mark the latter.

    Args:
        items: The best first.
        likeness: Of pairs of ids, the smaller one first; missing where a vector is.
    """
    ordered = list(items)
    pairs = _Pairs(items[:NEW_AMONG], sought, likeness)
    for old in items[:OLD_AMONG]:
        new = pairs.replacing(old)
        if new is None:
            continue
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
        self._has = {item.id: coverage(sought.words, item.text) for item in items}

    def replacing(self, old: Item) -> Item | None:
        """Return what replaces an earlier passage the most surely; None where nothing does."""
        if old.relevance < OLD_RELEVANCE:
            return None
        later = [new for new in self._items if new.at > old.at and new.is_exact >= old.is_exact]
        sure = [(sum_, new.at, new.id, new) for new in later if (sum_ := self._sum(new, old)) > 0]
        return max(sure, key=lambda one: one[:3])[-1] if sure else None

    def _sum(self, new: Item, old: Item) -> float:
        alike = self._likeness.get(pair_of(new, old))
        if alike is None or new.change is None or old.change is None:
            return self._by_words(new, old)
        kept = shared(self._sought.words, old.text, new.text)
        known = {
            "alike": alike,
            "change": _bounded(new.change),
            "change_before": _bounded(old.change),
            "was_change": max(_bounded(old.change), 0.0),
            "gap": (old.meaning or 0.0) - (new.meaning or 0.0),
            "told": self._has[old.id],
            "kept": kept,
            "other_name": float(loses_name(self._sought.names, old.text, new.text)),
        }
        summed = BEGIN + sum(WEIGHTS[name] * value for name, value in known.items())
        # What else there is speaks against it only, and takes longer.
        if summed > 0:
            summed += WEIGHTS["behind"] * self._behind(new, old, alike)
        if summed > 0:
            summed += WEIGHTS["extra"] * (1 - coverage(content_words(new.text), old.text))
        return summed

    def _behind(self, new: Item, old: Item, alike: float) -> float:
        """Return by how much others with as many of the query's words are nearer to either."""
        rivals = [
            self._likeness.get(pair_of(one, other), 0.0)
            for one, other, least in (
                *((old, rival, new) for rival in self._items if rival.at > old.at),
                *((new, rival, old) for rival in self._items if rival.at < new.at),
            )
            if other is not least and self._has[other.id] >= self._has[least.id] - 0.01
        ]
        return min(max(alike, *rivals) - alike, MOST_BEHIND) if rivals else 0.0

    def _by_words(self, new: Item, old: Item) -> float:
        """Return how sure it is without vectors, or with those of a model nobody measured."""
        told = self._has[old.id]
        keeps = told > 0 and shared(self._sought.words, old.text, new.text) == told
        is_sure = keeps and tells_change(new.text) and not tells_change(old.text)
        return told if is_sure else 0.0


def _bounded(change: float) -> float:
    return max(min(change, MOST_CHANGE), -MOST_CHANGE)
