"""Measures facts and questions in several languages; the columns of the file say which set it is.

- ``pair, lang, fact, question``: every question against the facts of one language, its own or
  another one;
- ``pair, lang, old, new, question``: a fact changed, which one is true now?
- ``pair, lang, said, asked, absent``: some questions have an answer, others have none.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Final

from django.utils import timezone
from rich.table import Table

from agents.core.viewer import Viewer
from memory.models import Passage
from memory.search import Found, search
from qanot_site.bench import report
from qanot_site.evaluation.scratch import Said, Scratch, index_all

Row = Mapping[str, str]
Rows = Sequence[Row]
BEGIN: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SPEAKER: Final = "Anna"
CHANGED: Final = ("new_first", "new_above_old", "old_marked")


def measure(path: Path) -> tuple[report.Figures, Table]:
    """Measure one file.

    Raises:
        ValueError: It has other columns.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        columns = set(reader.fieldnames or ())
        rows = list(reader)
    for needed, measured in SETS.items():
        if {"lang", *needed} <= columns and rows:
            return measured(rows)
    raise ValueError("it has none of the known sets of columns")


def _by_language(rows: Rows) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["lang"]].append(row)
    return dict(found)


def _best(viewer: Viewer, question: str) -> list[Found]:
    return list(search(viewer, question, now=timezone.now()).found)


def _facts(rows: Rows) -> tuple[report.Figures, Table]:
    """Ask each question of each language against the facts of one language."""
    languages = _by_language(rows)
    scratch = Scratch()
    viewers = {}
    for language, own in languages.items():
        viewers[language] = scratch.person()
        facts = [
            Said(f"{language}:{row['pair']}", row["fact"], f"facts of {language}", _at(number))
            for number, row in enumerate(own)
        ]
        scratch.tell(viewers[language], facts, Passage.Kind.FACT)
    index_all("facts")
    pairs: dict[str, dict[str, float | int]] = {}
    asked = len(languages) ** 2
    with report.bar("Asking in pairs of languages", asked) as count:
        for told, viewer in viewers.items():
            for language, own in languages.items():
                first = [_best(viewer, row["question"])[:1] for row in own]
                right = [
                    bool(hits) and hits[0].source == f"{told}:{row['pair']}"
                    for row, hits in zip(own, first, strict=True)
                ]
                pairs[f"{told}>{language}"] = {"top1": round(mean(right), 4), "n": len(right)}
                count()
    lowest = min(figures["top1"] for figures in pairs.values())
    shown = report.table(
        "The fact asked for is found first (language of the fact > of the question)",
        ("", *languages),
        [
            (told, *(f"{pairs[f'{told}>{language}']['top1']:.2f}" for language in languages))
            for told in languages
        ],
    )
    return {"pairs": pairs, "min": lowest}, shown


def _updates(rows: Rows) -> tuple[report.Figures, Table]:
    """Ask what is true now, where each thing was told twice, the second time otherwise."""
    languages = _by_language(rows)
    scratch = Scratch()
    viewers = {}
    for language, own in languages.items():
        viewers[language] = scratch.person()
        said = [
            Said(
                f"{which}:{row['pair']}",
                row[which],
                f"{language}:{which}:{row['pair']}",
                _at(number + (len(own) if which == "new" else 0)),
                speaker=SPEAKER,
            )
            for which in ("old", "new")
            for number, row in enumerate(own)
        ]
        scratch.tell(viewers[language], said, Passage.Kind.EXCHANGE)
    index_all("statements")
    figures: dict[str, dict[str, float | int]] = {}
    with report.bar("Asking what is true now", len(rows)) as count:
        for language, own in languages.items():
            right, above, marked = [], [], []
            for row in own:
                found = _best(viewers[language], row["question"])
                sources = [hit.source for hit in found]
                new, old = f"new:{row['pair']}", f"old:{row['pair']}"
                right.append(sources[:1] == [new])
                above.append(new in sources and old not in sources[: sources.index(new)])
                marked.append(
                    old not in sources or any(hit.source == old and hit.newer for hit in found)
                )
                count(f"{language} {row['question']} → {sources[:2]}" if not right[-1] else "")
            figures[language] = {
                "new_first": round(mean(right), 4),
                "new_above_old": round(mean(above), 4),
                "old_marked": round(mean(marked), 4),
                "n": len(right),
            }
    total = {name: round(mean(values[name] for values in figures.values()), 4) for name in CHANGED}
    return {"languages": figures, **total, "n": len(rows)}, _languages(
        "What is true now", (*CHANGED, "n"), figures
    )


def _absence(rows: Rows) -> tuple[report.Figures, Table]:
    """Ask for what was said, which must be found first, and for what was not."""
    languages = _by_language(rows)
    scratch = Scratch()
    viewers = {}
    for language, own in languages.items():
        viewers[language] = scratch.person()
        said = [
            Said(
                f"said:{row['pair']}",
                row["said"],
                f"{language}:{row['pair']}",
                _at(number),
                speaker=SPEAKER,
            )
            for number, row in enumerate(own)
        ]
        scratch.tell(viewers[language], said, Passage.Kind.EXCHANGE)
    index_all("statements")
    figures: dict[str, dict[str, float | int]] = {}
    with report.bar("Asking for what was said and what was not", 2 * len(rows)) as count:
        for language, own in languages.items():
            answers: dict[str, list[bool]] = defaultdict(list)
            for row in own:
                found = _best(viewers[language], row["asked"])
                answers["found"].append(bool(found) and found[0].source == f"said:{row['pair']}")
                count("" if answers["found"][-1] else f"{language} missed: {row['asked']}")
                nothing = not _best(viewers[language], row["absent"])
                answers["nothing"].append(nothing)
                count("" if nothing else f"{language} not nothing: {row['absent']}")
            figures[language] = {
                **{name: round(mean(given), 4) for name, given in sorted(answers.items())},
                "n": len(own),
            }
    heads = ("nothing", "found")
    total = {name: round(mean(values[name] for values in figures.values()), 4) for name in heads}
    return {"languages": figures, **total, "n": len(rows)}, _languages(
        "Nothing where nothing was said", (*heads, "n"), figures
    )


def _languages(
    title: str, heads: Sequence[str], figures: Mapping[str, Mapping[str, object]]
) -> Table:
    rows = [(language, *(values[head] for head in heads)) for language, values in figures.items()]
    return report.table(title, ("", *heads), rows)


def _at(number: int) -> datetime:
    return BEGIN + timedelta(hours=number)


Measure = Callable[[Rows], tuple[report.Figures, Table]]
SETS: Final[Mapping[tuple[str, ...], Measure]] = {
    ("fact", "question"): _facts,
    ("old", "new", "question"): _updates,
    ("said", "asked", "absent"): _absence,
}
