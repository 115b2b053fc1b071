"""The mistakes of a run, and the vectors drawn by how long each survived.

``log_start[k]`` is the first entry of plane k, the next one its end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import row_numbers
from perceptron_rs.arrays.named import State
from perceptron_rs.engines import RunState, below


def plane_of_entries(log: RunState) -> NDArray[np.intp]:
    """Return the number of the plane of each entry."""
    return row_numbers(log["log_start"])


def survival_counts(log: State, seen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return how many of the ``seen`` examples each vector of each plane survived, the start vector first.

    A start vector that an example made is as old as ``first_t`` says.
    """
    first = log.get("first_t", np.ones(len(seen)))
    times = np.split(log["log_t"], log["log_start"][1:-1])
    return [
        np.diff(np.concatenate([[begin], own, [last + 1]])).astype(np.int64)
        for begin, own, last in zip(first, times, seen, strict=True)
    ]


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
