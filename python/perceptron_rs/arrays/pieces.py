"""What is long, in pieces: between two of them Python looks at signals, and within a call of NumPy never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers that are looked at in one call: some milliseconds. The core has the same pace.
NUMBERS = 1 << 20


def pieces(n: int, cost: int = 1) -> Iterator[slice]:
    """Cut n items, of which each takes as long as to look at ``cost`` numbers."""
    most = max(NUMBERS // max(cost, 1), 1)
    return (slice(first, min(first + most, n)) for first in range(0, n, most))


def all_finite(array: NDArray[Any]) -> bool:
    """Whether all numbers are finite."""
    if array.size <= NUMBERS:
        return bool(np.isfinite(array).all())
    cost = array.size // max(len(array), 1)
    return all(bool(np.isfinite(array[piece]).all()) for piece in pieces(len(array), cost))
