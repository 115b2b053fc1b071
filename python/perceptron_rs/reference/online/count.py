"""The errors that a weight vector makes on all examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.online.problem import Decision
from perceptron_rs.reference.rows import Rows, is_mistake

__all__ = ["count"]

BLOCK = 1024


def count(rows: Rows, decision: Decision, w: NDArray[Any], b: float) -> float:
    """Weights of the examples that ``(w, b)`` gets wrong, added in row order.

    What is wrong is what would be a mistake in training. All are counted, and nothing is stopped
    early: whether a vector has fewer errors than another does not depend on it.
    """
    visited = np.flatnonzero(decision.weight)
    wrong = [np.arange(0)]
    for start in range(0, len(visited), BLOCK):
        block = visited[start : start + BLOCK]
        a = rows.dots(block, w) + b
        wrong.append(block[is_mistake(decision.visit.y[block], a, decision.visit.tie, margin=0.0)])
    return arith.total(decision.weight[np.concatenate(wrong)])
