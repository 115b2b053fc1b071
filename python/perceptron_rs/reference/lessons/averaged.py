"""The averaged perceptron: predict with the mean of all weights that the run went through.

Algorithm 7 of H. Daume, "A Course in Machine Learning", with the counter c in both cached sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dot import dot


def averaged_perceptron(X: Any, Y: Any, max_iter: int) -> tuple[Any, float]:
    """Return the averages of w and b: of the start, and of what each example left behind."""
    w, b = np.zeros(X.shape[1]), 0.0
    u, beta = np.zeros(X.shape[1]), 0.0  # the cached sums
    c = 1  # the number of the example
    for _ in range(max_iter):
        mistakes = 0
        for x, y in zip(X, Y, strict=True):
            a = dot(w, x) + b
            if y * a <= 0:
                w, b = w + y * x, b + y
                # This update is missing from the c vectors before it.
                u, beta = u + c * y * x, beta + c * y
                mistakes += 1
            c += 1
        if mistakes == 0:
            break
    # w - u / c, with one rounding less.
    return (c * w - u) / c, (c * b - beta) / c
