"""Which frames of a turn one client still needs: positions, gaps, and where to begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel


class FrameHead(BaseModel):
    """What decides about a frame (docs/events.md)."""

    turn: str
    attempt: int
    n: int
    type: str

    @property
    def position(self) -> "Position":
        """Return where the frame stands in its turn."""
        return Position(self.attempt, self.n)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a frame stands in its turn; later attempts come after earlier ones."""

    attempt: int
    n: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the position that a frame id names; None for what is no frame id."""
        attempt, dash, n = text.partition("-")
        if not (dash and f"{attempt}{n}".isascii() and attempt.isdigit() and n.isdigit()):
            return None
        # A frame id is two numbers of 64 bits; longer ones are nobody's.
        return cls(int(attempt), int(n)) if len(text) <= 32 else None

    def __str__(self) -> str:
        return f"{self.attempt}-{self.n}"


class Follower:
    """Knows what one client has of a turn.

    Args:
        seen: The last frame that the client has; None where it has nothing.
    """

    def __init__(self, seen: Position | None = None) -> None:
        self.seen = seen
        self.is_whole = True
        """Whether the client has all the text, as far as it went."""

    def has(self, position: Position) -> bool:
        """Return whether the client has that frame."""
        return self.seen is not None and position <= self.seen

    def is_next(self, position: Position) -> bool:
        """Return whether nothing is missing between the client's last frame and that one."""
        if self.seen is None or position.attempt > self.seen.attempt:
            return position.n == 1
        return position.n <= self.seen.n + 1

    def note(self, head: FrameHead) -> None:
        """Learn what comes next to the client, before ``seen`` moves there."""
        if head.type in ("snapshot", "turn.started"):
            self.is_whole = True
        elif not self.is_next(head.position):
            self.is_whole = False


def newest_whole(frames: Sequence[str]) -> Sequence[str]:
    """Return the frames from which the newest attempt's text follows, as few as possible.

    That is from its last snapshot on, or from its beginning, or what is left of it.
    """
    heads = [FrameHead.model_validate_json(frame) for frame in frames]
    start = 0
    for index, head in enumerate(heads):
        is_first = index == 0 or head.attempt > heads[index - 1].attempt
        if is_first or head.type == "snapshot":
            start = index
    return frames[start:]
