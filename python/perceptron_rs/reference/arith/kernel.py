"""The formulas of the kernel perceptron, element by element: each operation rounded, in one order."""

from __future__ import annotations

import numpy as np

from perceptron_rs.arrays.named import Floats

from .total import total


def power(base: Floats, degree: int) -> Floats:
    """Return ``base`` to the ``degree``, at least 1, by products from the left."""
    product = base
    for _ in range(1, degree):
        product = product * base
    return product


def squared_distance(xx: float, zz: Floats, dots: Floats) -> Floats:
    """Return ``max(0, (xx + zz) - 2 * dots)``; not a number stays what it is."""
    distance = (xx + zz) - 2.0 * dots
    return np.where(distance < 0, 0.0, distance)


def grown(square: float, c: float, s: float, own: float) -> float:
    """Return the squared norm N of a vector after an update.

    Parameters
    ----------
    square : N before
    c : the step
    s : the sum S of the example before the update
    own : the kernel of the example with itself
    """
    return square + c * (2.0 * s + c * own)


def normalised(a: Floats, square: float) -> Floats:
    """Return activations divided by the norm of their vector; 0 for a vector that has none."""
    return a / np.sqrt(square) if square > 0 else np.zeros_like(a)


def scale(sums: Floats, squares: Floats, columns: int) -> float:
    """Return one divided by ``columns`` times the variance of all values; 1 if that is not above 0.

    Parameters
    ----------
    sums, squares : float64 arrays of shape (n,)
        Sum of each row, and its dot product with itself. With their totals S and Q in row order, and N
        the number of values, the variance is ``Q/N - (S/N) * (S/N)``.
    columns : int
    """
    number = float(len(sums) * columns)
    mean = np.float64(total(sums)) / number
    variance = np.float64(total(squares)) / number - mean * mean
    return float(1.0 / (columns * variance)) if variance > 0 else 1.0
