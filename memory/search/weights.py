"""How much each feature of a passage counts: fitted once, then frozen.

The weights are made by ``manage.py evaluate_memory PATH --fit`` (docs/evaluation.md) and pasted
here: a linear sum, fitted so that the passages which hold the evidence of a question win over the
other candidates (softmax over each question's candidates). Features of the first group are
z-scores over the candidates of one query; the others are what they are.

===============  ================================================================================
word             BM25 of the query's stems in the passage
letters          BM25 of the rarest groups of three letters: endings, typing errors, identifiers
near             BM25 of the stems in the passage and two neighbours on each side
thread           BM25 of the stems in the whole conversation or document
meaning          how much nearer the passage is to this query than to any question of its language
meaning_near     the same of two neighbours on each side, the nearer one counting double
author           1 where the query names who said it
asks             1 where the passage ends with a question mark: it asks, it does not tell
answers          1 where the passage before it does: it is probably the answer
length           logarithm of its number of words that say something, up to 3
===============  ================================================================================
"""

from collections.abc import Mapping
from typing import Final

SCALED: Final = ("word", "letters", "near", "thread", "meaning", "meaning_near")
PLAIN: Final = ("author", "asks", "answers", "length")
OF_MEANING: Final = frozenset({"meaning", "meaning_near"})

Weights = Mapping[str, float]

# With an embedder.
ALL: Final[Weights] = {
    "word": 0.039,
    "letters": 0.344,
    "near": 0.285,
    "thread": 0.759,
    "meaning": 0.649,
    "meaning_near": 0.396,
    "author": 2.08,
    "asks": -0.761,
    "answers": 0.462,
    "length": 0.663,
}
# Without one, or when it is too slow.
WORDS: Final[Weights] = {
    "word": 0.087,
    "letters": 0.417,
    "near": 0.513,
    "thread": 0.769,
    "author": 2.493,
    "asks": -0.912,
    "answers": 0.494,
    "length": 1.172,
}
# The vectors alone, as a measure.
MEANING: Final[Weights] = {"meaning": 1.0}

# The conversations on which they were fitted: a figure measured on these says less.
FITTED_ON: Final = frozenset[str]()
