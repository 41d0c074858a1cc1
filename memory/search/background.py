"""What ordinary questions of a language look like to the built-in model.

Its vectors have much in common: that they are questions, and in which language. Taken away from a
query, what is left is what the query is about, so that a fact is found by a question in another
language, and being near begins to mean something. News have something in common as well, by which
they are told from statements of how things are. All of it is made by
``manage.py evaluate_recall --background`` of background.tsv, beside this file.
"""

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from memory.index.languages import Language
from memory.index.scoring import Floats

FOLDER: Final = Path(__file__).parent
TEXTS: Final = FOLDER / "background.tsv"
MEANS: Final = FOLDER / "background.json"

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class Background:
    """The means of one model.

    Args:
        questions: The mean of ordinary questions, by language.
        statements: The mean of ordinary statements in all languages.
        said: The same where the vector names who said it.
        change: What news have and statements of how things are have not: along it they are 1
            above and 1 below the middle.
        change_noted: The middle of both along it.
        change_said: The same where the vector names who said it.
        directions: The questions' means, of length one.
    """

    questions: Mapping[Language, Floats]
    statements: Floats
    said: Floats
    change: Floats
    change_noted: float
    change_said: float
    directions: Mapping[Language, Floats]

    def about(self, query: Vector) -> tuple[list[float], Language]:
        """Return what a query is about, as a vector of length one, and its language.

        The language is the one whose ordinary questions are nearest.
        """
        sought = np.asarray(query)
        language = max(self.questions, key=lambda one: float(sought @ self.directions[one]))
        return _of_length_one(sought - self.questions[language]).tolist(), language


@cache
def of(identity: str) -> Background | None:
    """Return the background of a model; None for one that nobody measured."""
    stored = json.loads(MEANS.read_text(encoding="ascii"))
    if stored["identity"] != identity:
        return None
    questions = {language: unpack(text) for language, text in stored["questions"].items()}
    return Background(
        questions=questions,
        statements=unpack(stored["statements"]),
        said=unpack(stored["said"]),
        change=unpack(stored["change"]),
        change_noted=stored["change_noted"],
        change_said=stored["change_said"],
        directions={language: _of_length_one(mean) for language, mean in questions.items()},
    )


def pack(vector: Vector) -> str:
    """Write a vector as text, in half precision."""
    return base64.b64encode(np.asarray(vector, "<f2").tobytes()).decode()


def unpack(text: str) -> Floats:
    """Read a vector that ``pack`` wrote."""
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64)


def _of_length_one(vector: Floats) -> Floats:
    return vector / (math.sqrt(float(vector @ vector)) or 1.0)
