"""The seam to whoever turns texts into vectors of their meaning."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.core.errors import AgentError
from agents.core.messages import Usage

Vector = Sequence[float]


class NoEmbedder(AgentError):
    """There is nobody to ask: the built-in model is not installed on this machine."""


class TooSlow(AgentError):
    """The vector did not come before its deadline; it may come later, and is then dropped."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of length one, in the order of the texts, and what they cost."""

    vectors: Sequence[Vector]
    usage: Usage = field(default_factory=Usage)


class Embedder(Protocol):
    """Turns texts into vectors; called from any thread, it answers when it is done.

    Both methods raise ``ProviderError``, ``NoEmbedder`` or ``TooSlow``.
    """

    def query(self, text: str, *, deadline_s: float | None = None) -> Embedded:
        """Return the one vector of what is sought."""
        ...

    def passages(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of what shall be found."""
        ...
