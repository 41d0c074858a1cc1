"""What of the found says the same; plain Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memory.search.wording import contradict, is_same_wording, wording

# Likeness of two passages, as cosine behind what is usual: paraphrases have .7 to .95, sentences
# that differ in one value .6 to .75, those about one matter .3 to .7, others .3 in the middle.
SAME: Final = 0.75
# Vectors that name who said it have more in common: chance pairs of one conversation .54 in the
# middle, .78 at the most alike hundredth.
SAME_SAID: Final = 0.85


@dataclass(slots=True)
class Item:
    """One passage in the order of its score.

    Args:
        relevance: How sure it is that it has to do with the query; 1 is just enough.
        is_said: Its vector names who said it.
        meaning: How near it is to what is sought; None without a vector.
        change: How much it tells that something changed, 1 as ordinary news do, -1 as statements
            of how things are; None without a vector.
        also: Those that say the same and are shown by this one.
        newer: The later passage by which it seems outdated.
    """

    id: int
    text: str
    at: datetime
    is_exact: bool = False
    is_said: bool = False
    relevance: float = 1.0
    meaning: float | None = None
    change: float | None = None
    also: list[int] = field(default_factory=list)
    newer: int | None = None


Likeness = Mapping[tuple[int, int], float]


def merge(items: Sequence[Item], likeness: Likeness) -> list[Item]:
    """Show passages that say the same as one, the newest of them, where the best of them stands.

    What contradicts is never merged, nor is an exact hit hidden behind one that is none.

    Args:
        items: The best first.
        likeness: Of pairs of ids, the smaller one first; missing where a vector is.
    """
    groups: list[list[Item]] = []
    if not _are_any_alike(items, likeness):
        return list(items)
    for item in items:
        group = next((group for group in groups if _says_the_same(item, group, likeness)), None)
        if group is None:
            groups.append([item])
        else:
            group.append(item)
    return [_shown(group) for group in groups]


def _are_any_alike(items: Sequence[Item], likeness: Likeness) -> bool:
    """Return whether it is worth comparing each with each, which it seldom is."""
    if max(likeness.values(), default=0.0) >= min(SAME, SAME_SAID):
        return True
    return len({wording(item.text) for item in items}) < len(items)


def _says_the_same(item: Item, group: Sequence[Item], likeness: Likeness) -> bool:
    """Return whether an item says what every one of a group says."""
    if item.is_exact != group[0].is_exact:
        return False
    return all(
        is_same_wording(item.text, other.text)
        or (
            likeness.get(pair_of(item, other), 0.0) >= _bound(item, other)
            and not contradict(item.text, other.text)
        )
        for other in group
    )


def _bound(one: Item, other: Item) -> float:
    return SAME_SAID if one.is_said and other.is_said else SAME


def _shown(group: Sequence[Item]) -> Item:
    shown = max(group, key=lambda item: (item.at, item.id))
    shown.also = [item.id for item in group if item is not shown]
    return shown


def pair_of(one: Item, other: Item) -> tuple[int, int]:
    """Return two passages as likeness is asked for."""
    return (one.id, other.id) if one.id < other.id else (other.id, one.id)
