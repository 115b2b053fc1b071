"""Numbers as integers times powers of two, in plain Python.

Nothing here is used by the engines, and nothing of theirs is used here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from operator import mul

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.rows.real_numbers import numbers_in

#: Column numbers (None: all) and whole numbers: a row is these times 2**exponent.
ExactRow = tuple[list[int] | None, list[int]]
_BLOCK = 1 << 16


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
            self._values, self._matrix = _readable(matrix.data), matrix
            self.shape: tuple[int, int] = matrix.shape
        else:
            values = numbers_in(X)
            if values.ndim != 2:
                raise ValueError(f"X must have two dimensions, got the shape {values.shape}")
            self._values, self._matrix = _readable(values), None
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
            step = max(1, _BLOCK * n // max(1, ends[-1]))
            for start in range(0, n, step):
                stop = min(n, start + step)
                first = ends[start]
                numbers, exponent = integers(self._values[first : ends[stop]])
                places = columns[first : ends[stop]].tolist()
                for i in range(start, stop):
                    part = slice(ends[i] - first, ends[i + 1] - first)
                    yield (places[part], numbers[part]), exponent
            return
        step = max(1, _BLOCK // max(1, d))
        for start in range(0, n, step):
            block = self._values[start : start + step]
            numbers, exponent = integers(block.reshape(-1))
            for i in range(len(block)):
                yield (None, numbers[i * d : (i + 1) * d]), exponent


def _readable(values: NDArray[np.generic]) -> NDArray[np.generic]:
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
