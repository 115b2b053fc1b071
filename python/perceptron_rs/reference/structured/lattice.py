"""The search for the best label sequence: Viterbi's, or the same with a beam.

Problem
    The labels y of a sequence with the largest sum of ``e[t, y_t]`` and ``pair[t, y_(t-1), y_t]``.
Method
    ``delta[t, y]`` is the best score of a prefix that ends in y at token t. Label by label,
    ``delta[t, y] = max over y' of (delta[t-1, y'] + pair[t, y', y]) + e[t, y]``; the labels are found by
    going back from the best one of the last token. Ties go to the lowest label, everywhere.
Beam
    Keeps the labels of a token with the largest delta. Prefixes that end in one label have equal
    futures, so only the best of them counts: a beam as wide as there are labels is Viterbi's.
Paper
    A. J. Viterbi, "Error bounds for convolutional codes", IEEE Transactions on Information Theory 13, 1967.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith

__all__ = ["Lattice"]


@dataclass(frozen=True)
class Lattice:
    """The table of the search over one sequence."""

    delta: NDArray[np.float64]
    back: NDArray[np.intp]
    kept: NDArray[np.bool_]

    @classmethod
    def fill(
        cls,
        e: NDArray[np.float64],
        pair: NDArray[np.float64],
        *,
        beam: int | None = None,
        allowed: NDArray[np.bool_] | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> Lattice:
        """Search; raise FloatingPointError if a number is not finite."""
        if not (np.isfinite(e).all() and np.isfinite(pair[1:]).all()):
            raise FloatingPointError
        if forbidden is not None:
            pair = np.where(forbidden, -np.inf, pair)
        delta = np.full(e.shape, -np.inf)
        back, kept = np.zeros(e.shape, dtype=np.intp), np.zeros(e.shape, dtype=np.bool_)
        for t in range(len(e)):
            if t == 0:
                delta[t] = e[t]
            else:
                from_ = np.flatnonzero(kept[t - 1])
                if len(from_) == 0:
                    break
                scores = arith.reach(delta[t - 1, from_], pair[t, from_])
                back[t] = from_[scores.argmax(axis=0)]
                delta[t] = scores.max(axis=0) + e[t]
            keep = np.ones(e.shape[1], dtype=np.bool_) if allowed is None else allowed[t].copy()
            if forbidden is not None:
                keep &= delta[t] != -np.inf
            if beam is not None:
                labels = np.flatnonzero(keep)
                keep[labels[np.argsort(-delta[t, labels], kind="stable")[beam:]]] = False
            if not np.isfinite(delta[t, keep]).all():
                raise FloatingPointError
            kept[t] = keep
        return cls(delta, back, kept)

    def best(self, t: int) -> int | None:
        """Return the last label of the best prefix that ends at a token, if any can."""
        labels = np.flatnonzero(self.kept[t])
        return int(labels[self.delta[t, labels].argmax()]) if len(labels) else None

    def trace(self, t: int, label: int) -> NDArray[np.uint32]:
        """Return the labels of the best prefix that ends in ``label`` at token t."""
        path = [label]
        for token in range(t, 0, -1):
            path.append(int(self.back[token, path[-1]]))
        return np.array(path[::-1], dtype=np.uint32)
