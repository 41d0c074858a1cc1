"""The text of a file while it is read, with a bound."""

from typing import Final

from memory.reading.errors import Unreadable

# Of a text: some thousand pages. A longer one is better cut by who knows what it is about.
MOST_CHARACTERS: Final = 5_000_000
HEADING_CHARACTERS: Final = 80


class Collector:
    """Collects the parts of one file, line by line.

    Raises:
        Unreadable: The text is longer than it may be.
    """

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._left = most
        self._lines: list[str] = []
        self._headings: list[tuple[int, str]] = []
        self._label = ""
        self.parts: list[dict[str, object]] = []

    def begin(self, label: str) -> None:
        """Begin a page or a sheet."""
        self._end()
        self._label = " ".join(label.split())[:HEADING_CHARACTERS]

    def line(self, text: str) -> None:
        """Add a line, or several that stand in one text."""
        # Halves of surrogate pairs and NUL: files have them, no database takes them.
        text = text.replace("\x00", "").encode("utf-8", "replace").decode()
        self._left -= len(text) + 1
        if self._left < 0:
            raise Unreadable("too_long")
        self._lines.extend(text.split("\n"))

    def heading(self, title: str) -> None:
        """Say that the next line is a title."""
        title = " ".join(title.split())[:HEADING_CHARACTERS]
        if title:
            self._headings.append((len(self._lines) + 1, title))

    def finish(self) -> dict[str, object]:
        """Return everything, as `memory.reading.parts.Parts` reads it.

        Raises:
            Unreadable: There is no text at all, as in a scanned paper.
        """
        self._end()
        if not self.parts:
            raise Unreadable("no_text")
        return {"v": 1, "parts": self.parts}

    def _end(self) -> None:
        text = "\n".join(self._lines).rstrip()
        if text.strip():
            self.parts.append({"label": self._label, "text": text, "headings": self._headings})
        self._lines, self._headings, self._label = [], [], ""
