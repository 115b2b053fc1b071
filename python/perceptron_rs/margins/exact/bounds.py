"""Bounds on the number of updates in exact arithmetic, rounded to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_TWO_ROUNDINGS = Fraction(1, 2**50)


def round_up(value: Fraction) -> float:
    """Return the least float that is not below ``value``; inf if that is out of range."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """Return the largest float that is not above ``value``."""
    return -round_up(-value)


def up_root(value: Fraction) -> float:
    """Return a float that is not below the root of ``value``, and next to it."""
    bits = max(0, 80 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    whole = math.ceil(value * 4**bits)
    root = math.isqrt(whole)
    return round_up(Fraction(root + (root * root < whole), 2**bits))


def most_updates(
    growth: Fraction,
    gamma_squared: Fraction,
    length_squared: Fraction = Fraction(1),
    start_progress: Fraction = Fraction(0),
    start_squared: Fraction = Fraction(0),
) -> float:
    """Return the largest k with ``start_progress + k gamma <= length sqrt(start_squared + k growth)``.

    The left side is the least that the weights can have along a direction of that length after k updates,
    each of which adds gamma or more; the right side is the most, as ``||w||^2`` grows by ``growth`` or less.
    Squared, this is a quadratic inequality, and k is at most its larger root (also where the left side is
    below 0). From zero it is ``length^2 growth / gamma^2``. A smaller gamma or start_progress, or another
    number that is larger, makes it larger: so a number that is rounded is rounded to that side.
    """
    if start_squared == 0:
        return round_up(length_squared * growth / gamma_squared)
    gamma = Fraction(up_root(gamma_squared))
    while gamma**2 > gamma_squared:
        gamma = Fraction(math.nextafter(float(gamma), 0.0))
    half = length_squared * growth - 2 * start_progress * gamma
    inside = half**2 + 4 * gamma**2 * (length_squared * start_squared - start_progress**2)
    root = up_root(max(Fraction(0), inside))
    return (
        math.inf if root == math.inf else round_up(max(Fraction(0), half + Fraction(root)) / (2 * gamma**2))
    )


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

    A learner with an intercept learns from rows (x, 1). It meets the direction (w, b)/||(w, b)|| with a
    margin of ``margin ||w|| / ||(w, b)||`` if the intercept is free. The factor is 1 for the augmented
    margin, which is that already. Without an intercept the bound is R^2 / margin^2.
    """
    if upper == -math.inf:
        return math.inf, math.inf
    rows = Fraction(radius) ** 2 + (0 if bias == "none" else 1)
    if upper == math.inf:  # one class: w = 0 and b = 1 have the augmented margin 1
        return round_up(rows), round_down(rows)
    if not lower > 0:
        return math.inf, round_down(rows / Fraction(upper) ** 2) if upper > 0 else math.inf
    least = most = Fraction(1)
    if bias == "free":
        exponent = math.frexp(max(float(np.abs(coef).max(initial=0.0)), abs(intercept)))[1]
        low, high = norm_squared(coef, exponent)
        square = Fraction(math.ldexp(intercept, -exponent)) ** 2
        least += square / high
        if not low > 0:
            return math.inf, round_down(rows * least / Fraction(upper) ** 2)
        most += square / low
    return round_up(rows * most / Fraction(lower) ** 2), round_down(rows * least / Fraction(upper) ** 2)
