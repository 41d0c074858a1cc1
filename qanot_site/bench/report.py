"""What a benchmark shows: steps and tables on standard error, figures as JSON or a table."""

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

# JSON as it will be printed.
Figures = dict[str, object]

# Rich takes 80 columns where there is no terminal: too few for our tables.
_WIDTH: Final = 120 if not sys.stderr.isatty() else None
console: Final = Console(stderr=True, highlight=False, width=_WIDTH)


class Bar(Protocol):
    """Progress of something that is counted."""

    def __call__(self, note: str = "") -> None:
        """Count one more."""


def say(line: str) -> None:
    """Show one line to whoever waits."""
    console.print(line, markup=False, soft_wrap=True)


@contextmanager
def bar(what: str, total: int) -> Iterator[Bar]:
    """Show how far it is: a bar on a terminal, elsewhere a line at the start and at each note."""
    if not console.is_terminal:
        say(f"{what} ({total}) …")

        def count_in_silence(note: str = "") -> None:
            if note:
                say(f"  {note}")

        yield count_in_silence
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task(what, total=total)

        def count(note: str = "") -> None:
            if note:
                progress.console.print(note, markup=False)
            progress.advance(task)

        yield count


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Lay rows out; every column but the first is a figure."""
    shown = Table(title=title, title_justify="left")
    for number, head in enumerate(heads):
        shown.add_column(head, justify="right" if number else "left")
    for row in rows:
        shown.add_row(*(str(cell) for cell in row))
    return shown


def show(shown: Table) -> None:
    """Show a table beside the figures, on standard error."""
    console.print(shown)


def deliver(figures: Figures, shown: Table, *, json_to: str | None) -> None:
    """Hand the figures over: as JSON to standard output (``-``) or a file, else as a table."""
    text = json.dumps(figures, indent=2)
    if json_to is None:
        Console(width=_WIDTH).print(shown)
    elif json_to == "-":
        show(shown)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    else:
        Path(json_to).write_text(f"{text}\n")
        show(shown)


def load() -> list[float]:
    """Return the machine's load averages of one and five minutes, as they are now."""
    return [round(figure, 2) for figure in os.getloadavg()[:2]]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all values does not exceed (nearest rank).

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("no values were measured")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread(values: Sequence[float], digits: int = 1) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    return {"p50": round(median(values), digits), "p95": round(percentile(values, 0.95), digits)}


def spread_or_none(values: Sequence[float], digits: int = 1) -> Mapping[str, float | None]:
    """Return the median and the 95th percentile; nulls where nothing was measured."""
    if not values:
        return {"p50": None, "p95": None}
    return {**spread(values, digits)}
