"""Sparse examples: the three arrays of a CSR matrix, read in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.rows.dense import Dense, Row, check_layout, check_storage


@dataclass(frozen=True)
class Csr:
    """Rows of a sparse matrix; row i is stored at ``indptr[i] ... indptr[i+1] - 1``."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    n_columns: int
    canonical: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""
        return len(self.indptr) - 1, self.n_columns

    def __getitem__(self, number: int) -> Row:
        row = slice(self.indptr[number], self.indptr[number + 1])
        return Row(self.indices[row], self.values[row].astype(np.float64))

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dot products of the rows with these numbers."""
        numbers = numbers.astype(np.int64)
        start = self.indptr[numbers].astype(np.int64)
        length = self.indptr[numbers + 1] - start
        line = np.repeat(np.arange(len(numbers)), length)
        # Entry e of the chosen rows, laid end to end, is stored as far behind the start of its
        # row as it stands behind the first of them.
        first = np.cumsum(length) - length
        stored = np.arange(len(line)) + (start - first)[line]
        return arith.sparse_dot(len(numbers), line, self.indices[stored], self.values[stored], w)

    def dense(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the rows with these numbers, as float64 and in full."""
        out = np.zeros((len(numbers), self.n_columns))
        for line, number in zip(out, numbers, strict=True):
            x = self[number]
            line[x.columns] = x.values
        return out

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Add ``c`` times one row to ``w``."""
        columns, values = self[number]
        w[columns] = arith.axpy(c, values, w[columns])


def csr_rows(indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_columns: int) -> Csr:
    """Wrap the three arrays of a CSR matrix without copying them.

    Parameters
    ----------
    indptr : int32 or int64 array of shape (n + 1,)
    indices : array of shape (m,) and of the same type
    values : array of shape (m,)
        float64, float32, int8, uint8, int16, uint16 or int32.
    n_columns : int

    Returns
    -------
    Csr
        Its ``canonical`` is False if the columns of a row are not sorted and unique: such rows
        can be looked at, but neither learnt from nor scored.

    Raises
    ------
    TypeError
        If an array has another type.
    ValueError
        If the three arrays are not those of a matrix with ``n_columns`` columns.
    """
    check_storage("values", values, n_axes=1)
    kinds = [(array.dtype, array.ndim) for array in (indptr, indices)]
    if kinds[0] != kinds[1] or kinds[0] not in [(np.dtype(kind), 1) for kind in (np.int32, np.int64)]:
        raise TypeError(
            "indptr and indices must both be int32 or both int64 vectors, "
            f"got {indptr.dtype} and {indices.dtype}; convert them first"
        )
    check_layout("indptr", indptr, n_axes=1)
    check_layout("indices", indices, n_axes=1)
    if len(indices) != len(values):
        raise ValueError(f"indices and values must have equal lengths, got {len(indices)} and {len(values)}")
    if len(indptr) == 0 or indptr[0] != 0:
        raise ValueError(f"indptr must start with 0, got {indptr[:1].tolist()}; rebuild the matrix")
    if (indptr[1:] < indptr[:-1]).any():
        row = int(np.argmax(indptr[1:] < indptr[:-1]))
        raise ValueError(f"indptr must not decrease, but does after row {row}; rebuild the matrix")
    if indptr[-1] != len(indices):
        raise ValueError(f"indptr must end with {len(indices)}, the number of entries, got {indptr[-1]}")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_columns):
        wrong = int(np.argmax((indices < 0) | (indices >= n_columns)))
        raise ValueError(
            f"indices must be from 0 to {n_columns - 1}, got {indices[wrong]} at entry {wrong}; "
            "rebuild the matrix"
        )
    rising = indices[1:] > indices[:-1]
    row_starts = indptr[1:-1]
    rising[row_starts[(row_starts > 0) & (row_starts < len(indices))] - 1] = True
    return Csr(indptr, indices, values, n_columns, canonical=bool(rising.all()))


#: Examples in any storage.
Rows: TypeAlias = Dense | Csr
