"""Precision and recall over labelled messages, micro-averaged over (message, category)."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.detector.hits import Hit
from memory.detector.scanning import scan

_COLUMNS = ("lang", "message", "stored")
_BETWEEN_VALUES = " ; "


class BadList(ValueError):
    """The file is no list of labelled messages."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A message and what is to be kept of it.

    Args:
        values: The values that the hits have to hold; none where the list has no such column.
        is_negated: Whether a hit with such a value has to say that something is not so.
    """

    language: str
    message: str
    stored: frozenset[str]
    values: Sequence[str] = ()
    is_negated: bool = False


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, stored: Iterable[str], found: Iterable[str]) -> None:
        stored, found = set(stored), set(found)
        self.counts["right"] += len(stored & found)
        self.counts["wrong"] += len(found - stored)
        self.counts["missed"] += len(stored - found)
        self.counts["n"] += 1

    def figures(self) -> dict[str, float]:
        right, wrong, missed = (self.counts[name] for name in ("right", "wrong", "missed"))
        return {
            "precision": round(right / (right + wrong), 4) if right + wrong else 1.0,
            "recall": round(right / (right + missed), 4) if right + missed else 1.0,
            "n": self.counts["n"],
        }


def read_list(path: Path) -> list[Labelled]:
    r"""Read a tab separated list with a heading; ``\n`` in a message is a line break.

    Raises:
        BadList: A column is missing, or the file is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except UnicodeDecodeError as error:
        raise BadList(f"{path.name} is not UTF-8") from error
    if missing := [column for column in _COLUMNS if not rows or column not in rows[0]]:
        raise BadList(f"{path.name} has no column {missing[0]}")
    return [_labelled(row) for row in rows]


def _labelled(row: dict[str, str | None]) -> Labelled:
    stored = (row["stored"] or "").split(",")
    value = (row.get("value") or "").strip()
    return Labelled(
        language=row["lang"] or "",
        message=(row["message"] or "").replace("\\n", "\n"),
        stored=frozenset(name.strip() for name in stored if name.strip()),
        values=value.split(_BETWEEN_VALUES) if value else (),
        is_negated=(row.get("negated") or "").strip().lower() in ("yes", "true", "1"),
    )


def evaluate(rows: Sequence[Labelled]) -> dict[str, Any]:
    """Return the figures over a list, as JSON has them.

    Returns:
        ``overall``, ``languages`` and ``categories`` with precision, recall and n (messages; for a
        category those that have it or were given it), ``misses`` with each message that was read
        otherwise, and ``values`` where the list has values.
    """
    overall = _Tally()
    languages: dict[str, _Tally] = defaultdict(_Tally)
    categories: dict[str, _Tally] = defaultdict(_Tally)
    misses = []
    values: Counter[str] = Counter()
    for row in rows:
        hits = scan(row.message)
        found = {hit.category for hit in hits}
        overall.add(row.stored, found)
        languages[row.language].add(row.stored, found)
        for category in row.stored | found:
            categories[category].add(row.stored & {category}, found & {category})
        if found != row.stored:
            misses.append(
                {
                    "lang": row.language,
                    "message": row.message,
                    "stored": sorted(row.stored),
                    "found": sorted(found),
                }
            )
        if row.values:
            values["n"] += 1
            values["right"] += _has_values(row, hits)
    figures: dict[str, Any] = {
        "overall": overall.figures(),
        "languages": {name: tally.figures() for name, tally in sorted(languages.items())},
        "categories": {name: tally.figures() for name, tally in sorted(categories.items())},
        "misses": misses,
    }
    if values["n"]:
        figures["values"] = {"right": round(values["right"] / values["n"], 4), "n": values["n"]}
    return figures


def _has_values(row: Labelled, hits: Sequence[Hit]) -> bool:
    """Return whether every value was found, and the first with the right negation."""
    negated = {hit.value.casefold(): hit.is_negated for hit in hits}
    wanted = [value.casefold() for value in row.values]
    if any(value not in negated for value in wanted):
        return False
    return any(
        hit.is_negated == row.is_negated for hit in hits if hit.value.casefold() == wanted[0]
    )
