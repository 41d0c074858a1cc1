"""What the detector finds."""

from dataclasses import dataclass
from typing import Literal

Category = Literal[
    "correction", "proper_noun", "preference", "decision", "specific_value", "remember"
]
DURABLE: frozenset[Category] = frozenset({"proper_noun", "preference", "remember"})


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing worth keeping.

    Args:
        text: The sentence or sentences that carry it, at most 300 characters, secrets masked.
    """

    category: Category
    text: str

    @property
    def is_durable(self) -> bool:
        """Return whether it belongs into MEMORY.md at once."""
        return self.category in DURABLE
