"""The checks, and what they find."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, overload

import structlog
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, override

_log = structlog.get_logger(__name__)

# `warning`: something does not work as people expect. `note`: worth a look.
Level = Literal["warning", "note"]
# `content`: what people set up in the admin. `deployment`: what it runs on.
About = Literal["content", "deployment"]

# A check that takes longer is itself a finding.
LIMIT_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. No field ever holds a person's text or a key.

    Args:
        code: Names the kind, such as ``documents.too_long``; stays the same for ever.
        subject: What it is about, in few words.
        text: What is wrong, as a sentence.
        fix: What to do about it, as a sentence.
    """

    code: str
    level: Level
    subject: str
    text: str
    fix: str


Check = Callable[[], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class _Registered:
    run: Check
    about: About
    needs_database: bool


_checks: list[_Registered] = []


@overload
def check(function: Check) -> Check: ...
@overload
def check(*, about: About, needs_database: bool = True) -> Callable[[Check], Check]: ...


def check(
    function: Check | None = None, *, about: About = "content", needs_database: bool = True
) -> Check | Callable[[Check], Check]:
    """Register a check, which yields what it finds.

    Args:
        about: What it looks at.
        needs_database: False for one that asks the database nothing. It runs in a thread of its
            own, so that a disk or server that hangs does not hold up the others.
    """

    def register(function: Check) -> Check:
        _checks.append(_Registered(function, about, needs_database))
        return function

    return register if function is None else register(function)


def figures(**numbers: int) -> dict[str, str]:
    """Return numbers as people read them, to be put into a text by name."""
    return {name: number_format(value, force_grouping=True) for name, value in numbers.items()}


def find_all(about: About | None = None) -> list[Finding]:
    """Return what all checks find, warnings first.

    Each has its own time limit and its own failure, and both are findings.
    """
    wanted = [item for item in _checks if about in (None, item.about)]
    found = [
        finding
        for item in wanted
        if not item.needs_database
        for finding in _guarded(item, _run_apart)
    ]
    absent = _database_fault()
    if absent is not None:
        found.append(absent)
    else:
        found += [
            finding
            for item in wanted
            if item.needs_database
            for finding in _guarded(item, _run_in_database)
        ]
    return sorted(found, key=lambda finding: finding.level != "warning")


def _database_fault() -> Finding | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError as error:
        return Finding(
            code="database.unreachable",
            level="warning",
            subject=gettext("The database"),
            # Never the driver's own words: they may hold the address with its password.
            text=gettext("It does not answer (%(error)s); nothing else about it can be said.")
            % {"error": type(error).__name__},
            fix=gettext("Start PostgreSQL, and compare DATABASE_URL with where it listens."),
        )
    return None


def _guarded(item: _Registered, run: Callable[[Check], list[Finding]]) -> list[Finding]:
    try:
        return run(item.run)
    except TimeoutError:
        return [_unfinished(item.run, "check.slow", gettext("It took too long and was given up."))]
    except Exception as error:
        _log.exception("check.failed", check=item.run.__name__)
        said = gettext("It failed: %(error)s.") % {"error": type(error).__name__}
        return [_unfinished(item.run, "check.failed", said)]


def _unfinished(run: Check, code: str, text: str) -> Finding:
    return Finding(
        code=code,
        level="warning",
        subject=gettext("The check “%(name)s”") % {"name": run.__name__},
        text=text,
        fix=gettext("Look into the log; other findings are not touched by it."),
    )


def _run_in_database(run: Check) -> list[Finding]:
    """Run a check whose statements end within the limit, and which ends soon after it."""
    deadline = time.monotonic() + LIMIT_S
    found = []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [_limit_ms()])
        for finding in run():
            found.append(finding)
            if time.monotonic() > deadline:
                raise TimeoutError
        with connection.cursor() as cursor:
            # A savepoint keeps what was set inside it.
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")
    return found


def _limit_ms() -> str:
    return str(round(LIMIT_S * 1000))


def _run_apart(run: Check) -> list[Finding]:
    """Run a check in a thread; one that hangs is left behind."""
    found: list[Finding] = []
    failed: list[Exception] = []
    language = get_language()

    def work() -> None:
        try:
            with override(language):
                found.extend(run())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=work, name=f"check {run.__name__}", daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    if thread.is_alive():
        raise TimeoutError
    if failed:
        raise failed[0]
    return found
