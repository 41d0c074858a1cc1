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
    "word": 0.036,
    "letters": 0.354,
    "near": 0.286,
    "thread": 0.767,
    "meaning": 0.642,
    "meaning_near": 0.398,
    "author": 2.083,
    "asks": -0.782,
    "answers": 0.471,
    "length": 0.663,
}
# Without one, or when it is too slow.
WORDS: Final[Weights] = {
    "word": 0.084,
    "letters": 0.423,
    "near": 0.514,
    "thread": 0.766,
    "author": 2.494,
    "asks": -0.93,
    "answers": 0.5,
    "length": 0.583,
}
# The vectors alone, as a measure.
MEANING: Final[Weights] = {"meaning": 1.0}

# The conversations on which they were fitted, by digest (`qanot_site.evaluation.conversations`):
# five of LoCoMo's ten. A figure measured on these with these weights says less.
FITTED_ON: Final = frozenset(
    {
        "fa410bd4138e7527",  # conv-26
        "c225211c1ff70526",  # conv-41
        "cd5549d650c04b17",  # conv-43
        "227b3254c8ddf81f",  # conv-47
        "4704ab3e7a7a332e",  # conv-49
    }
)
