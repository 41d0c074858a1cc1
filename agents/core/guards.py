"""Three signs that a model runs in circles."""

import json
from dataclasses import dataclass, field
from typing import Literal

from agents.core.messages import ToolCall

Circle = Literal["repeated_call", "alternating_calls", "repeated_result"]

REPEATS = 3


def _signature(call: ToolCall) -> str:
    arguments = call.arguments if call.malformed is None else call.malformed
    return f"{call.name} {json.dumps(arguments, sort_keys=True)}"


@dataclass(slots=True)
class LoopGuard:
    """Watches one turn's tool calls and their results, in the order in which they happened."""

    _calls: list[str] = field(default_factory=list)
    _results: dict[str, str] = field(default_factory=dict)

    def saw(self, call: ToolCall, result: str) -> Circle | None:
        """Take in one finished call; return the circle that it closes, if it closes one.

        ``repeated_result``: the same call gave the same result again, so asking again is
        useless. ``repeated_call``: the same call three times in a row. ``alternating_calls``:
        A, B, A, B.
        """
        signature = _signature(call)
        self._calls.append(signature)
        same_result = self._results.get(signature) == result
        self._results[signature] = result
        if same_result:
            return "repeated_result"
        if self._calls[-REPEATS:] == [signature] * REPEATS:
            return "repeated_call"
        if self._alternates():
            return "alternating_calls"
        return None

    def _alternates(self) -> bool:
        if len(self._calls) < 4:
            return False
        first, second, third, fourth = self._calls[-4:]
        return first == third and second == fourth and first != second
