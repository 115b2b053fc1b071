"""The three arrays of a CSR matrix, in the order of the engines: indptr, indices, values."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: Rows as they are stored: dense ``rows``, or ``rows_indptr``, ``rows_indices`` and ``rows_values``.
StoredRows: TypeAlias = dict[str, NDArray[Any]]
#: Their names among stored rows.
STORED_CSR = ("rows_indptr", "rows_indices", "rows_values")

Starts = TypeVar("Starts", bound=np.integer)
Index = TypeVar("Index", bound=np.integer)
Value = TypeVar("Value", bound=np.generic)

CsrTriple: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def csr_of(stored: StoredRows) -> CsrTriple:
    """Return the arrays of stored rows that are sparse."""
    indptr, indices, values = (stored[name] for name in STORED_CSR)
    return indptr, indices, values


def stored_csr(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], values: NDArray[np.generic]
) -> StoredRows:
    """Return the arrays as stored rows."""
    return dict(zip(STORED_CSR, (indptr, indices, values), strict=True))


def row_numbers(indptr: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def csr_slice(
    indptr: NDArray[Starts], indices: NDArray[Index], values: NDArray[Value], begin: int, end: int
) -> tuple[NDArray[Starts], NDArray[Index], NDArray[Value]]:
    """Return the rows from ``begin`` to ``end``, whose entries are not copied."""
    ends = np.asarray(indptr[begin : end + 1])
    entries = slice(int(ends[0]), int(ends[-1]))
    return ends - ends[0], indices[entries], values[entries]


def csr_renumbered(
    indptr: NDArray[Starts], columns: NDArray[np.integer], values: NDArray[Value]
) -> tuple[NDArray[Starts], NDArray[Starts], NDArray[Value]]:
    """Return rows whose entries have other columns, sorted by these; without the entries of column -1."""
    kept = np.flatnonzero(columns >= 0)
    counts = np.zeros(len(columns) + 1, dtype=indptr.dtype)
    np.cumsum(columns >= 0, out=counts[1:])
    ends, columns = counts[indptr], columns[kept]
    order = np.argsort(row_numbers(ends) * (int(columns.max(initial=0)) + 1) + columns)
    return ends, columns[order].astype(indptr.dtype), values[kept[order]]


def csr_to_dense(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], values: NDArray[Value], columns: int
) -> NDArray[Value]:
    """Return a matrix with all its zeros."""
    dense = np.zeros((len(indptr) - 1, columns), dtype=values.dtype)
    dense[row_numbers(indptr), indices] = values
    return dense


def without_duplicates(
    indptr: NDArray[Starts], indices: NDArray[Index], values: NDArray[Value]
) -> tuple[NDArray[Starts], NDArray[Index], NDArray[Value] | NDArray[np.float64]]:
    """Return a copy whose rows have sorted, distinct columns.

    Entries of one column are added in their stored order, in float64; SciPy adds them in an order of its own,
    on which sums of floats depend.
    """
    rows = row_numbers(indptr)
    width = int(indices.max(initial=0)) + 1
    if len(indptr) * width < 1 << 62 and indices.min(initial=0) >= 0:  # one sort, which finds runs in order
        order = np.argsort(rows * width + indices, kind="stable")
    else:
        order = np.lexsort((indices, rows))
    rows, indices, values = rows[order], indices[order], values[order]
    first = np.ones(len(indices), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (indices[1:] != indices[:-1])
    if first.all():
        return indptr, indices, values
    sums = np.zeros(np.count_nonzero(first))
    with np.errstate(over="ignore", invalid="ignore"):  # found again as an overflow in training
        np.add.at(sums, np.cumsum(first) - 1, values.astype(np.float64))
    ends = np.zeros(len(indptr), dtype=indptr.dtype)
    np.cumsum(np.bincount(rows[first], minlength=len(indptr) - 1), out=ends[1:])
    return ends, indices[first], sums
