"""What the passages say of a query whose terms stand in no block yet."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from agents import sql
from memory.index.scopes import Visible
from memory.index.scoring import Ints, is_among

# As `memory.index.fresh` packs it.
_RECORD: Final = np.dtype([("term", "<i8"), ("times", "u1"), ("length", "u1")])
_READ: Final = """
    SELECT passage_id, terms FROM memory_freshterms WHERE scope_id = ANY(%s::bigint[])
"""


class Fresh(NamedTuple):
    """Entries of a query's terms, as blocks have them, and whose they are."""

    terms: Ints
    entries: Ints

    def of(self, terms: Iterable[int]) -> "Fresh":
        """Return those of some of the terms."""
        if not len(self.terms):
            return self
        chosen = is_among(self.terms, np.array(sorted(terms), dtype=np.int64))
        return Fresh(self.terms[chosen], self.entries[chosen])

    def counts(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the terms, and how many entries each has."""
        terms, counts = np.unique(self.terms, return_counts=True)
        return terms.tolist(), counts.tolist()


NONE: Final = Fresh(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def read(visible: Visible, terms: Iterable[int]) -> Fresh:
    """Return the entries that a query's terms have. Read it before the blocks.

    What is joined to blocks meanwhile is then read twice, which can be told, and not missed.
    """
    if not visible.fresh:
        return NONE
    rows = sql.fetch(_READ, [sql.array(visible.scope_ids)], binary=True)
    if not rows:
        return NONE
    records = np.frombuffer(b"".join([row[1] for row in rows]), dtype=_RECORD)
    found = is_among(records["term"].astype(np.int64), np.array(sorted(terms), dtype=np.int64))
    sizes = [len(row[1]) // _RECORD.itemsize for row in rows]
    ids = np.repeat(np.array([row[0] for row in rows], dtype=np.int64), sizes)[found]
    chosen = records[found]
    entries = ids << 15 | chosen["times"].astype(np.int64) << 8 | chosen["length"]
    return Fresh(chosen["term"].astype(np.int64), entries)
