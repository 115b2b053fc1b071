"""The sign of a sum of products, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def exact_sign(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    """Return the sign of the sum of ``a * b``: -1, 0 or 1."""
    exact = Fraction(0)
    for x, y in zip(a, b, strict=True):
        exact += Fraction(float(x)) * Fraction(float(y))
    return (exact > 0) - (exact < 0)
