"""The kernel perceptron: the weights are a sum of mistakes, so dot products of examples are all it takes.

Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine Learning 37,
1999: section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dot import dot


def kernel_perceptron(X: Any, Y: Any, K: Callable[[Any, Any], float], max_iter: int) -> list[int]:
    """Return the rows of the mistakes, one after another. alpha_i is how often row i is among them."""
    a = np.zeros(len(X))  # the activation of every example
    log: list[int] = []
    for _ in range(max_iter):
        mistakes = 0
        for i in range(len(X)):
            if Y[i] * a[i] <= 0:
                # w += y_i phi(x_i), as all examples see it.
                a += Y[i] * np.array([K(X[i], x) for x in X])
                log.append(i)
                mistakes += 1
        if mistakes == 0:
            break
    return log


def kernel_activation(X: Any, Y: Any, K: Callable[[Any, Any], float], log: list[int], x: Any) -> float:
    """Return ``w . phi(x)``, the sum of ``y_i K(x_i, x)`` over the mistakes."""
    a = 0.0
    for i in log:
        a += Y[i] * K(X[i], x)
    return a


def polynomial(degree: int) -> Callable[[Any, Any], float]:
    """Return the kernel ``(x . z + 1)^degree``."""

    def K(x: Any, z: Any) -> float:  # noqa: N802
        power = base = dot(x, z) + 1
        for _ in range(1, degree):
            power *= base
        return power

    return K
