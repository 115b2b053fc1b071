"""From the dot products of two rows to their kernel value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import KernelSpec
from perceptron_rs.reference import arith
from perceptron_rs.reference.arith import exp, tanh

__all__ = ["KERNELS", "check_kernel", "finish", "needs_squares"]

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def check_kernel(kernel: KernelSpec) -> None:
    """Raise ValueError for parameters out of range."""
    if not 0 < kernel.gamma < math.inf:
        raise ValueError(f"gamma must be finite and above 0, got {kernel.gamma}")
    if not math.isfinite(kernel.coef0):
        raise ValueError(f"coef0 must be finite, got {kernel.coef0}")
    if kernel.degree < 1:
        raise ValueError(f"degree must be at least 1, got {kernel.degree}")
    if kernel.name not in KERNELS:
        raise ValueError(f"kernel must be one of {KERNELS}, got {kernel.name!r}")


def needs_squares(kernel: KernelSpec) -> bool:
    """Whether the kernel of two rows needs the dot product of each with itself."""
    return kernel.name == "rbf"


def finish(
    kernel: KernelSpec, dots: NDArray[np.float64], square: float, squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the kernel values of one row, of this square, with many, of these squares."""
    if kernel.name == "poly":
        return arith.power(arith.affine(kernel.gamma, dots, kernel.coef0), kernel.degree)
    if kernel.name == "rbf":
        return exp(-kernel.gamma * arith.squared_distance(square, squares, dots))
    if kernel.name == "sigmoid":
        return tanh(arith.affine(kernel.gamma, dots, kernel.coef0))
    return dots
