"""Some rows of X, kept in their own storage: a matrix ``rows``, or the three arrays of a CSR matrix."""

from __future__ import annotations

from functools import reduce
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows, csr_of, csr_slice, csr_to_dense, stored_csr
from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.rows.storage import STORED

Value = TypeVar("Value", bound=np.generic)


def select_rows(stored: StoredRows, numbers: NDArray[np.generic]) -> StoredRows:
    """Return the rows with these numbers, as copies."""
    if "rows" in stored:
        return {"rows": portable_values(stored["rows"][numbers])}
    indptr = stored["rows_indptr"]
    starts = indptr[numbers].astype(np.int64)
    lengths = indptr[numbers + 1] - starts
    ends = np.cumsum(lengths)
    # Entry e of the chosen rows is stored as far behind the start of its row as it comes behind
    # the first of them.
    places = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
    return {
        "rows_indptr": np.concatenate([[0], ends]).astype(indptr.dtype),
        "rows_indices": stored["rows_indices"][places],
        "rows_values": portable_values(stored["rows_values"][places]),
    }


def portable_values(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return values in a type that SciPy and model files have: numbers of 16 bits as float32."""
    is_half = values.dtype == np.float16 or values.dtype not in STORED
    return values.astype(np.float32) if is_half else values


def slice_rows(stored: StoredRows, begin: int, end: int) -> StoredRows:
    """Return the rows from ``begin`` to ``end``, as views where that is possible."""
    if "rows" in stored:
        return {"rows": stored["rows"][begin:end]}
    return stored_csr(*csr_slice(*csr_of(stored), begin, end))


def read_only(array: NDArray[Value]) -> NDArray[Value]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def matrix_of(stored: StoredRows, columns: int) -> MatrixLike:
    """Return stored rows as a matrix for users: read-only, for it may share memory with the X of a fit."""
    if "rows" in stored:
        return read_only(stored["rows"])
    from scipy.sparse import csr_matrix

    arrays = portable_values(stored["rows_values"]), stored["rows_indices"], stored["rows_indptr"]
    parts = tuple(map(read_only, arrays))
    return csr_matrix(parts, shape=(len(parts[2]) - 1, columns))


def select_columns(engine: Engine, stored: StoredRows, numbers: NDArray[np.generic], columns: int) -> Rows:
    """Return the columns with these numbers of stored rows, as the engine has them."""
    if "rows" in stored:
        return engine.dense_rows(np.ascontiguousarray(stored["rows"][:, numbers]))
    if columns > len(stored["rows_indices"]):  # scipy counts all columns: without entries they are one
        used, renamed = np.unique(stored["rows_indices"], return_inverse=True)
        numbers = np.where(np.isin(numbers, used), np.searchsorted(used, numbers), len(used))
        stored, columns = stored | {"rows_indices": renamed}, len(used) + 1
    matrix = matrix_of(stored, columns)[:, numbers].tocsr()
    matrix.sort_indices()
    return engine.csr_rows(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def concatenate_rows(first: StoredRows, *others: StoredRows) -> StoredRows:
    """Return the rows of all, in the form of the first that has any and in a type that holds all."""
    while others and "rows" in first and len(first["rows"]) == 0:
        first, *others = others  # type: ignore[assignment]
    if not others:
        return first
    if "rows" in first:
        columns = first["rows"].shape[1]
        return {"rows": _concatenated([first["rows"], *(_dense(other, columns) for other in others)])}
    parts = [first, *map(_sparse, others)]
    ends = [part["rows_indptr"].astype(np.int64) for part in parts]
    before = np.cumsum([0, *(own[-1] for own in ends)])
    indptr = np.concatenate(
        [ends[0], *(own[1:] + start for own, start in zip(ends[1:], before[1:], strict=False))]
    )
    indices = _concatenated([part["rows_indices"] for part in parts])
    index = np.dtype(np.int64) if indptr[-1] > np.iinfo(np.int32).max else indices.dtype
    return {
        "rows_indptr": indptr.astype(index),
        "rows_indices": indices.astype(index, copy=False),
        "rows_values": _concatenated([part["rows_values"] for part in parts]),
    }


def _concatenated(arrays: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    # As if they were joined one by one: the type of three is another one at times.
    return np.concatenate(arrays, dtype=reduce(np.promote_types, [array.dtype for array in arrays]))


def _dense(stored: StoredRows, columns: int) -> NDArray[np.generic]:
    if "rows" in stored:
        return stored["rows"]
    return csr_to_dense(*csr_of(stored), columns)


def _sparse(stored: StoredRows) -> StoredRows:
    if "rows" not in stored:
        return stored
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(portable_values(stored["rows"]))
    return {"rows_indptr": matrix.indptr, "rows_indices": matrix.indices, "rows_values": matrix.data}
