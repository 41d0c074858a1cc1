"""Whether anything that was found has to do with the query at all; plain Python.

Vectors of this kind lie close together whatever they mean, so a cosine says nothing by itself.
What counts is how much nearer a passage is to this query than to ordinary questions of the same
language (`memory.search.background`), together with how many of the query's words it has. The
bounds are calibrated on tests/memory/data/absence.tsv (docs/evaluation.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# A word of the query that a passage has counts as much as so much nearness.
PER_COVERAGE: Final = 0.1
# From here on a passage has to do with a query of its own language, and of another one: between
# languages vectors tell less, and a fact must still be found by a question in another language.
SAME_LANGUAGE: Final = 0.114
OTHER_LANGUAGE: Final = 0.035
# Words alone: this share of the query's words.
WORDS_ONLY: Final = 0.3
# Of a model whose vectors were not calibrated: so far from the mean of the candidates to the
# query itself.
UNKNOWN_MODEL: Final = 0.2
# What nobody asked for is shown only where it fits by itself: a passage of the query's language
# that is relevant at all, one of another language that is clearly so, and neither where others
# have much more to do with the query.
FITS: Final = 1.0
FITS_OTHER_LANGUAGE: Final = 1.75
FITS_OF_BEST: Final = 0.4


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one passage.

    Args:
        coverage: The share of the query's words that it has, 0 to 1.
        meaning: How much nearer it is than to ordinary questions; None without vectors.
    """

    coverage: float
    meaning: float | None = None
    is_same_language: bool = True
    is_exact: bool = False
    is_calibrated: bool = True

    @property
    def relevance(self) -> float:
        """Return how strong it is, 1 being just enough."""
        if self.is_exact:
            return 9.0
        by_words = self.coverage / WORDS_ONLY
        if self.meaning is None:
            return by_words
        if not self.is_calibrated:
            return max(self.meaning / UNKNOWN_MODEL, by_words / 2)
        bound = SAME_LANGUAGE if self.is_same_language else OTHER_LANGUAGE
        return (self.meaning + PER_COVERAGE * self.coverage) / bound

    @property
    def needed(self) -> float:
        """Return how strong it must be that the passage fits by itself."""
        is_other = self.meaning is not None and self.is_calibrated and not self.is_same_language
        return FITS_OTHER_LANGUAGE if is_other else FITS


def fitting(evidence: Mapping[int, Evidence]) -> set[int]:
    """Return which of some passages have to do with the query, each judged by itself."""
    best: dict[float, float] = {}
    for one in evidence.values():
        if not one.is_exact:
            # Those of another language are measured by another bound.
            best[one.needed] = max(one.relevance, best.get(one.needed, 0.0))
    return {
        id_
        for id_, one in evidence.items()
        if one.is_exact
        or one.relevance >= max(one.needed, FITS_OF_BEST * best.get(one.needed, 0.0))
    }
