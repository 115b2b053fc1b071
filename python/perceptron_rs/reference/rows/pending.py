"""Penalties that have not been applied yet.

A coordinate is settled when an example reads it; or, if the penalty only scales, one factor stands
for what is pending of all coordinates, and the weights kept are the true ones divided by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith

__all__ = ["Pending"]


class Pending:
    """Of a plane, or of the planes of a joint decision.

    Parameters
    ----------
    ages : int64 array of shape (d,)
        Examples that each coordinate has not been settled for.
    eta0, l1, l2 : float
        Learning rate and strengths of the penalties.
    """

    def __init__(self, ages: NDArray[np.int64], eta0: float, l1: float, l2: float) -> None:
        self.ages, self.eta0, self.l1, self.l2 = ages.copy(), eta0, l1, l2
        self.is_common = arith.is_common(eta0, l1, l2)

    def settle(self, W: NDArray[np.float64], columns: Any = slice(None)) -> None:
        """Apply to these columns of ``W`` (planes, d) what is pending."""
        W[:, columns] = arith.decay(W[:, columns], self.ages[columns], self.eta0, self.l1, self.l2)
        self.ages[columns] = 0

    def factor(self, W: NDArray[np.float64], read: NDArray[Any]) -> float:
        """Get the weights ready for an example that reads these columns; return their factor."""
        if not self.is_common:
            self.settle(W, read)
            return 1.0
        if (self.ages != self.ages[:1]).any():  # the penalty was another one in an earlier call
            self.settle(W)
        factor = float(arith.decay_factor(self.ages[:1], self.eta0, self.l2)[0]) if len(self.ages) else 1.0
        if factor >= arith.LEAST_FACTOR:
            return factor
        self.settle(W)
        return 1.0

    def tick(self) -> None:
        """One more example was visited."""
        self.ages += 1
