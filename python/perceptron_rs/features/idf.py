"""Tf-idf: columns weigh the more, the fewer texts have them, as scikit-learn's ``TfidfTransformer`` says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import OwnArrays
from perceptron_rs.choices import Norm
from perceptron_rs.features.text import HashedRows, normalized

#: As model files call it, beside the kinds of scalers.
KIND = "tf-idf"


@dataclass(frozen=True, eq=False)
class Idf(OwnArrays):
    """What ``TfidfTransformer`` has learnt: a weight for each column.

    Parameters
    ----------
    norm : {"l1", "l2"} or None
    columns : ndarray of shape (m + 1,), int64
        The columns that texts had, which rise, and last the number of all columns.
    idf : ndarray of shape (m + 1,), float64
        Their weights, and last that of all other columns.
    """

    norm: Norm
    columns: NDArray[np.int64]
    idf: NDArray[np.float64]
    kind: str = KIND
    offset: None = None
    of_texts: ClassVar[bool] = True

    def applied(self, X: MatrixLike) -> MatrixLike:
        """Return counts of n-grams (`CsrArrays`) times the weights, normalized."""
        known = self.columns[:-1]
        if 8 * len(X.indices) < X.shape[1]:
            at = np.searchsorted(known, X.indices)
            weights = self.idf[np.where(self.columns[at] == X.indices, at, len(known))]
        else:  # a table is sooner read
            every = np.full(X.shape[1], self.idf[-1])
            every[known] = self.idf[:-1]
            weights = every[X.indices]
        rows = normalized(HashedRows(X.data * weights, X.indices, X.indptr), self.norm)
        return replace(X, data=rows.data)

    def again(self) -> IdfFit:
        """Return what learns it from other texts."""
        return IdfFit(self.norm)

    def difference(self, other: Idf) -> str | None:
        """Return in words where the weights of other texts are others."""
        if self.columns.tobytes() == other.columns.tobytes() and self.idf.tobytes() == other.idf.tobytes():
            return None
        return "the tf-idf weights of the model are not those of the data"

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return what a file holds."""
        return {"idf_columns": self.columns, "idf": self.idf}


class IdfFit:
    """Learns the weights of columns from one block of texts after another."""

    of_texts = True

    def __init__(self, norm: Norm) -> None:
        self._norm, self._n, self._width = norm, 0, 0
        self._columns: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._counts: NDArray[Any] = np.zeros(0)

    def add(self, X: MatrixLike) -> None:
        """Count the texts that have each column."""
        self._n, self._width = self._n + X.shape[0], X.shape[1]
        if 8 * len(X.indices) < self._width:
            columns, counts = np.unique(X.indices, return_counts=True)
        else:
            numbers = np.bincount(X.indices)
            columns = np.flatnonzero(numbers)
            counts = numbers[columns]
        every = np.concatenate([self._columns, columns])
        self._columns, place = np.unique(every, return_inverse=True)
        self._counts = np.bincount(place, weights=np.concatenate([self._counts, counts]))

    def scale(self) -> Idf:
        """Return what was learnt, rounded as scikit-learn rounds."""
        counts = np.append(self._counts, 0) + 1.0
        idf = np.log((self._n + 1) / counts) + 1.0
        return Idf(self._norm, np.append(self._columns, self._width), idf)
