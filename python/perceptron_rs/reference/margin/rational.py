"""The signs of the exact solution of a small linear system.

Each equation becomes one of integers by a power of two; then they are solved without fractions (Bareiss).
The compiled engine computes the same signs modulo primes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: Largest cost of a solution, in bit operations of a kind.
LARGEST_COST = 1e10


def signs(system: NDArray[np.float64], groups: int) -> NDArray[np.int64] | None:
    """Return the signs of the unknowns; None if there is no solution, or not one alone, or it costs too much.

    The last ``groups`` equations have the right side 1, the others 0.
    """
    m, k = system.shape
    exponents = [[math.frexp(float(value))[1] for value in row if value != 0.0] for row in system]
    bits = max(max(own) - min(own) + 53 for own in exponents)
    if float(k) * float(k) * float(m) * (float(k) * float(bits + 8)) > LARGEST_COST or m < k:
        return None
    rows = []
    for j, row in enumerate(system):
        lowest = min(exponents[j]) - 53
        right = _scaled(1.0, lowest) if j >= m - groups else 0
        rows.append([*(_scaled(float(value), lowest) for value in row), right])
    previous = 1
    for j in range(k):
        p = next((i for i in range(j, m) if rows[i][j] != 0), None)
        if p is None:
            return None
        rows[j], rows[p] = rows[p], rows[j]
        pivot = rows[j]
        for i, row in enumerate(rows):
            if i != j:
                rows[i] = [(pivot[j] * b - row[j] * a) // previous for a, b in zip(pivot, row, strict=True)]
        previous = pivot[j]
    if any(row[k] != 0 for row in rows[k:]):
        return None
    unknowns = [(rows[i][k] > 0) - (rows[i][k] < 0) for i in range(k)]
    flip = 1 if previous > 0 else -1
    return np.array([sign * flip for sign in unknowns])


def _scaled(value: float, exponent: int) -> int:
    """Return ``value / 2^exponent``, an integer."""
    numerator, denominator = value.as_integer_ratio()
    shift = -exponent - (denominator.bit_length() - 1)
    return numerator << shift if shift >= 0 else numerator >> -shift
