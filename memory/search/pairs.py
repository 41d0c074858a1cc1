"""How alike passages are to each other, for the few that are shown."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from memory.index.legs import Row
from memory.search.background import Background

# The database sends the number of dimensions first.
_HEADER: Final = 4


def likeness(
    rows: Sequence[Row], *, said: Sequence[int], usual: Background
) -> dict[tuple[int, int], float]:
    """Return the cosine of each pair of passages behind what is usual, the smaller id first.

    All of a kind have much in common, so the mean of their kind is taken away. Pairs of which one
    has no vector are left out.

    Args:
        said: Those whose vector names who said it.
    """
    known = sorted((row for row in rows if row.vector is not None), key=lambda row: row.id)
    if len(known) < 2:
        return {}
    sent = b"".join([row.vector[_HEADER:] for row in known if row.vector])
    vectors = np.frombuffer(sent, ">f2").astype(np.float64).reshape(len(known), -1)
    is_said = np.array([row.id in said for row in known])
    vectors -= np.where(is_said[:, None], usual.said, usual.statements)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = (vectors @ vectors.T).tolist()
    return {
        (one.id, other.id): alike[place][after]
        for place, one in enumerate(known)
        for after, other in enumerate(known[place + 1 :], start=place + 1)
    }
