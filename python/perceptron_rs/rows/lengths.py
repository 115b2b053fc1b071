"""The lengths of sequences that lie one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.errors import naming
from perceptron_rs.rows.real_numbers import refuse_lazy
from perceptron_rs.rows.storage import refuse_masked


def check_lengths(lengths: ArrayLike, rows: int) -> NDArray[np.int64]:
    """Return the lengths of sequences that lie one after another; None: one sequence."""
    if lengths is None:
        return np.array([rows], dtype=np.int64)
    with naming("lengths"):
        refuse_lazy(lengths, "lengths")
        refuse_masked(lengths, "lengths")
        array = np.asarray(lengths)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"lengths must be a vector of whole numbers, got shape {array.shape} and dtype {array.dtype}"
        )
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        i = int(np.argmax(array < 0))
        raise ValueError(f"lengths must be at least 0, got {array[i]} for sequence {i}")
    total = sum(array.tolist())  # which does not wrap around
    if total != rows:
        raise ValueError(f"lengths must add up to the number of rows of X, {rows}, got {total}")
    return array
