"""Sums and products with their rounding errors, and bounds of what is still lost.

``two_sum`` and ``two_product`` return the rounded result and its error, exactly (Knuth; Dekker). A
``Twofold`` adds products as if in twice the precision: after m of them, its value is off by at most
``u |value| + 2 gamma(m + 1)^2 sum |a b|`` (Ogita, Rump, Oishi 2005, Dot2).

A product below 2^-960 has error 0 here, because Dekker's splitting is exact only above; whoever
bounds an error adds ``LOST`` for each product.
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_rs.arrays.named import Floats

#: Half of the distance from 1 to the next float.
UNIT = 2.0**-53
#: Covers the roundings in the computation of a bound of a few operations.
SLACK = 1.0 + 2.0**-40
#: More than a product loses whose error is not computed.
LOST = 2.0**-1012
_SPLITTER = 2.0**27 + 1
_SMALLEST = 2.0**-960


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its error; 0 as the error of a product below 2^-960."""
    p = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    e = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return p, np.where(np.abs(p) >= _SMALLEST, e, 0.0)


def _split(a: Floats) -> tuple[Floats, Floats]:
    t = _SPLITTER * a
    high = t - (t - a)
    return high, a - high


class Twofold:
    """Sums of products, element by element, in doubled precision."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.high = np.zeros(shape)
        self.low = np.zeros(shape)

    def add_product(self, a: Floats, b: Floats) -> None:
        """Add ``a * b``."""
        p, e = two_product(a, b)
        self.high, t = two_sum(self.high, p)
        self.low = self.low + (t + e)

    def add(self, a: Floats) -> None:
        """Add a number."""
        self.high, t = two_sum(self.high, a)
        self.low = self.low + t

    @property
    def value(self) -> Floats:
        """The sum, rounded."""
        return self.high + self.low


def gamma(m: int) -> float:
    """Return a bound of the relative error of m roundings in a row."""
    return m * UNIT / (1.0 - m * UNIT) * SLACK


def up(a: float) -> float:
    """Return the next larger float."""
    return math.nextafter(a, math.inf)


def down(a: float) -> float:
    """Return the next smaller float."""
    return math.nextafter(a, -math.inf)


def square_root(a: float) -> float:
    """Return the rounded root."""
    return math.sqrt(a)


def times_power(a: float, exponent: int) -> float:
    """Return ``a * 2^exponent``; exact unless it leaves the normal floats."""
    while exponent > 1000:
        a, exponent = a * 2.0**1000, exponent - 1000
    while exponent < -1000:
        a, exponent = a * 2.0**-1000, exponent + 1000
    return a * 2.0**exponent
