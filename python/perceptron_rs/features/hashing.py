"""Names as columns without a vocabulary, as scikit-learn's ``FeatureHasher`` chooses them (MurmurHash3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import murmur3


def hashed(names: Iterable[str], n_columns: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each name, and whether its sign is positive."""
    return columns_of_hashes(murmur3([name.encode("utf-8") for name in names]), n_columns)


def columns_of_hashes(
    hashes: NDArray[np.uint32] | NDArray[np.int32], n_columns: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each hash, and whether its sign is positive."""
    signed = hashes.view(np.int32)
    size = np.abs(signed.astype(np.int64))
    # The hasher's way around the one number whose absolute value 32 bits do not hold.
    size[size == 1 << 31] = (1 << 31) - n_columns
    columns = size & (n_columns - 1) if n_columns & (n_columns - 1) == 0 else size % n_columns
    return columns.astype(np.int32), signed >= 0
