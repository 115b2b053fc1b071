"""The voted perceptron: all weights of the run vote, each as often as it survived.

Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine Learning 37,
1999: figure 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dot import dot


def voted_perceptron(X: Any, Y: Any, max_iter: int) -> list[tuple[Any, float, int]]:
    """Return each (w, b) of the run with c, the number of examples that it survived."""
    w, b, c = np.zeros(X.shape[1]), 0.0, 0
    past = []
    for _ in range(max_iter):
        mistakes = 0
        for x, y in zip(X, Y, strict=True):
            a = dot(w, x) + b
            if y * a <= 0:
                past.append((w, b, c))
                # The example that made it is the first that it survives.
                w, b, c = w + y * x, b + y, 1
                mistakes += 1
            else:
                c += 1
        if mistakes == 0:
            break
    return [*past, (w, b, c)]


def vote(vectors: list[tuple[Any, float, int]], x: Any) -> int:
    """Return the sum of ``c sign(w . x + b)``: positive if the vote is for the class 1."""
    votes = 0
    for w, b, c in vectors:
        votes += c * int(np.sign(dot(w, x) + b))
    return votes
