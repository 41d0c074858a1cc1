"""What memory has that fits a turn's message: looked up once, frozen with the turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.core.messages import JsonObject, Message
from memory import recall
from memory.policy import policy_of, searched_days
from memory.prompt import MemoryParts
from sessions.models import Turn


@dataclass(slots=True)
class Recaller:
    """Looks up for one turn, from when it is made until its prompt is put together.

    Args:
        asked: What the turn answers.
        earlier: The conversation as the model is shown it.
    """

    turn: Turn
    asked: str
    now: datetime
    earlier: Sequence[Message] = ()
    _looking: recall.Looking | None = field(init=False, default=None)
    _found: recall.Recall | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Begin, as the query's vector takes a while."""
        if policy_of(self.turn.session.agent).recalls:
            self._looking = recall.look(self.turn.viewer, self.asked)

    def __call__(self, remembered: MemoryParts) -> str:
        """Return what was recalled as a part of the prompt; empty where there is nothing."""
        if self._looking is None:
            return ""
        self._found = recall.recall(
            self._looking,
            now=self.now,
            shown=(remembered.long_term, remembered.session_state, *map(_text, self.earlier)),
            is_first=not self.earlier,
            notes_days=searched_days(self.turn.session.agent),
        )
        return self._found.text

    @property
    def manifest(self) -> JsonObject | None:
        """Return the manifest's entry; None where nothing was looked up."""
        return None if self._found is None else self._found.stored.model_dump(mode="json")


def _text(message: Message) -> str:
    return message.text
