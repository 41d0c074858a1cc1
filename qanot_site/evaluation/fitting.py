"""Fits the weights of a linear ranking: the evidence of a question shall win over the others.

A softmax over each question's candidates, its cross entropy minimised by full gradients; a little
decay keeps features that say the same from growing against each other. Deterministic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

STEPS: Final = 400
RATE: Final = 0.05
DECAY: Final = 1e-3

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: a row of features a candidate, and which of them hold its evidence."""

    features: Sequence[Sequence[float]]
    is_evidence: Sequence[bool]


def fit(examples: Sequence[Example], names: Sequence[str]) -> Mapping[str, float]:
    """Return the weight of each feature.

    Questions without evidence among their candidates teach nothing and are left out.
    """
    used = [example for example in examples if any(example.is_evidence)]
    rows: Numbers = np.concatenate([np.asarray(one.features, dtype=float) for one in used])
    goal: Numbers = np.concatenate([_shares(one.is_evidence) for one in used])
    sizes = [len(one.is_evidence) for one in used]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(used)), sizes)
    weights: Numbers = np.zeros(len(names))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = rows @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        chosen = raised / np.add.reduceat(raised, starts)[owner]
        slope = rows.T @ (chosen - goal) / len(used) + DECAY * weights
        # Adam: features have different spreads.
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        weights = weights - RATE * (mean / (1 - 0.9**step)) / (
            np.sqrt(square / (1 - 0.99**step)) + 1e-8
        )
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def _shares(is_evidence: Sequence[bool]) -> Numbers:
    marked: Numbers = np.asarray(is_evidence, dtype=float)
    shares: Numbers = marked / marked.sum()
    return shares
