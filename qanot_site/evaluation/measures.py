"""What a ranking of passages is worth; plain Python."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

DEPTHS: Final = (5, 10, 20)


@dataclass(slots=True)
class Scores:
    """Means over questions.

    Args:
        recall: By depth, which share of a question's evidence is among so many.
    """

    recall: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})
    mrr: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def add(
        self, ranked: Sequence[str], evidence: frozenset[str], *, words: int, ms: float
    ) -> None:
        """Count one question.

        Args:
            ranked: Ids of what was found, the best first; one may stand there twice.
            words: In the first ten.
        """
        gains: list[int] = []
        seen: set[str] = set()
        for place in ranked:
            gains.append(int(place in evidence and place not in seen))
            seen.add(place)
        for depth in DEPTHS:
            self.recall[depth].append(sum(gains[:depth]) / len(evidence))
        first = gains.index(1) + 1 if 1 in gains else 0
        self.mrr.append(1 / first if first else 0.0)
        gained = sum(gain / math.log2(at + 2) for at, gain in enumerate(gains[:10]))
        best = sum(1 / math.log2(at + 2) for at in range(min(10, len(evidence))))
        self.ndcg.append(gained / best)
        self.words.append(float(words))
        self.ms.append(ms)

    def figures(self) -> dict[str, float | int]:
        """Return the means, as they are published."""
        return {
            **{f"recall@{depth}": _mean(self.recall[depth]) for depth in DEPTHS},
            "mrr": _mean(self.mrr),
            "ndcg@10": _mean(self.ndcg),
            "words": round(_mean(self.words)),
            "ms": round(_mean(self.ms), 1),
            "n": len(self.mrr),
        }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
