"""What tolerates noise: a feature of its own for each example, and a bound on its updates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith

__all__ = ["Noise"]


class Noise:
    """What is kept of each example during one call, for one plane or one joint decision.

    Parameters
    ----------
    n : int
        Number of examples.
    added_feature : float
        Value delta of the feature that each example has for itself; 0: there is none.
    max_mistakes : int or None
        How many updates an example may cause.
    """

    def __init__(self, n: int, added_feature: float, max_mistakes: int | None) -> None:
        self.delta, self.most = added_feature, max_mistakes
        self.v = np.zeros(n)  # weights of the added features
        self.made = np.zeros(n, dtype=np.int64)  # updates

    def activation(self, a: NDArray[np.float64], numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the activations of these rows with the part of the added feature."""
        return a if self.delta == 0 else arith.own_feature(a, self.v[numbers], self.delta)

    def is_used_up(self, row: int) -> bool:
        """Whether the example has caused all the updates that it may."""
        return self.most is not None and bool(self.made[row] >= self.most)

    def update(self, row: int, c: float) -> None:
        """Take in an update.

        Raises
        ------
        FloatingPointError
            If the weight of the added feature is not finite any more.
        """
        self.made[row] += 1
        if self.delta != 0:
            self.v[row] = arith.own_weight(self.v[row], c, self.delta)
            if not np.isfinite(self.v[row]):
                raise FloatingPointError
