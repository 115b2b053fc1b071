"""What the kernel perceptron shows of its vectors: the mistaken examples, and the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.kernel.values import matrix_of
from perceptron_rs.kernel.vectors import stored

__all__ = ["KernelSupport"]


class KernelSupport:
    """The attributes that are computed from the log of mistakes when they are read."""

    kernel: Any
    n_features_in_: int
    n_seen_: NDArray[np.int64]
    _vectors: State

    @property
    def support_(self) -> NDArray[np.int64]:
        """Indices of the misclassified examples."""
        return self._vectors["origin"]

    @property
    def support_vectors_(self) -> Any:
        """The misclassified examples."""
        if self.kernel == "precomputed":
            return np.zeros((0, 0))
        return matrix_of(stored(self._vectors), self.n_features_in_)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Sum of the steps on each of the misclassified examples."""
        return self._per_support(self._vectors["log_step"])

    @property
    def mistakes_per_support_(self) -> NDArray[np.int64]:
        """Number of updates on each of the misclassified examples."""
        return self._per_support(np.ones(len(self._vectors["log_row"]), dtype=np.int64))

    def _per_support(self, values: NDArray[Any]) -> NDArray[Any]:
        log = self._vectors
        found = np.zeros((len(self.n_seen_), len(log["origin"])), dtype=values.dtype)
        planes = np.repeat(np.arange(len(found)), np.diff(log["log_start"]))
        np.add.at(found, (planes, log["log_row"]), values)
        return found
