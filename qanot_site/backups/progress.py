"""How far a long command is: a bar on a terminal, elsewhere a line now and then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_LINE_EVERY_S: Final = 10.0


class Count(Protocol):
    """Takes how many are done."""

    def __call__(self, done: int, note: str = "") -> None: ...


class Reporter:
    """Tells one person about steps that take long."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)

    def say(self, line: str) -> None:
        """Show one line."""
        self._console.print(line, markup=False, soft_wrap=True)

    @contextmanager
    def step(self, what: str, total: int | None = None) -> Iterator[Count]:
        """Show one step.

        Args:
            total: How many there are to do; None where only the end is known.
        """
        if not self._console.is_terminal:
            yield self._lines(what, total)
            return
        columns = [TextColumn("{task.description}"), BarColumn()]
        if total is not None:
            columns.append(MofNCompleteColumn())
        with Progress(
            *columns, TextColumn("{task.fields[note]}"), TimeElapsedColumn(), console=self._console
        ) as progress:
            task = progress.add_task(what, total=total, note="")
            yield lambda done, note="": progress.update(task, completed=done, note=note)
            if total is None:
                # A bar that only moves to and fro stands full at the end.
                progress.update(task, total=1, completed=1)

    def _lines(self, what: str, total: int | None) -> Count:
        of_all = "" if total is None else f" ({total})"
        self.say(f"{what}{of_all} …")
        last = time.monotonic()

        def count(done: int, note: str = "") -> None:
            nonlocal last
            if time.monotonic() - last >= _LINE_EVERY_S:
                last = time.monotonic()
                self.say(f"  {done} of {total}" if total is not None else f"  {note}")

        return count


class Silent(Reporter):
    """Tells nobody: for a dump that something else waits for."""

    def say(self, line: str) -> None:
        """Show nothing."""

    @contextmanager
    def step(self, what: str, total: int | None = None) -> Iterator[Count]:
        """Show nothing."""
        yield lambda done, note="": None


def megabytes(size_bytes: int) -> str:
    """Return a size for people."""
    return f"{size_bytes / 1e6:,.1f} MB"
