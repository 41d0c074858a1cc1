"""Makes memory/search/background.json of background.tsv with the built-in model."""

import csv
import json
from collections import defaultdict

from agents.providers.embedding_builtin import IDENTITY, BuiltinEmbedder
from memory.index.texts import meant
from memory.search.background import MEANS, TEXTS, Vector, pack

NAME = "Anna"


def write() -> None:
    """Embed the texts and store their means."""
    embedder = BuiltinEmbedder()
    questions: dict[str, list[Vector]] = defaultdict(list)
    statements: dict[str, list[Vector]] = defaultdict(list)
    said: dict[str, list[Vector]] = defaultdict(list)
    with TEXTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = row["text"]
            if row["kind"] == "question":
                questions[row["lang"]] += embedder.query(text).vectors
            else:
                statements[row["lang"]] += embedder.passages([text]).vectors
                said[row["lang"]] += embedder.passages([meant(text, author_name=NAME)]).vectors
    stored = {
        "identity": IDENTITY,
        "questions": {language: pack(_mean(given)) for language, given in questions.items()},
        "statements": pack(_mean([_mean(given) for given in statements.values()])),
        "said": pack(_mean([_mean(given) for given in said.values()])),
    }
    MEANS.write_text(json.dumps(stored, indent=1) + "\n", encoding="ascii")


def _mean(vectors: list[Vector]) -> list[float]:
    return [sum(values) / len(vectors) for values in zip(*vectors, strict=True)]
