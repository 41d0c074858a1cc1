"""How long a document is for the prompt, and what of it would be cut: the prompt's own figures."""

from dataclasses import dataclass
from datetime import datetime

from agents.core import prompt
from agents.core.cutting import split_middle
from agents.core.prompt import DOCUMENT_CHARACTERS, Source
from agents.core.tokens import estimate
from agents.models import Agent
from agents.services import persona

# As a model sees it: which names stand in which place is the prompt's decision alone.
_ANY_NAME = "SOUL.md"


@dataclass(frozen=True, slots=True)
class CutText:
    """A text too long for the prompt: what stays at both ends, and what goes."""

    head: str
    removed: str
    tail: str


@dataclass(frozen=True, slots=True)
class Measure:
    """What a text is worth in a prompt.

    Args:
        written: Characters as they were written.
        characters: With names such as ``{bot_name}`` replaced, before any cut.
        tokens: Estimated, after the cut.
        removed: Characters that the prompt would leave out.
        cut: Where; None for a text that stays whole.
    """

    written: int
    characters: int
    tokens: int
    removed: int
    cut: CutText | None

    @property
    def percent(self) -> int:
        """Return how much of a document's room it takes; over 100 where it is cut."""
        return -(-100 * self.characters // DOCUMENT_CHARACTERS)


def measure(agent: Agent, text: str, *, now: datetime) -> Measure:
    """Return how an agent's prompt would take a text."""
    values = persona.values(agent, (text,), zone=agent.time_zone, now=now)
    whole = prompt.replaced(text.strip(), values)
    assembled = prompt.assemble([Source(_ANY_NAME, text)], preset="default", values=values)
    if not assembled.parts:
        return Measure(len(text), 0, 0, 0, None)
    shown = assembled.parts[0].text
    is_cut = len(whole) > DOCUMENT_CHARACTERS
    cut = CutText(*split_middle(whole, DOCUMENT_CHARACTERS)) if is_cut else None
    removed = len(cut.removed) if cut else 0
    return Measure(len(text), len(whole), estimate(shown), removed, cut)
