"""What tolerates noise: a feature of its own for each example, and a bound on its mistakes.

With an added feature of the value delta, example i has a weight v[i] of its own in each plane: it adds
``own[i] = v[i] delta`` to its activation, and a mistake makes ``v[i] += c delta``. An example that has caused
as many mistakes as it may causes no more: no margin is theta[i] = NaN or less.

Both change after an epoch, by its log: no example is visited twice before.

Paper: R. Khardon, G. Wachman, "Noise tolerant variants of the perceptron algorithm", JMLR 8, 2007:
the lambda-trick and the alpha-bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Noise:
    """Numbers of each of n examples during a run."""

    def __init__(self, n: int, delta: float, most: int | None) -> None:
        self.delta, self.most = delta, most
        self.v, self.made = np.zeros(n), np.zeros(n, dtype=np.int64)

    def epoch(self, log: Any, own: NDArray[np.float64], theta: NDArray[np.float64]) -> None:
        """Take in the mistakes of an epoch; FloatingPointError if a weight is no longer finite."""
        for _, i, c in log:
            self.made[i] += 1
            if self.made[i] == self.most:
                theta[i] = np.nan
            if self.delta:
                self.v[i] += c * self.delta
                own[i] = self.v[i] * self.delta
        if not np.isfinite(self.v).all():
            raise FloatingPointError
