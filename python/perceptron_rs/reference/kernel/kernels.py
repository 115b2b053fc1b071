"""From the dot products of two rows to their kernel value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.arith import exp, tanh
from perceptron_rs.settings import KernelSpec


def needs_squares(kernel: KernelSpec) -> bool:
    """Whether the kernel of two rows needs the dot product of each with itself."""
    return kernel.name == "rbf"


def finish(
    kernel: KernelSpec, dots: NDArray[np.float64], square: float, squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the kernel values of one row, of this square, with many, of these squares."""
    if kernel.name == "poly":
        return arith.power(kernel.gamma * dots + kernel.coef0, kernel.degree)
    if kernel.name == "rbf":
        return exp(-kernel.gamma * arith.squared_distance(square, squares, dots))
    if kernel.name == "sigmoid":
        return tanh(kernel.gamma * dots + kernel.coef0)
    return dots
