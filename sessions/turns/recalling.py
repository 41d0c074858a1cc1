"""What memory has that fits a turn's message: looked up once, frozen with the turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.core.messages import JsonObject, Message
from memory import recall
from memory.policy import policy_of
from memory.prompt import MemoryParts
from sessions.models import Turn


@dataclass(slots=True)
class Recaller:
    """Looks up for one turn, as its prompt is put together.

    Args:
        asked: What the turn answers.
        earlier: The conversation as the model is shown it.
    """

    turn: Turn
    asked: str
    earlier: Sequence[Message]
    now: datetime
    _found: recall.Recall | None = field(init=False, default=None)

    def __call__(self, remembered: MemoryParts) -> str:
        """Return what was recalled as a part of the prompt; empty where there is nothing."""
        agent = self.turn.session.agent
        if not policy_of(agent).recalls:
            return ""
        self._found = recall.recall(
            self.turn.viewer,
            self.asked,
            now=self.now,
            shown=(remembered.long_term, remembered.session_state, *map(_text, self.earlier)),
            is_first=not self.earlier,
            notes_days=agent.notes_days,
        )
        return self._found.text

    @property
    def manifest(self) -> JsonObject | None:
        """Return the manifest's entry; None where nothing was looked up."""
        return None if self._found is None else self._found.stored.model_dump(mode="json")


def _text(message: Message) -> str:
    return message.text
