"""What one attempt of one turn publishes, gathered until it is carried."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from agents.core.messages import JsonObject
from sessions.events import wire

ToolState = Literal["running", "done", "error"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, ready to be sent.

    Args:
        id: ``<attempt>-<n>``.
        text: JSON.
        begins: True where a client can begin with it; others only go on.
    """

    id: str
    text: str
    begins: bool


@dataclass(slots=True)
class _ShownTool:
    name: str
    state: ToolState


class Feed:
    """Collects what happens; the hub takes it away.

    Args:
        carry: Called with ``at_once`` when there is something to take: False means that more
            may be gathered first.
    """

    def __init__(
        self, *, turn: UUID, session: UUID, attempt: int, carry: "Callable[[Feed, bool], None]"
    ) -> None:
        self._carry = carry
        self.turn = turn
        self._stream = wire.stream_of(turn)
        self._channel = wire.redis_channel_of(wire.group_of(session))
        self._attempt = attempt
        self._n = 0
        self._text: list[str] = []
        self._frames: list[JsonObject] = []
        self._shown: list[str] = []
        self._tools: dict[str, _ShownTool] = {}
        self._must_snapshot = False
        self._is_refused = False

    def begin(self, *, text: str = "", tools: Sequence[tuple[str, str, ToolState]] = ()) -> None:
        """Announce the attempt, with what an earlier one had already settled."""
        self._add({"type": "turn.started"})
        self._shown = [text] if text else []
        self._tools = {call: _ShownTool(name, state) for call, name, state in tools}
        if text or tools:
            self._add(self._snapshot())
        # It may wait for the first text: watchers know already that the turn was accepted.
        self._carry(self, False)

    def text(self, delta: str) -> None:
        """Add a piece of the answer: the first goes at once, later ones are gathered."""
        is_first = not self._shown and not self._text
        self._text.append(delta)
        self._carry(self, is_first)

    def restart_answer(self, kept: str) -> None:
        """Take back the text since ``kept``: it comes again."""
        self._text.clear()
        self._shown = [kept] if kept else []
        self._add({"type": "answer.restarted"})
        self._add(self._snapshot())
        self._carry(self, True)

    def tool_started(self, call: str, name: str) -> None:
        """Show that a tool runs."""
        self._gather_text()
        self._tools[call] = _ShownTool(name, "running")
        self._add({"type": "tool.started", "call": call, "name": name})
        self._carry(self, True)

    def tool_finished(self, call: str, name: str, *, is_error: bool, seconds: float) -> None:
        """Show that a tool gave its result."""
        self._tools[call] = _ShownTool(name, "error" if is_error else "done")
        self._add(
            {
                "type": "tool.finished",
                "call": call,
                "name": name,
                "error": is_error,
                "seconds": round(seconds, 3),
            }
        )
        self._carry(self, True)

    def end(self, state: str) -> None:
        """Say that the transcript now has everything."""
        self._gather_text()
        self._add({"type": "turn.ended", "state": state})
        self._carry(self, True)

    @property
    def has_arrived(self) -> bool:
        """Return whether Redis took everything that was carried."""
        return not self._must_snapshot and not self._frames

    def lost(self) -> None:
        """Remember that frames did not arrive: the next ones begin with a snapshot."""
        self._must_snapshot = True

    def refused(self) -> None:
        """Remember that a later attempt publishes now: this one falls silent."""
        self._is_refused = True

    def take(self) -> list[Frame]:
        """Return and forget what waits."""
        self._gather_text()
        frames, self._frames = self._frames, []
        if self._is_refused:
            return []
        if self._must_snapshot:
            self._must_snapshot = False
            ended = [frame for frame in frames if frame["type"] == "turn.ended"]
            frames = [self._snapshot(), *ended]
        return [self._number(frame) for frame in frames]

    @property
    def stream(self) -> str:
        """Return the Redis stream's name."""
        return self._stream

    @property
    def channel(self) -> str:
        """Return the Redis channel of the session's watchers."""
        return self._channel

    def _add(self, frame: JsonObject) -> None:
        self._frames.append(frame)

    def _gather_text(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._shown.append(text)
            self._add({"type": "text", "text": text})

    def _snapshot(self) -> JsonObject:
        return {
            "type": "snapshot",
            "text": "".join(self._shown),
            "tools": [
                {"call": call, "name": tool.name, "state": tool.state}
                for call, tool in self._tools.items()
            ],
        }

    def _number(self, frame: JsonObject) -> Frame:
        self._n += 1
        head: JsonObject = {
            "v": wire.VERSION,
            "turn": str(self.turn),
            "attempt": self._attempt,
            "n": self._n,
        }
        begins = frame["type"] in ("turn.started", "snapshot")
        return Frame(f"{self._attempt}-{self._n}", wire.encode(head | frame), begins)
