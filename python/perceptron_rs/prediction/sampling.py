"""One vector of a run, drawn by the examples that each has survived (rule 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import below

#: No epoch has this number, so no permutation is drawn by the same key.
_EPOCH = 2**64 - 1


def draw_vectors(counts: list[NDArray[np.int64]], seed: int) -> NDArray[np.int64]:
    """Draw a vector of each plane, with probabilities in proportion to the counts; return their numbers."""
    return np.array([_draw(count, seed, k) for k, count in enumerate(counts)], dtype=np.int64)


def _draw(count: NDArray[np.int64], seed: int, plane: int) -> int:
    ends = np.cumsum(count)
    if ends[-1] == 0:
        return 0
    number = below(int(ends[-1]), seed=seed, epoch=_EPOCH, partition=plane)
    return int(np.searchsorted(ends, number, side="right"))
