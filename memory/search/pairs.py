"""How alike passages are to each other, and which tell of a change, for the few that are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from memory.index.legs import Row
from memory.search.background import Background

# The database sends the number of dimensions first.
_HEADER: Final = 4


@dataclass(frozen=True, slots=True)
class Compared:
    """What the vectors of some passages say; those without a vector are left out.

    Args:
        likeness: Of each pair of ids, the smaller one first: their cosine behind what is usual.
        change: By id, how much it tells that something changed: 1 as news do, -1 as statements of
            how things are.
    """

    likeness: Mapping[tuple[int, int], float] = field(default_factory=dict)
    change: Mapping[int, float] = field(default_factory=dict)


def compare(rows: Sequence[Row], *, said: Sequence[int], usual: Background) -> Compared:
    """Compare passages with each other and with what is usual.

    All of a kind have much in common, so the mean of their kind is taken away.

    Args:
        said: Those whose vector names who said it.
    """
    known = sorted((row for row in rows if row.vector is not None), key=lambda row: row.id)
    if not known:
        return Compared()
    sent = b"".join([row.vector[_HEADER:] for row in known if row.vector])
    vectors = np.frombuffer(sent, ">f2").astype(np.float64).reshape(len(known), -1)
    is_said = np.array([row.id in said for row in known])
    change = vectors @ usual.change - np.where(is_said, usual.change_said, usual.change_noted)
    vectors -= np.where(is_said[:, None], usual.said, usual.statements)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = (vectors @ vectors.T).tolist()
    likeness = {
        (one.id, other.id): alike[place][after]
        for place, one in enumerate(known)
        for after, other in enumerate(known[place + 1 :], start=place + 1)
    }
    ids = [row.id for row in known]
    return Compared(likeness, dict(zip(ids, change.tolist(), strict=True)))
