"""Run a Django command; a missing or unreachable server is one sentence, not a traceback."""

import sys
from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError


def execute(arguments: Sequence[str]) -> None:
    """Like Django's own, for people."""
    try:
        execute_from_command_line(list(arguments))
    except ImproperlyConfigured:
        if settings.DATABASE_URL:
            raise
        sys.exit("This command needs the database: run `python3 manage.py up` or set DATABASE_URL.")
    except OperationalError as error:
        sys.exit(f"The database does not answer: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """The first line of an error's text: drivers add hints on further lines."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
