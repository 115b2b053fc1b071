"""Distinct labels, and which of them each label is; computed in pieces, so that Ctrl-C need not wait.

NumPy sorts all labels in one call, which takes seconds for a million strings; a dictionary also takes less.
"""

from __future__ import annotations

from heapq import merge
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.pieces import pieces

__all__ = ["distinct", "places"]

#: To look at a label takes as long as to look at so many numbers.
COST = 16
_FEW = 512  # of which a search costs less than a dictionary of all classes


class _Numbered(dict[Any, int]):
    """Numbers of labels in the order in which they are asked for."""

    def __missing__(self, label: Any) -> int:
        number = self[label] = len(self)
        return number


def distinct(y: NDArray[np.generic]) -> tuple[NDArray[np.generic], NDArray[np.uint32]]:
    """Return the sorted distinct labels of y and the index of each label among them."""
    index, found = _Numbered(), np.empty(len(y), dtype=np.uint32)
    for piece in pieces(len(y), COST):
        labels = y[piece].tolist()
        found[piece] = np.fromiter(map(index.__getitem__, labels), dtype=np.uint32, count=len(labels))
    known = list(index)
    classes = list(merge(*(sorted(known[piece]) for piece in pieces(len(known), COST))))
    rank = np.empty(len(classes), dtype=np.uint32)
    for k, label in enumerate(classes):
        rank[index[label]] = k
    return np.array(classes, dtype=y.dtype), rank[found]


def places(y: NDArray[np.generic], classes: NDArray[np.generic]) -> NDArray[np.uint32]:
    """Return the index of each label of y among the sorted ``classes``; their number if it is not there."""
    K = len(classes)
    of_one_kind = (y.dtype.kind in "biuf") == (classes.dtype.kind in "biuf")  # others cannot be compared
    if len(y) <= _FEW and of_one_kind:
        at = np.minimum(classes.searchsorted(y), K - 1)
        return np.where(classes[at] == y, at, K).astype(np.uint32)
    index = dict(zip(classes.tolist(), range(K), strict=True))
    found = np.empty(len(y), dtype=np.uint32)
    for piece in pieces(len(y), COST):
        labels = y[piece].tolist()
        found[piece] = np.fromiter(map(index.get, labels, repeat(K)), dtype=np.uint32, count=len(labels))
    return found
