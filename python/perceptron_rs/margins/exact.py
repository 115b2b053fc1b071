"""Numbers as integers times powers of two, and linear systems solved exactly: plain Python, for `verify`.

Nothing here is used by the engines, and nothing of theirs is used here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, isqrt
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

__all__ = ["Matrix", "Row", "integers", "solve", "square_root_floor"]

#: Column numbers (None: all) and whole numbers: a row is these times 2**exponent.
Row = tuple[list[int] | None, list[int]]
_BLOCK = 1 << 16
_PRIME = 2**127 - 1


def integers(values: NDArray[Any]) -> tuple[list[int], int]:
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


class Matrix:
    """The rows of X as exact numbers, with the values that the estimator reads: see the README on storage."""

    def __init__(self, X: Any) -> None:
        if issparse(X):
            matrix = csr_matrix(X).copy()
            matrix.sum_duplicates()
            self._values, self._matrix = _readable(matrix.data), matrix
            self.shape: tuple[int, int] = matrix.shape
        else:
            values = np.asarray(X)
            if values.ndim != 2:
                raise ValueError(f"X must have two dimensions, got the shape {values.shape}")
            self._values, self._matrix = _readable(values), None
            self.shape = values.shape
        if self._values.dtype.kind == "f" and not np.isfinite(self._values).all():
            raise ValueError("X must be finite; such examples have no margin")

    def row(self, number: int) -> tuple[Row, int]:
        """Return one row and its exponent."""
        if self._matrix is None:
            numbers, exponent = integers(self._values[number])
            return (None, numbers), exponent
        begin, end = self._matrix.indptr[number : number + 2]
        numbers, exponent = integers(self._values[begin:end])
        return (self._matrix.indices[begin:end].tolist(), numbers), exponent

    def rows(self) -> Iterator[tuple[Row, int]]:
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


def _readable(values: NDArray[Any]) -> NDArray[Any]:
    """Return values in the type that the estimator reads: integers beyond 32 bits become float64 there."""
    if values.dtype.kind in "biu" and (
        values.size == 0 or (int(values.min()) >= -(2**31) and int(values.max()) < 2**31)
    ):
        return values
    return values.astype(np.float64)


def product(row: Row, weights: list[int]) -> int:
    """Return the inner product of a row and integers, without the exponents."""
    columns, numbers = row
    if columns is None:
        return sum(map(mul, numbers, weights))
    return sum(map(mul, numbers, map(weights.__getitem__, columns)))


def square_root_floor(value: Fraction, bits: int = 64) -> Fraction:
    """Return a number not above the root of ``value``, with about as many correct bits."""
    shift = 2 * bits + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def solve(matrix: list[list[int]], right: list[int]) -> list[Fraction] | None:
    """Return the only solution x of ``matrix x = right``, None if there is none or more than one.

    Dixon's method: eliminate modulo a prime, lift the solution of as many independent rows as there are
    unknowns to higher powers of the prime, read fractions off, and put them into every row.
    """
    unknowns = len(matrix[0])
    factors = _eliminate(matrix)
    if factors is None:
        return None
    chosen = factors[0]
    square, residual = [matrix[i] for i in chosen], [right[i] for i in chosen]
    lifted, modulus, attempt = [0] * unknowns, 1, 1
    # By Hadamard and Cramer, numerators and denominators are below this; then they are found for certain.
    bound = max(1, *(abs(value) for value in right))
    for row in square:
        bound *= isqrt(sum(map(mul, row, row)) + 1) + 1
    steps = 0
    while True:
        digit = _solve_modulo(factors, residual)
        lifted = [x + modulus * digit_x for x, digit_x in zip(lifted, digit, strict=True)]
        modulus *= _PRIME
        steps += 1
        residual = [
            (r - sum(map(mul, row, digit))) // _PRIME for r, row in zip(residual, square, strict=True)
        ]
        final = modulus > 2 * bound * bound
        if steps == attempt or final:
            attempt = 2 * attempt
            solution = _fractions(lifted, modulus)
            if solution is not None and _solves(matrix, right, *solution):
                numerators, denominator = solution
                return [Fraction(x, denominator) for x in numerators]
            if final:
                return None


def _eliminate(matrix: list[list[int]]) -> tuple[list[int], list[list[int]]] | None:
    """Return independent rows and their triangular factors modulo the prime; None if columns depend.

    (Columns that depend modulo the prime alone are taken for dependent; that has a chance of 2**-120.)
    """
    unknowns = len(matrix[0])
    rows = [[value % _PRIME for value in row] for row in matrix]
    order = list(range(len(rows)))
    for column in range(unknowns):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        order[column], order[pivot] = order[pivot], order[column]
        inverse = pow(rows[column][column], -1, _PRIME)
        tail = rows[column][column + 1 :]
        for i in range(column + 1, len(rows)):
            row = rows[i]
            if row[column]:
                factor = row[column] * inverse % _PRIME
                row[column] = factor
                row[column + 1 :] = [
                    (a - factor * b) % _PRIME for a, b in zip(row[column + 1 :], tail, strict=True)
                ]
    return order[:unknowns], rows[:unknowns]


def _solve_modulo(factors: tuple[list[int], list[list[int]]], right: list[int]) -> list[int]:
    """Solve by the triangular factors: first the lower one (its diagonal is 1), then the upper one."""
    rows = factors[1]
    size = len(rows)
    middle: list[int] = []
    for i in range(size):
        middle.append((right[i] - sum(map(mul, rows[i], middle))) % _PRIME)
    answer = [0] * size
    for i in reversed(range(size)):
        rest = sum(map(mul, rows[i][i + 1 :], answer[i + 1 :]))
        answer[i] = (middle[i] - rest) * pow(rows[i][i], -1, _PRIME) % _PRIME
    return answer


def _fractions(lifted: list[int], modulus: int) -> tuple[list[int], int] | None:
    """Return numerators and a common denominator, each below the root of half the modulus."""
    limit = isqrt(modulus // 2)
    denominator = 1
    for value in lifted:
        value = value * denominator % modulus
        if min(value, modulus - value) <= limit:
            continue
        more = _denominator(value, modulus, limit)
        if more is None or denominator * more > limit:
            return None
        denominator *= more
    numerators = []
    for value in lifted:
        value = value * denominator % modulus
        value = value - modulus if value > modulus // 2 else value
        numerators.append(value)
    return numerators, denominator


def _denominator(value: int, modulus: int, limit: int) -> int | None:
    """Return the denominator of the small fraction that equals ``value`` modulo ``modulus``."""
    a, b, s, t = modulus, value, 0, 1
    while b > limit:
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    if not 0 < abs(t) <= limit or gcd(b, t) != 1:
        return None
    return abs(t)


def _solves(matrix: list[list[int]], right: list[int], numerators: list[int], denominator: int) -> bool:
    return all(
        sum(map(mul, row, numerators)) == value * denominator
        for row, value in zip(matrix, right, strict=True)
    )
