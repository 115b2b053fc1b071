"""The pocket: run the perceptron, and keep the weights with the fewest errors.

S. I. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks 1(2), 1990. Errors
are counted after every update, so that none of the vectors is missed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dot import dot


def pocket_perceptron(X: Any, Y: Any, max_iter: int) -> tuple[Any, float, int]:
    """Return the best w and b of the run, and the number of their errors."""
    w, b = np.zeros(X.shape[1]), 0.0
    pocket = w, b, len(Y)
    for _ in range(max_iter):
        mistakes = 0
        for x, y in zip(X, Y, strict=True):
            a = dot(w, x) + b
            if y * a <= 0:
                w, b = w + y * x, b + y
                mistakes += 1
                wrong = errors(X, Y, w, b)
                if wrong < pocket[2]:
                    pocket = w, b, wrong
        if mistakes == 0:
            break
    return pocket


def errors(X: Any, Y: Any, w: Any, b: float) -> int:
    """Return the number of wrong predictions. Zeros have no side, and get all examples wrong."""
    if not w.any() and b == 0:
        return len(Y)
    wrong = 0
    for x, y in zip(X, Y, strict=True):
        y_hat = 1 if dot(w, x) + b > 0 else -1
        wrong += y_hat != y
    return wrong
