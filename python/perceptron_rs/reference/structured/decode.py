"""The best label sequences of many sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.reference.structured.lattice import Lattice
from perceptron_rs.reference.structured.sequences import sequences
from perceptron_rs.reference.structured.weights import check, emissions, pairs, unpacked
from perceptron_rs.settings import State

__all__ = ["decode_one", "sequence_decode"]


@standard()
def sequence_decode(
    rows: Any,
    lengths: NDArray[np.int64],
    *,
    weights: State,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the best labels of every row, and the score of every sequence.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n tokens of d columns.
    lengths : int64 array
        Of the sequences, which lie one after another.
    weights : dict
        Emission, transition, start, end, perhaps pair, as ``sequence_fit`` returns them.
    threads : int
    beam : int or None
        How many labels of a token are kept in the search.
    allowed : bool array of shape (n, K) or None
        The labels that each row may have.
    forbidden : bool array of shape (K, K) or None
        The labels (columns) that may not follow a label (rows).

    Raises
    ------
    ValueError
        If no labels are left for a sequence, or if shapes do not agree.
    OverflowError
        If a score is not finite.
    """
    check_canonical(rows)
    parts = sequences(lengths, rows.shape[0])
    labels = check(weights, rows.shape[1])
    if beam == 0:
        raise ValueError("beam must be at least 1, got 0; None looks at all labels")
    shapes = {"allowed": (rows.shape[0], labels), "forbidden": (labels, labels)}
    for name, given in (("allowed", allowed), ("forbidden", forbidden)):
        if given is not None and given.shape != shapes[name]:
            raise ValueError(f"{name} must have the shape {shapes[name]}, got {given.shape}")
    # A byte that is neither 0 nor 1 is true, whatever NumPy makes of it.
    allowed, forbidden = (
        None if given is None else given.view(np.uint8) != 0 for given in (allowed, forbidden)
    )
    path, scores = np.zeros(rows.shape[0], dtype=np.uint32), np.zeros(len(parts))
    w = unpacked(weights)
    for i, numbers in enumerate(parts):
        may = None if allowed is None else allowed[numbers]
        path[numbers], scores[i] = decode_one(rows, numbers, w, i, beam, may, forbidden)
    return path, scores


def decode_one(
    rows: Any,
    numbers: NDArray[np.intp],
    w: State,
    i: int,
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], float]:
    """Return the best labels of the rows ``numbers`` by dense weights, and their score; i is for errors."""
    e, pair = emissions(rows, numbers, w), pairs(rows, numbers, w)
    try:
        lattice = Lattice.fill(e, pair, beam=beam, allowed=allowed, forbidden=forbidden)
    except FloatingPointError:
        raise OverflowError(f"a score of sequence {i} is not finite; scale the features") from None
    last = len(numbers) - 1
    best = lattice.best(last)
    if best is None:
        raise ValueError(
            f"allowed and forbidden leave no labels for sequence {i}; allow more, or widen the beam"
        )
    return lattice.trace(last, best), float(lattice.delta[last, best] + 0.0)
