"""The perceptron: add each mistake to the weights, with its sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dot import dot


def perceptron(X: Any, Y: Any, max_iter: int) -> tuple[Any, float]:
    """Return w and b after an epoch without a mistake, or after ``max_iter`` epochs; Y has labels -1 or 1."""
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(max_iter):
        mistakes = 0
        for x, y in zip(X, Y, strict=True):
            a = dot(w, x) + b
            if y * a <= 0:
                w, b = w + y * x, b + y
                mistakes += 1
        if mistakes == 0:
            break
    return w, b
