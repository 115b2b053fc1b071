"""One step of the search over label sequences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["extend", "reach", "violation"]


def reach(before: NDArray[np.float64], pair: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores ``before[y'] + pair[y', y]`` of all steps from a label to the next."""
    scores: NDArray[np.float64] = before[:, np.newaxis] + pair
    return scores


def extend(score: float, pair: float, e: float) -> float:
    """Return the score of a prefix with one label more: ``(score + pair) + e``."""
    return (score + pair) + e


def violation(best: float, truth: float) -> float:
    """Return by how much the best prefix is ahead of the true one."""
    return best - truth
