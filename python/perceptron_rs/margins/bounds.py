"""The bound of Block and Novikoff in exact arithmetic, rounded to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["down", "norm_squared", "novikoff", "up"]

_TWO_ROUNDINGS = Fraction(1, 2**50)


def up(value: Fraction) -> float:
    """Return the least float that is not below ``value``; inf if that is out of range."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def down(value: Fraction) -> float:
    """Return the largest float that is not above ``value``."""
    return -up(-value)


def norm_squared(values: NDArray[np.float64], exponent: int) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of the sum of squares of ``values * 2**-exponent``.

    The exponent is one with which no value exceeds 1, so no square overflows.
    """
    scaled = np.ldexp(values, -exponent)
    total = Fraction(math.fsum((scaled * scaled).tolist()))  # squares are rounded once, and so is their sum
    underflow = Fraction(len(values), 2**1074)
    return max(total * (1 - _TWO_ROUNDINGS), Fraction(0)), total * (1 + _TWO_ROUNDINGS) + underflow


def novikoff(
    radius: float, lower: float, upper: float, coef: NDArray[np.float64], intercept: float, bias: str
) -> tuple[float, float]:
    r"""Return ``(R^2 + 1) (1 + b^2/||w||^2) / margin^2`` by ``lower``, rounded up, and by ``upper``, down.

    A learner with an intercept learns from rows (x, 1), and meets the direction (w, b)/||(w, b)|| with a
    margin of ``margin ||w|| / ||(w, b)||``, if that of (w, b) is free. The factor is 1 for the augmented
    margin, which is that already. Without an intercept the bound is R^2 / margin^2.
    """
    if upper == -math.inf:
        return math.inf, math.inf
    rows = Fraction(radius) ** 2 + (0 if bias == "none" else 1)
    if upper == math.inf:  # one class: w = 0 and b = 1 have the augmented margin 1
        return up(rows), down(rows)
    if not lower > 0:
        return math.inf, down(rows / Fraction(upper) ** 2) if upper > 0 else math.inf
    least = most = Fraction(1)
    if bias == "free":
        exponent = math.frexp(max(float(np.abs(coef).max(initial=0.0)), abs(intercept)))[1]
        low, high = norm_squared(coef, exponent)
        square = Fraction(math.ldexp(intercept, -exponent)) ** 2
        least += square / high
        if not low > 0:
            return math.inf, down(rows * least / Fraction(upper) ** 2)
        most += square / low
    return up(rows * most / Fraction(lower) ** 2), down(rows * least / Fraction(upper) ** 2)
