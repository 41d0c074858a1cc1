"""What of the found says the same, and what was true before something changed; plain Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memory.search.wording import contradict, is_same_wording, kept, tells_change, wording

# Likeness of two passages, as cosine behind what is usual: paraphrases have .7 to .95, sentences
# that differ in one value .6 to .75, those about one matter .3 to .7, others .3 in the middle.
SAME: Final = 0.75
# Vectors that name who said it have more in common: chance pairs of one conversation .54 in the
# middle, .78 at the most alike hundredth.
SAME_SAID: Final = 0.85
# Something that changed is told so nearly as what was before: two that are each other's nearest.
ONE_MATTER: Final = 0.3
MARGIN: Final = 0.08
# A later passage that tells of no change is another state of one matter from here on, and a
# change of what is a change itself.
NEARLY_SAME: Final = 0.6
CHANGED_AGAIN: Final = 0.7
# How relevant the later one must be against the earlier one: where it tells of a change, where
# not, and where it needs no other sign than that and the words of the query.
CHANGE_RELEVANCE: Final = 0.2
STATE_RELEVANCE: Final = 0.3
SURE_RELEVANCE: Final = 0.6
SURE_LIKENESS: Final = 0.2
# Two states that answer the query equally well.
EQUALLY_RELEVANT: Final = 0.8
EQUALLY_NEAR: Final = 0.4
# What is not relevant itself is not replaced.
OLD_RELEVANCE: Final = 0.75


@dataclass(slots=True)
class Item:
    """One passage in the order of its score.

    Args:
        relevance: How sure it is that it has to do with the query; 1 is just enough.
        is_said: Its vector names who said it.
        also: Those that say the same and are shown by this one.
        newer: The later passage by which it seems outdated.
    """

    id: int
    text: str
    at: datetime
    is_exact: bool = False
    is_said: bool = False
    relevance: float = 1.0
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
            likeness.get(_pair(item, other), 0.0) >= _bound(item, other)
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


# How far up an earlier passage must stand that a later one is looked for, and how far down the
# later one may: what is shown anyhow changes places, nothing else is pushed out.
OLD_AMONG: Final = 3
NEW_AMONG: Final = 10


def newest_first(items: list[Item], sought: Sequence[str], likeness: Likeness) -> list[Item]:
    """Put a later passage above an earlier one on the same matter, and mark the earlier one.

    Args:
        items: The best first; only these are compared.
        sought: The words of the query that say something.
    """
    ordered = list(items)
    nearest = _nearest(items, likeness)
    for old in items[:OLD_AMONG]:
        newer = [
            item for item in items[:NEW_AMONG] if _replaces(item, old, sought, likeness, nearest)
        ]
        if not newer:
            continue
        newer.sort(key=lambda item: (item.at, item.id))
        old.newer = newer[-1].id
        for item in newer:
            if ordered.index(item) > ordered.index(old):
                ordered.remove(item)
                ordered.insert(ordered.index(old), item)
    return ordered


@dataclass(frozen=True, slots=True)
class _Nearest:
    """How alike the nearest later passage, and the nearest earlier one, of each passage is."""

    later: Mapping[int, float]
    earlier: Mapping[int, float]


def _nearest(items: Sequence[Item], likeness: Likeness) -> _Nearest:
    later: dict[int, float] = {}
    earlier: dict[int, float] = {}
    for old, new in ((old, new) for old in items for new in items if old.at < new.at):
        alike = likeness.get(_pair(old, new), 0.0)
        later[old.id] = max(alike, later.get(old.id, 0.0))
        earlier[new.id] = max(alike, earlier.get(new.id, 0.0))
    return _Nearest(later, earlier)


def _replaces(
    new: Item, old: Item, sought: Sequence[str], likeness: Likeness, nearest: _Nearest
) -> bool:
    """Return whether a later passage says what holds now of what was asked.

    Rules of thumb: a sister's move is not to be taken for a brother's. A later passage that keeps
    the words of the query, tells of a change and is as relevant is sure. Else the two must be
    each other's nearest, and one of them tell of a change or both say nearly the same.
    """
    if new.at <= old.at or old.relevance < OLD_RELEVANCE or (old.is_exact and not new.is_exact):
        return False
    before, after = kept(sought, old.text, new.text)
    keeps_words = before == after and before > 0
    is_change, was_change = tells_change(new.text), tells_change(old.text)
    alike = likeness.get(_pair(new, old))
    if alike is None:
        return keeps_words and is_change and not was_change
    part = new.relevance / old.relevance
    if keeps_words and is_change and not was_change and part >= SURE_RELEVANCE:
        return alike >= SURE_LIKENESS
    if alike < max(nearest.later[old.id], nearest.earlier[new.id]) - MARGIN:
        return False
    if was_change and alike < CHANGED_AGAIN:
        return False
    if before > 1 and not after:
        return False
    if keeps_words and before == len(sought) and part >= EQUALLY_RELEVANT:
        return alike >= EQUALLY_NEAR
    if is_change:
        wanted = CHANGE_RELEVANCE / 2 if alike >= NEARLY_SAME else CHANGE_RELEVANCE
        return alike >= ONE_MATTER and part >= wanted
    return keeps_words and alike >= NEARLY_SAME and part >= STATE_RELEVANCE


def _pair(one: Item, other: Item) -> tuple[int, int]:
    return (one.id, other.id) if one.id < other.id else (other.id, one.id)
