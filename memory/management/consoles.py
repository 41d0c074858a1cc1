"""Where commands draw bars and tables."""

from typing import IO, Final, cast

from django.core.management.base import OutputWrapper
from rich.console import Console

# Where no terminal says how wide it is.
COLUMNS: Final = 140


def console(stdout: OutputWrapper) -> Console:
    """Return a console that writes to a command's output; plain lines where it is no terminal."""
    # Django's wrapper writes as a file does, and is none for the checker.
    file = cast(IO[str], stdout)
    return Console(file=file, width=None if stdout.isatty() else COLUMNS, highlight=False)
