"""What an uploaded file says, and where in it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A stretch that is cited by itself: a page, a sheet, or the whole file.

    Args:
        label: ``page=3``, or a sheet's name; empty for the whole.
        text: Lines are counted in it from 1 on.
        headings: Where titles stand, by line, in order.
    """

    model_config = ConfigDict(frozen=True)

    label: str = ""
    text: str
    headings: tuple[tuple[int, str], ...] = ()

    def heading_at(self, line: int) -> str:
        """Return the title under which a line stands; empty before the first."""
        found = ""
        for at, title in self.headings:
            if at > line:
                break
            found = title
        return found


class Parts(BaseModel):
    """All parts of a file, in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    parts: tuple[Part, ...]

    @property
    def characters(self) -> int:
        """Return how long all texts are."""
        return sum(len(part.text) for part in self.parts)
