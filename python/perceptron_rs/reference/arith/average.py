"""The average of all weight vectors of a run, from the last one and one cached sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["average", "timed"]


def timed(t: int, c: float) -> float:
    """Return the factor of x in the update of u: t times c, rounded once."""
    return t * c


def average(w: NDArray[np.float64], u: NDArray[np.float64], seen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return ``((T+1) * w - u) / (T+1)``, each operation rounded.

    Parameters
    ----------
    w, u : float64 arrays of equal shape
        The last weights; the sum of ``(t * c) * x`` over the mistakes.
    seen : int64 array that broadcasts against them
        T, the number of examples seen.
    """
    terms = (seen + 1).astype(np.float64)
    mean: NDArray[np.float64] = (terms * w - u) / terms
    return mean
