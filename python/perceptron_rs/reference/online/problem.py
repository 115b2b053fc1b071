"""What is to be learnt, laid out: one decision a plane, or one of all planes together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.arith import steps
from perceptron_rs.reference.rows import Noise, Pending, Visit

__all__ = ["Decision", "decisions"]


@dataclass(frozen=True)
class Decision:
    """What judges an example and stops on its own."""

    planes: slice
    weight: NDArray[np.float64]  # (n,): weight of each example; 0 leaves it out
    visit: Visit  # its order and activations are those of an epoch, set there


def decisions(
    labels: NDArray[np.uint32],
    sample_weight: NDArray[np.float64] | None,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    fit_intercept: bool,
    margin: float,
    added_feature: float,
    max_mistakes_per_example: int | None,
    joint: str | None,
    penalty: tuple[float, float] | None,
    ages: NDArray[np.int64] | None,
) -> list[Decision]:
    """Lay out a fit; the arguments are those of ``fit``, and ``ages`` from its state."""
    found = []
    for k in range(1 if joint else len(positive)):
        if joint:
            y, own_weight = np.ones(len(labels)), class_weight[labels, 1]
        else:
            y = np.where(labels == positive[k], 1.0, -1.0)
            own_weight = np.where(y > 0, class_weight[k, 1], class_weight[k, 0])
        s, c = steps(eta0, sample_weight, own_weight, y)
        noise = Noise(len(labels), added_feature, max_mistakes_per_example)
        pending = None if penalty is None or ages is None else Pending(ages[k], eta0, *penalty)
        order, activations = np.arange(0), np.zeros((0, 1))
        visit = Visit(k, order, labels, y, c, tie, fit_intercept, margin, joint, noise, activations, pending)
        found.append(Decision(slice(None) if joint else slice(k, k + 1), s, visit))
    return found
