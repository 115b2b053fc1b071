"""Rows that belong together: a sequence is a run of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["sequences"]


def sequences(lengths: NDArray[np.int64], rows: int) -> list[NDArray[np.intp]]:
    """Return the numbers of the rows of each sequence.

    Raises
    ------
    ValueError
        If a length is not at least 1, or if they do not add up to the number of rows.
    """
    if len(lengths) and lengths.min() < 1:
        i = int(np.argmax(lengths < 1))
        raise ValueError(
            f"lengths must be at least 1, got {lengths[i]} for sequence {i}; leave empty sequences out"
        )
    ends = np.cumsum(lengths).tolist()
    end = ends[-1] if ends else 0
    if end != rows:
        raise ValueError(
            f"lengths must add up to the number of rows, {rows}, got {end}; give one length a sequence"
        )
    return [np.arange(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
