"""Distinct labels, and which of them each label is; computed in pieces, so that Ctrl-C need not wait.

NumPy sorts all labels in one call, which takes seconds for a million strings; a dictionary also takes less.
Numbers that are near each other are looked up in a table, in calls of some milliseconds for a million.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import merge
from itertools import count, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.pieces import pieces

#: To look at a label takes as long as to look at so many numbers.
COST = 16
FEW = 512  # of which a search costs less than a dictionary of all classes, or a table
TABLE = 1 << 16


def distinct(y: NDArray[np.generic]) -> tuple[NDArray[np.generic], NDArray[np.uint32]]:
    """Return the sorted distinct labels of y and the index of each label among them."""
    numbers = _distinct_numbers(y) if y.dtype.kind in "biuf" and len(y) else None
    if numbers is not None:
        return numbers
    # Numbers of labels in the order in which they are asked for.
    index: defaultdict[Any, int] = defaultdict(count().__next__)
    indices = np.empty(len(y), dtype=np.uint32)
    for piece in pieces(len(y), COST):
        labels = y[piece].tolist()
        indices[piece] = np.fromiter(map(index.__getitem__, labels), dtype=np.uint32, count=len(labels))
    known = list(index)
    classes = list(merge(*(sorted(known[piece]) for piece in pieces(len(known), COST))))
    rank = np.empty(len(classes), dtype=np.uint32)
    for k, label in enumerate(classes):
        rank[index[label]] = k
    return np.array(classes, dtype=y.dtype), rank[indices]


def _distinct_numbers(y: NDArray[Any]) -> tuple[NDArray[np.generic], NDArray[np.uint32]] | None:
    """Do so for few numbers, two distinct ones, or whole ones of a small range; None for others."""
    if len(y) <= FEW:
        classes, indices = np.unique(y, return_inverse=True)
        return classes, indices.astype(np.uint32)
    low, high = y.min(), y.max()
    is_high = y == high
    if low == high or np.count_nonzero(is_high) + np.count_nonzero(y == low) == len(y):
        pair = np.array([low, high], dtype=y.dtype)[int(low == high) :]
        return pair, (is_high & (low != high)).astype(np.uint32)
    if not float(high) - float(low) < max(TABLE, len(y)):
        return None
    if y.dtype.kind == "f" and not (y == np.trunc(y)).all():
        return None
    places = shifted(y, int(low))
    present = np.bincount(places) > 0
    table = np.cumsum(present, dtype=np.uint32) - np.uint32(1)
    offsets = np.flatnonzero(present)
    if y.dtype.kind == "f":
        return (offsets + int(low)).astype(y.dtype), table[places]
    return offsets.astype(y.dtype) + low, table[places]


def shifted(y: NDArray[np.generic], low: int) -> NDArray[np.int64]:
    """Return y - low as int64; the caller knows that the differences are small."""
    if y.dtype.kind == "f":  # float16 rounds the differences of its own numbers
        return np.asarray(y.astype(np.float64) - low, dtype=np.int64)
    if y.dtype == np.uint64 and low > 0:
        return np.asarray(y.astype(np.uint64, copy=False) - np.uint64(low), dtype=np.int64)
    return np.asarray(y.astype(np.int64) - low)


def places(y: NDArray[np.generic], classes: NDArray[np.generic]) -> NDArray[np.uint32]:
    """Return the index of each label of y among the sorted ``classes``; their number if it is not there."""
    K = len(classes)
    of_one_kind = (y.dtype.kind in "biuf") == (classes.dtype.kind in "biuf")  # others cannot be compared
    if len(y) <= FEW and of_one_kind:
        at = np.minimum(classes.searchsorted(y), K - 1)
        return np.where(classes[at] == y, at, K).astype(np.uint32)
    index = dict(zip(classes.tolist(), range(K), strict=True))
    indices = np.empty(len(y), dtype=np.uint32)
    for piece in pieces(len(y), COST):
        labels = y[piece].tolist()
        indices[piece] = np.fromiter(map(index.get, labels, repeat(K)), dtype=np.uint32, count=len(labels))
    return indices
