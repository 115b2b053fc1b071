"""Sparse matrices: checked before scipy's compiled code sees them, and as CSR arrays.

scipy checks a matrix when it is made, not when somebody assigns to ``indices`` or ``indptr``
afterwards, and its conversions then write out of bounds. Weights become such a matrix where penalties have
left few that are not 0.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import CsrTriple, csr_slice
from perceptron_rs.arrays.likes import MatrixLike, as_users_have, imported
from perceptron_rs.rows.storage import refuse_type, to_stored

#: Types of row and column numbers that the engines take.
_INDICES = (np.dtype(np.int32), np.dtype(np.int64))
#: The arrays of each format, and whether they hold row or column numbers.
_COMPRESSED = {"data": False, "indices": True, "indptr": True}
_FORMAT_PARTS = {
    "csr": _COMPRESSED,
    "csc": _COMPRESSED,
    "bsr": _COMPRESSED,
    "coo": {"data": False, "row": True, "col": True},
    "dia": {"data": False, "offsets": True},
    "lil": {"data": False, "rows": False},
}


@dataclass(frozen=True, slots=True, eq=False)
class CsrArrays:
    """The arrays of a CSR matrix, for code that need not import SciPy, which takes long."""

    data: NDArray[np.generic]
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    shape: tuple[int, int]
    format: str = "csr"

    @classmethod
    def of(
        cls,
        data: NDArray[np.generic],
        indices: NDArray[np.integer],
        indptr: NDArray[np.integer],
        columns: int,
    ) -> CsrArrays:
        """Return rows with indices of one type, as SciPy's are: int32 if that holds entries and columns."""
        index = np.int32 if max(indptr[-1], columns) < 2**31 else np.int64
        places: NDArray[np.integer] = indices.astype(index, copy=False)
        starts: NDArray[np.integer] = indptr.astype(index, copy=False)
        return cls(data, places, starts, (len(indptr) - 1, columns))

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the values."""
        return self.data.dtype

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> CsrArrays:
        """Return some of the rows."""
        lengths = np.diff(self.indptr)
        ends = np.append(0, np.cumsum(lengths[rows], dtype=np.int64))
        if rows.dtype == bool:
            entries = np.repeat(rows, lengths)
        else:
            entries = np.arange(ends[-1]) + np.repeat(self.indptr[rows] - ends[:-1], lengths[rows])
        return CsrArrays.of(self.data[entries], self.indices[entries], ends, self.shape[1])

    def tocsr(self) -> CsrArrays:
        """Return the matrix itself."""
        return self

    def matrix(self) -> MatrixLike:
        """Return the matrix of SciPy."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape, copy=False)

    def canonical_matrix(self) -> MatrixLike:
        """Return the matrix of SciPy, of rows that have sorted, distinct columns."""
        X = self.matrix()
        X.has_sorted_indices = X.has_canonical_format = True
        return X


def csr_view(X: MatrixLike, first: int, last: int) -> CsrArrays:
    """Return rows ``first`` to ``last - 1`` of a CSR matrix, of SciPy or ours, without a copy of entries."""
    indptr, indices, data = csr_slice(X.indptr, X.indices, X.data, first, last)
    return CsrArrays(np.asarray(data), np.asarray(indices), indptr, (len(indptr) - 1, X.shape[1]))


def is_sparse(X: MatrixLike) -> bool:
    """Whether X is a sparse matrix, of SciPy or ours."""
    if type(X) is np.ndarray:
        return False
    issparse = imported("scipy.sparse", "issparse")  # who has one of its matrices has imported it
    return isinstance(X, CsrArrays) or (issparse is not None and bool(issparse(X)))


def checked_format(X: MatrixLike) -> MatrixLike:
    """Check the parts of a sparse matrix, and return it in a form that is safe to convert to CSR.

    The parts of a CSR matrix itself are checked by the engine.
    """
    _check_parts(X)
    refuse_type(np.dtype(X.dtype), "X")
    if X.dtype.kind == "O":
        raise TypeError(
            "X must hold real numbers, got a sparse matrix of objects; convert it with X.astype(float)"
        )
    if X.format == "csr":
        return X
    X = copy.copy(X)  # scipy's own check rebinds its attributes
    if X.format in ("csc", "bsr"):
        X.check_format(full_check=True)
    elif X.format == "coo" and len(X.shape) == 2:
        for name, bound in zip(("row", "col"), X.shape, strict=True):
            index = getattr(X, name)
            if index.shape != X.data.shape:
                raise ValueError("X is a malformed COO matrix: row, col and data must have one length")
            if index.size and not (index.min() >= 0 and index.max() < bound):
                raise ValueError(
                    f"X is a malformed COO matrix: {name} holds {index.min()} to {index.max()}, "
                    f"but the shape is {X.shape}"
                )
    elif X.format == "lil":
        lengths = [len(row) for row in X.rows]
        if len(lengths) != X.shape[0] or lengths != [len(row) for row in X.data]:
            raise ValueError("X is a malformed LIL matrix: rows and data have different lengths")
    elif X.format == "dia":
        n_offsets = len(np.unique(X.offsets))
        if X.data.ndim != 2 or not X.offsets.shape == X.data.shape[:1] == (n_offsets,):
            raise ValueError("X is a malformed DIA matrix: data needs one row for each distinct offset")
    return X


def _check_parts(X: MatrixLike) -> None:
    form = X.format.upper()
    for name, is_index in _FORMAT_PARTS.get(X.format, {}).items():
        part = getattr(X, name)
        if not isinstance(part, np.ndarray):
            raise ValueError(f"X is a malformed {form} matrix: {name} must be an array, got {part!r:.80}")
        if is_index and part.dtype.kind not in "iu":
            raise ValueError(
                f"X is a malformed {form} matrix: {name} must hold integers, got the dtype {part.dtype}"
            )


def csr_arrays(X: MatrixLike) -> CsrTriple:
    """Return (indptr, indices, values) of a CSR matrix in types that the engines take."""
    for name in ("indptr", "indices", "data"):
        if getattr(X, name).ndim != 1:
            raise ValueError(f"X is a malformed CSR matrix: {name} must have one dimension")
    if len(X.indptr) != X.shape[0] + 1:
        raise ValueError(
            f"X is a malformed CSR matrix: indptr has {len(X.indptr)} entries, "
            f"but {X.shape[0]} rows need {X.shape[0] + 1}"
        )
    indices = _index_array(X.indices, "indices", None)
    indptr = _index_array(X.indptr, "indptr", indices.dtype)
    if indptr.dtype != indices.dtype:  # indptr does not fit into int32
        indices = indices.astype(indptr.dtype)
    return indptr, indices, to_stored(X.data)


def _index_array(
    part: NDArray[np.generic], name: str, wanted: np.dtype[np.generic] | None
) -> NDArray[np.generic]:
    """Return index numbers as int32 or int64, of the ``wanted`` one of the two if they fit."""
    is_whole = part.flags.c_contiguous and part.flags.aligned
    if is_whole and part.dtype in _INDICES and (wanted is None or part.dtype == wanted):
        return part
    dtype = part.dtype.newbyteorder("=")
    if dtype not in _INDICES:
        dtype = np.dtype(np.int64)
    if wanted is not None and dtype != wanted:
        fits = np.iinfo(np.int32).min <= part.min() and part.max() <= np.iinfo(np.int32).max
        dtype = wanted if fits else np.dtype(np.int64)
    if dtype == np.int64 and part.dtype.kind == "u" and part.size and part.max() > np.iinfo(np.int64).max:
        raise ValueError(f"X is a malformed CSR matrix: {name} holds {part.max()}")
    return np.require(part.astype(dtype, copy=False), requirements=["C", "A"])


def dense(weights: MatrixLike) -> NDArray[np.generic]:
    """Return weights as an array; the same one, if they are an array."""
    return weights.toarray() if is_sparse(weights) else np.asarray(weights)


def as_sparse(weights: NDArray[np.generic]) -> MatrixLike:
    """Return weights as a CSR matrix, or as an array where scikit-learn prefers these."""
    from scipy.sparse import csr_matrix

    return as_users_have(csr_matrix(weights))
