"""The update of the contract: ``w[j] = w[j] + c * x[j]``, two roundings an element.

Stored values are widened to float64 first, which is exact for all storage types, so that the
storage type never changes a result. No element becomes -0.0 unless it was -0.0 before.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def widen(x: NDArray[Any]) -> NDArray[np.float64]:
    """Return stored values as float64."""
    return x.astype(np.float64, copy=False)


def axpy(c: float, x: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``w + c * x``; ``w`` is not modified.

    Raises
    ------
    FloatingPointError
        If ``c`` is not finite: a zero of x would then count in a dense row and not in a sparse one.
    """
    if not math.isfinite(c):
        raise FloatingPointError
    return w + c * widen(x)
