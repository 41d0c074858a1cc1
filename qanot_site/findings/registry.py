"""The checks, and what they find."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from django.utils.formats import number_format

# `warning`: something does not work as people expect. `note`: worth a look.
Level = Literal["warning", "note"]


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
_checks: list[Check] = []


def check(function: Check) -> Check:
    """Register a check; it reads the database and yields what it finds."""
    _checks.append(function)
    return function


def figures(**numbers: int) -> dict[str, str]:
    """Return numbers as people read them, to be put into a text by name."""
    return {name: number_format(value, force_grouping=True) for name, value in numbers.items()}


def find_all() -> list[Finding]:
    """Return what all checks find, warnings first."""
    found = [finding for run in _checks for finding in run()]
    return sorted(found, key=lambda finding: finding.level != "warning")
