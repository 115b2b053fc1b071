"""Linear systems with whole numbers: solved exactly, or their solution enclosed."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from operator import mul

import numpy as np

_PRIME = 2**127 - 1
_UNIT = 2.0**-53
_FRACTION_BITS = 300  # behind the binary point, of an approximate solution
_FEW_UNKNOWNS = 24  # unknowns; below, an exact solution is as quick
#: Independent rows, the triangular factors of them modulo the prime, and the inverses of the pivots.
Factors = tuple[list[int], list[list[int]], list[int]]


def has_positive_solution(matrix: list[list[int]], right: list[int]) -> bool:
    """Whether it is proved that ``matrix x = right`` has a solution with all x > 0."""
    if len(matrix) == len(matrix[0]) >= _FEW_UNKNOWNS and _encloses_positive(matrix, right):
        return True
    weights = solve_exactly(matrix, right)
    return weights is not None and min(weights) > 0


def _encloses_positive(matrix: list[list[int]], right: list[int]) -> bool:
    """Prove it for a square system by an approximate inverse B (Krawczyk, Rump); False if that fails.

    If ``||I - B A|| <= beta < 1``, then A is regular, and for any x the solution is no further from it than
    ``||B|| ||right - A x|| / (1 - beta)``. The residual is exact. B A is computed in floats, with a bound of
    its rounding errors that holds for any order of the sums.
    """
    size = len(matrix)
    # Rows are scaled by powers of two; x solves the same system.
    shifts = [max(abs(value) for value in row).bit_length() for row in matrix]
    lines = zip(matrix, shifts, strict=True)
    A = np.array([[value / (1 << shift) for value in row] for row, shift in lines])
    try:
        B = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(B).all():
        return False
    growth = np.abs(B) @ np.abs(A)
    defect = np.abs(np.eye(size) - B @ A) + (size + 8) * 4 * _UNIT * (growth + 1)
    beta = float(defect.sum(axis=1).max()) * (1 + 4 * size * _UNIT)
    norm = float(np.abs(B).sum(axis=1).max()) * (1 + 4 * size * _UNIT)
    if not beta < 0.5:
        return False
    x, target = [0] * size, [value << _FRACTION_BITS for value in right]
    for _ in range(40):
        residual = [
            Fraction(b - sum(map(mul, row, x)), 1 << shift)
            for b, row, shift in zip(target, matrix, shifts, strict=True)
        ]
        largest = max(abs(value) for value in residual)
        error = largest * Fraction(norm) / Fraction(1 - beta)
        if error < min(x):
            return True
        unit = 1 << max(0, int(largest).bit_length() - 60)
        x = [
            a + round(d) * unit
            for a, d in zip(x, B @ [float(value / unit) for value in residual], strict=True)
        ]
    return False


def solve_exactly(matrix: list[list[int]], right: list[int]) -> list[Fraction] | None:
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


def _eliminate(matrix: list[list[int]]) -> Factors | None:
    """Return independent rows and their triangular factors modulo the prime; None if columns depend.

    (Columns that depend modulo the prime alone are taken for dependent; that has a chance of 2**-120.)
    """
    unknowns = len(matrix[0])
    rows = [[value % _PRIME for value in row] for row in matrix]
    order, inverses = list(range(len(rows))), []
    for column in range(unknowns):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        order[column], order[pivot] = order[pivot], order[column]
        inverse = pow(rows[column][column], -1, _PRIME)
        inverses.append(inverse)
        tail = rows[column][column + 1 :]
        for i in range(column + 1, len(rows)):
            row = rows[i]
            if row[column]:
                factor = row[column] * inverse % _PRIME
                row[column] = factor
                row[column + 1 :] = [
                    (a - factor * b) % _PRIME for a, b in zip(row[column + 1 :], tail, strict=True)
                ]
    return order[:unknowns], rows[:unknowns], inverses


def _solve_modulo(factors: Factors, right: list[int]) -> list[int]:
    """Solve by the triangular factors: first the lower one (its diagonal is 1), then the upper one."""
    _, rows, inverses = factors
    size = len(rows)
    middle: list[int] = []
    for i in range(size):
        middle.append((right[i] - sum(map(mul, rows[i], middle))) % _PRIME)
    answer = [0] * size
    for i in reversed(range(size)):
        rest = sum(map(mul, rows[i][i + 1 :], answer[i + 1 :]))
        answer[i] = (middle[i] - rest) * inverses[i] % _PRIME
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
