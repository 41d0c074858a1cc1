"""Makes memory/search/background.json of background.tsv with the built-in model."""

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from agents.providers.embedding_builtin import IDENTITY, BuiltinEmbedder
from memory.index.scoring import Floats
from memory.index.texts import meant
from memory.search.background import MEANS, TEXTS, Vector, pack

NAME: Final = "Anna"
# The direction of a change is that which tells news from statements best, were both spread alike
# (Fisher's); so much is added to each dimension's spread, as there are fewer texts than dimensions.
RIDGE: Final = 0.002


def write() -> None:
    """Embed the texts and store their means."""
    embedder = BuiltinEmbedder()
    questions: dict[str, list[Vector]] = defaultdict(list)
    statements: dict[str, list[Vector]] = defaultdict(list)
    said: dict[str, list[Vector]] = defaultdict(list)
    # How things were, and what was said when they changed: as noted, and as somebody says it.
    changes: dict[str, list[tuple[Vector, Vector]]] = defaultdict(list)
    with TEXTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = row["text"]
            if row["kind"] == "question":
                questions[row["lang"]] += embedder.query(text).vectors
                continue
            noted = embedder.passages([text]).vectors
            as_said = embedder.passages([meant(text, author_name=NAME)]).vectors
            if row["kind"] == "statement":
                statements[row["lang"]] += noted
                said[row["lang"]] += as_said
            else:
                changes[row["kind"]] += zip(noted, as_said, strict=True)
    stored = {
        "identity": IDENTITY,
        "questions": {language: pack(_mean(given)) for language, given in questions.items()},
        "statements": pack(_mean([_mean(given) for given in statements.values()])),
        "said": pack(_mean([_mean(given) for given in said.values()])),
        **_change(changes["before"], changes["after"]),
    }
    MEANS.write_text(json.dumps(stored, indent=1) + "\n", encoding="ascii")


def _change(
    before: Sequence[tuple[Vector, Vector]], after: Sequence[tuple[Vector, Vector]]
) -> dict[str, str | float]:
    """Return the direction of a change, and where its middle is for noted and for said texts."""
    (noted_before, said_before), (noted_after, said_after) = (
        np.asarray(given).transpose(1, 0, 2) for given in (before, after)
    )
    spread = np.cov(
        np.vstack([said_before - said_before.mean(0), said_after - said_after.mean(0)]).T
    )
    step = said_after.mean(0) - said_before.mean(0)
    direction = np.linalg.solve(spread + RIDGE * np.eye(len(step)), step)
    # From the mean of the one to that of the other it goes from -1 to 1.
    direction *= 2 / (direction @ step)
    return {
        "change": pack(direction.tolist()),
        "change_noted": _middle(direction, noted_before, noted_after),
        "change_said": _middle(direction, said_before, said_after),
    }


def _middle(direction: Floats, before: Floats, after: Floats) -> float:
    return round(float((before.mean(0) + after.mean(0)) @ direction) / 2, 4)


def _mean(vectors: list[Vector]) -> list[float]:
    return [sum(values) / len(vectors) for values in zip(*vectors, strict=True)]
