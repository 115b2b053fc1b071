"""The weights of a sequence learner, as callers look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from perceptron_rs.engines import State

__all__ = ["ChainWeights"]


class ChainWeights:
    """The attributes that are weights. Those of columns are sparse until they are read."""

    classes_: NDArray[Any]
    _weights: State  # as the engines' ``sequence_decode`` takes it

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Emission weights."""
        return _dense(self._weights, "emission", len(self.classes_)).T

    @property
    def sparse_coef_(self) -> csc_matrix:
        """Emission weights, sparse."""
        indptr, indices, data = (self._weights[f"emission_{part}"] for part in ("indptr", "indices", "data"))
        return csc_matrix((data, indices, indptr), shape=(len(self.classes_), len(indptr) - 1))

    @property
    def transition_(self) -> NDArray[np.float64]:
        """Weight of each label (column) after each other label (row)."""
        return self._weights["transition"]

    @property
    def start_(self) -> NDArray[np.float64]:
        """Weights of the first label."""
        return self._weights["start"]

    @property
    def end_(self) -> NDArray[np.float64]:
        """Weights of the last label."""
        return self._weights["end"]

    @property
    def transition_coef_(self) -> NDArray[np.float64]:
        """Weights of a token's features for the label before it and its own."""
        if "pair_indptr" not in self._weights:
            raise AttributeError("transition_coef_ exists only with transition_features=True")
        labels = len(self.classes_)
        return _dense(self._weights, "pair", labels**2).T.reshape(labels, labels, -1)


def _dense(weights: State, name: str, planes: int) -> NDArray[np.float64]:
    indptr = weights[f"{name}_indptr"]
    out = np.zeros((len(indptr) - 1, planes))
    out[np.repeat(np.arange(len(out)), np.diff(indptr)), weights[f"{name}_indices"]] = weights[f"{name}_data"]
    return out
