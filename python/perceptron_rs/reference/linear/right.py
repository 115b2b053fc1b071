"""How often the perceptron must update on one example, before that is right."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith


@standard()
def updates_until_right(
    x: NDArray[np.float64], y: int, w: NDArray[np.float64], b: float | None, *, step: float
) -> int:
    """Least number of updates in a row on one example after which it is right.

    One update moves the activation by ``step (||x||^2 + 1)`` towards y, so the example is wrong
    while ``k <= -y (w . x + b) / (step (||x||^2 + 1))``; without an intercept there is no ``+ 1``.

    Parameters
    ----------
    x, w : float64 arrays of shape (d,)
    y : -1 or 1
    b : float, or None for no intercept
    step : float, above 0

    Raises
    ------
    ValueError
        If ``||x||^2`` is 0 and there is no intercept: the example never becomes right.
    OverflowError
        If the activation, the shift or their quotient is not finite.
    """
    if x.ndim != 1 or x.shape != w.shape:
        raise ValueError(f"x and w must be vectors of equal length, got shapes {x.shape} and {w.shape}")
    a, square = arith.inner(x, w), arith.inner(x, x)
    if b is not None:
        a, square = a + b, square + 1.0
    if 0 < y * a < math.inf:
        return 0
    shift = step * square
    if shift == 0:
        raise ValueError("x has norm 0 and there is no intercept: no update changes that; pass b or scale x")
    bound = -(y * a) / shift
    if not (math.isfinite(a) and math.isfinite(shift) and math.isfinite(bound)):
        raise OverflowError("x, w and b: the activation or its shift is not finite; scale x and w")
    return math.floor(bound) + 1
