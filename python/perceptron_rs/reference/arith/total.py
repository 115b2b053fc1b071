"""Sums from the first term to the last: NumPy's own add in pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def total(terms: NDArray[np.float64] | Sequence[float]) -> float:
    """Return the sum, from the first term to the last."""
    return float(np.add.accumulate(np.append(0.0, terms))[-1])


def running_total(start: float, terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``start`` and the sums that grow from it, one after each term."""
    return np.add.accumulate(np.append(start, terms))
