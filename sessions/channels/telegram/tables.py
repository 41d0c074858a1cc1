"""Tables of Markdown: narrow ones stay aligned, wide ones become lists that a phone can show."""

from dataclasses import dataclass, field
from typing import Any, Final

# What a line of code holds on a phone.
COLUMNS: Final = 40
_GAP: Final = 3


@dataclass(slots=True)
class Table:
    """A table at the top level of a text.

    Args:
        start: Where it stands in the source's bytes.
        rows: Cells as they were written; the first row names the columns.
    """

    start: int
    end: int
    rows: list[list[str]] = field(default_factory=list)

    @property
    def is_wide(self) -> bool:
        """Return whether its lines would be broken on a phone."""
        count = max((len(row) for row in self.rows), default=0)
        widths = [max(len(row[n]) for row in self.rows if n < len(row)) for n in range(count)]
        return sum(widths) + _GAP * max(count - 1, 0) > COLUMNS

    def as_list(self) -> bytes:
        """Return Markdown that says the same, a block a row."""
        if len(self.rows) < 2:
            # Only a head.
            return (" · ".join(self.rows[0]) + "\n").encode() if self.rows else b""
        names, *rows = self.rows
        return ("\n\n".join(_block(names, row) for row in rows) + "\n").encode()


class Reader:
    """Gathers a document's tables from the parser's events."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._depth = 0
        self._table: Table | None = None
        self._places: list[tuple[int, int]] = []

    def has(self, at: int) -> bool:
        """Return whether a place of the source lies in a table."""
        return any(start <= at < end for start, end in self._places)

    def read(self, event: Any, where: dict[str, int]) -> Table | None:
        """Take an event; return the table that ends with it, if it stands at the top level.

        Any: the parser's JSON-like values.
        """
        if not isinstance(event, dict):
            return None
        if "Start" in event:
            self._begin(event["Start"], where)
            self._depth += 1
        elif "End" in event:
            self._depth -= 1
            if event["End"] == "Table" and self._table is not None:
                table, self._table = self._table, None
                return table if self._depth == 0 else None
        return None

    def _begin(self, tag: Any, where: dict[str, int]) -> None:
        if isinstance(tag, dict) and "Table" in tag:
            self._table = Table(where["start"], where["end"])
            self._places.append((where["start"], where["end"]))
        elif self._table is not None and tag in ("TableHead", "TableRow"):
            self._table.rows.append([])
        elif self._table is not None and tag == "TableCell":
            cell = self._source[where["start"] : where["end"]].decode()
            self._table.rows[-1].append(cell.strip().strip("|").strip().replace("\\|", "|"))


def _block(names: list[str], row: list[str]) -> str:
    title, *values = row or [""]
    lines = [_bold(title)] if title else []
    for name, value in zip(names[1:], values, strict=False):
        if value:
            lines.append(f"- {name}: {value}" if name else f"- {value}")
    return "\n".join(lines)


def _bold(cell: str) -> str:
    return cell if any(sign in cell for sign in "*`[_") else f"**{cell}**"
