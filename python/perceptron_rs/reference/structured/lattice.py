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

from perceptron_rs.arrays.named import Floats

Labels = NDArray[np.uint32]


@dataclass(frozen=True)
class Lattice:
    """The table of the search over one sequence."""

    delta: Floats  # (n, K)
    back: NDArray[np.intp]  # (n, K): the label before the best prefix that ends in a label
    kept: NDArray[np.bool_]  # (n, K): what the beam keeps

    def best(self, t: int) -> int | None:
        """Return the last label of the best prefix that ends at a token, if any can."""
        labels = np.flatnonzero(self.kept[t])
        return int(labels[self.delta[t, labels].argmax()]) if len(labels) else None

    def score(self, n: int) -> float:
        """Return the score of the best prefix of n tokens, which is there."""
        return float(self.delta[n - 1, self.best(n - 1)])

    def answer(self, n: int) -> NDArray[np.uint32]:
        """Return the labels of the best prefix of n tokens; none if there is none."""
        label, path = self.best(n - 1), list[int]()
        for t in range(n - 1, -1, -1):
            if label is not None:
                path.append(label)
                label = int(self.back[t, label])
        return np.array(path[::-1], dtype=np.uint32)


def search(
    e: Floats,
    pair: Floats,
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> Lattice:
    """Fill the table; FloatingPointError if a number is not finite.

    A label must be ``allowed[t, y]``, and must not follow another one if ``forbidden[y', y]``.
    """
    if not (np.isfinite(e).all() and np.isfinite(pair[1:]).all()):
        raise FloatingPointError
    if forbidden is not None:
        pair = np.where(forbidden, -np.inf, pair)
    delta, back = np.full(e.shape, -np.inf), np.zeros(e.shape, dtype=np.intp)
    kept = np.zeros(e.shape, dtype=np.bool_)
    for t in range(len(e)):
        if t == 0:
            delta[t] = e[t]
        elif kept[t - 1].any():
            before = np.flatnonzero(kept[t - 1])
            scores = delta[t - 1, before, np.newaxis] + pair[t, before]
            back[t] = before[scores.argmax(axis=0)]
            delta[t] = scores.max(axis=0) + e[t]
        else:
            break
        keep = np.ones(e.shape[1], dtype=np.bool_) if allowed is None else allowed[t]
        labels = np.flatnonzero(keep if forbidden is None else keep & (delta[t] != -np.inf))
        kept[t, labels[np.argsort(-delta[t, labels], kind="stable")[:beam]]] = True
        if not np.isfinite(delta[t, kept[t]]).all():
            raise FloatingPointError
    return Lattice(delta, back, kept)
