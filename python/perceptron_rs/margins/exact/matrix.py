"""Numbers as integers times powers of two, in plain Python; numbers that would be rounded are refused.

Nothing here is used by the engines, and nothing of theirs is used here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from perceptron_rs.arrays.likes import MatrixLike, has_dtype, has_rows_by_place, is_of_columns, n_dimensions
from perceptron_rs.rows.real_numbers import numbers_in, refuse_lazy
from perceptron_rs.rows.storage import without_index

#: Column numbers (None: all) and whole numbers: a row is these times 2**exponent.
ExactRow = tuple[list[int] | None, list[int]]
_NUMBERS_AT_ONCE = 1 << 16


def integers(values: NDArray[np.generic]) -> tuple[list[int], int]:
    """Return whole numbers k and an exponent e with ``values == k * 2**e``, exactly."""
    if values.dtype.kind in "biu":
        return values.astype(object).tolist() if values.dtype.kind == "u" else values.astype(int).tolist(), 0
    fraction, exponent = np.frexp(values.astype(np.float64))
    whole = np.ldexp(fraction, 53).astype(np.int64)
    there = whole != 0
    if not there.any():
        return [0] * len(values), 0
    low = np.where(there, whole & -whole, 1)  # the lowest bit that is set
    trailing = np.frexp(low.astype(np.float64))[1] - 1
    whole >>= trailing
    exponent = np.where(there, exponent - 53 + trailing, np.iinfo(np.int32).max)
    least = int(exponent.min())
    shift = np.where(there, exponent - least, 0)
    if not shift.any():
        return whole.tolist(), least
    return [k << s for k, s in zip(whole.tolist(), shift.tolist(), strict=True)], least


class ExactMatrix:
    """The rows of X as exact numbers, with the values that the estimator reads: see the README on storage."""

    def __init__(self, X: MatrixLike) -> None:
        if issparse(X):
            matrix = csr_matrix(X).copy()
            matrix.sum_duplicates()
            self._values, self._matrix = _as_read(matrix.data), matrix
            self.shape: tuple[int, int] = matrix.shape
        else:
            values = numbers_in(X)
            if values.ndim != 2:
                raise ValueError(f"X must have two dimensions, got the shape {values.shape}")
            self._values, self._matrix = _as_read(values), None
            self.shape = values.shape
        if self._values.dtype.kind == "f" and not np.isfinite(self._values).all():
            raise ValueError("X must be finite; such examples have no margin")

    def row(self, number: int) -> tuple[dict[int, int], int]:
        """Return the numbers of one row that are not 0, by column, and their exponent."""
        if self._matrix is None:
            columns, values = range(self.shape[1]), self._values[number]
        else:
            begin, end = self._matrix.indptr[number : number + 2]
            columns, values = self._matrix.indices[begin:end].tolist(), self._values[begin:end]
        numbers, exponent = integers(values)
        return {column: k for column, k in zip(columns, numbers, strict=True) if k}, exponent

    def rows(self) -> Iterator[tuple[ExactRow, int]]:
        """Yield all rows, each with the exponent of its numbers."""
        n, d = self.shape
        if self._matrix is not None:
            ends = self._matrix.indptr.tolist()
            columns = self._matrix.indices
            step = max(1, _NUMBERS_AT_ONCE * n // max(1, ends[-1]))
            for start in range(0, n, step):
                stop = min(n, start + step)
                first = ends[start]
                numbers, exponent = integers(self._values[first : ends[stop]])
                places = columns[first : ends[stop]].tolist()
                for i in range(start, stop):
                    part = slice(ends[i] - first, ends[i + 1] - first)
                    yield (places[part], numbers[part]), exponent
            return
        step = max(1, _NUMBERS_AT_ONCE // max(1, d))
        for start in range(0, n, step):
            block = self._values[start : start + step]
            numbers, exponent = integers(block.reshape(-1))
            for i in range(len(block)):
                yield (None, numbers[i * d : (i + 1) * d]), exponent


def _as_read(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return values in the type that the estimator reads, which makes integers beyond 32 bits float64."""
    if values.dtype.kind in "biu" and (
        values.size == 0 or (int(values.min()) >= -(2**31) and int(values.max()) < 2**31)
    ):
        return values
    return values.astype(np.float64)


def product(row: ExactRow, weights: list[int]) -> int:
    """Return the inner product of a row and integers, without the exponents."""
    columns, numbers = row
    if columns is None:
        return sum(map(mul, numbers, weights))
    return sum(map(mul, numbers, map(weights.__getitem__, columns)))


def square_root_floor(value: Fraction) -> Fraction:
    """Return a number not above the root of ``value``, with some 64 correct bits."""
    shift = 128 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


_WHOLE = 2**53  # up to here, float64 has every integer


def refuse_rounded(X: MatrixLike, name: str = "X") -> None:
    """Raise ValueError if X, of any form that estimators take, holds a number that is no float64.

    What is no number at all is left to those who read X.
    """
    refuse_lazy(X, name)
    for column, values in _columns_as_they_are(X):
        bad = _rounded(values)
        if bad is None:
            continue
        where = "".join(f" in {kind} {k}," for kind, k in zip(("row", "column"), bad, strict=False)).rstrip(
            ","
        )
        if issparse(X):
            where = f" in entry {bad[0]}"
        elif column is not None:
            where += f", column {column}"
        raise ValueError(
            f"{name} must hold numbers that float64 has exactly, for what is proved would be true of rounded "
            f"ones alone; got {values[bad]!s:.60}{where}. Subtract the same number from a column of "
            f"integers, or scale them, or convert {name} to float64 yourself"
        )


def _columns_as_they_are(X: MatrixLike) -> Iterator[tuple[Any, NDArray[np.generic]]]:
    """Give the numbers of X as they stand, before they have one type: the columns of a frame, or all."""
    if issparse(X):
        data = X.data if X.format in ("csr", "csc", "coo", "bsr", "dia") else X.tocoo().data
        yield None, np.asarray(data).reshape(-1)
    elif has_rows_by_place(X) and n_dimensions(X) == 2:  # pandas
        for j, column in enumerate(X.columns):
            yield repr(column), np.asarray(X.iloc[:, j])
    elif is_of_columns(X):  # polars
        for column in X.columns:
            yield repr(column), np.asarray(X.get_column(column).to_numpy())
    elif hasattr(type(X), "column_names"):  # Arrow
        X = without_index(X)
        for j, column in enumerate(X.column_names):
            yield repr(column), np.asarray(X.column(j))
    else:
        try:
            values = np.asarray(without_index(X))
        except (TypeError, ValueError):  # ragged lists, and what else is no matrix
            return
        if values.dtype.kind == "f" and not has_dtype(X) and (np.abs(values) >= _WHOLE).any():
            values = np.array(X, dtype=object)  # integers beside floats became floats
        yield None, values


def _rounded(values: NDArray[np.generic]) -> tuple[int, ...] | None:
    """Return the place of the first number that is no float64."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind in "iu" and size == 8:
        sizes = np.abs(values).astype(np.uint64)  # -2**63, too: its absolute value overflows to itself
        if (sizes <= _WHOLE).all():
            return None
        lowest = sizes & (~sizes + np.uint64(1))
        bad = sizes // np.maximum(lowest, np.uint64(1)) > _WHOLE
    elif kind == "f" and size > 8:
        with np.errstate(over="ignore", invalid="ignore"):
            bad = (values.astype(np.float64).astype(values.dtype) != values) & ~np.isnan(values)
    elif kind == "O":
        bad = np.array([not _is_float64(value) for value in values.ravel()]).reshape(values.shape)
    else:
        return None
    if not bad.any():
        return None
    return tuple(int(k[0]) for k in np.nonzero(bad)) if bad.ndim else ()


def _is_float64(value: Any) -> bool:
    if isinstance(value, (float, str, bytes)) or value is None:
        return True
    if isinstance(value, np.generic):
        return _rounded(np.asarray(value).reshape(1)) is None
    try:
        near = float(value)
    except OverflowError:
        return False
    except (TypeError, ValueError):
        return True
    try:
        return not np.isfinite(near) or Fraction(value) == Fraction(near)
    except (TypeError, ValueError, OverflowError):
        return bool(value == near)
