"""What the detector finds."""

from dataclasses import dataclass
from typing import Literal

Category = Literal[
    "correction",
    "proper_noun",
    "preference",
    "decision",
    "specific_value",
    "remember",
    "forget",
]
DURABLE: frozenset[Category] = frozenset({"proper_noun", "preference", "remember"})

# Which words are listened to: our packs, or the six plain triggers of Qanot AI.
PackName = Literal["standard", "seed"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing worth keeping, or worth forgetting.

    Args:
        text: The clause or sentence that carries it, at most 300 characters, secrets masked.
        value: What it is about, without the words around it, as typed; empty where that is the
            whole clause. Of a `forget` it is what shall be forgotten.
        is_negated: Whether it is said that something is not so ("I don't like").
        language: Code of the pack that found it; empty where no pack was needed.
        replaces: Of a correction the old value ("not Sarvar"), where it was said.
    """

    category: Category
    text: str
    value: str = ""
    is_negated: bool = False
    language: str = ""
    replaces: str = ""

    @property
    def is_durable(self) -> bool:
        """Return whether it belongs into MEMORY.md at once."""
        return self.category in DURABLE
