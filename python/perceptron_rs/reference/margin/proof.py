"""Proofs that no plane separates: weights of a few rows that combine to 0, exactly.

The weights of an affinely independent corral are the only solution of a small linear system. ``pair``: one
row has both labels. ``verified`` (Rump 1999): an approximate inverse bounds the distance of the computed
weights from the exact ones, which are therefore positive. ``rational``: each
equation becomes one of integers by a power of two; then they are solved without fractions (Bareiss). The
compiled engine computes the same signs modulo primes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.problem import MarginProblem

#: Largest cost of a solution, in bit operations of a kind.
LARGEST_COST = 1e10


def signs(system: NDArray[np.float64], groups: int) -> NDArray[np.int64] | None:
    """Return the signs of the unknowns; None if there is no solution, or not one alone, or it costs too much.

    The last ``groups`` equations have the right side 1, the others 0.
    """
    m, k = system.shape
    exponents = [[math.frexp(float(value))[1] for value in row if value != 0.0] for row in system]
    bits = max(max(own) - min(own) + 53 for own in exponents)
    if float(k) * float(k) * float(m) * (float(k) * float(bits + 8)) > LARGEST_COST or m < k:
        return None
    rows = []
    for j, row in enumerate(system):
        lowest = min(exponents[j]) - 53
        right = _scaled(1.0, lowest) if j >= m - groups else 0
        rows.append([*(_scaled(float(value), lowest) for value in row), right])
    previous = 1
    for j in range(k):
        p = next((i for i in range(j, m) if rows[i][j] != 0), None)
        if p is None:
            return None
        rows[j], rows[p] = rows[p], rows[j]
        pivot = rows[j]
        for i, row in enumerate(rows):
            if i != j:
                rows[i] = [(pivot[j] * b - row[j] * a) // previous for a, b in zip(pivot, row, strict=True)]
        previous = pivot[j]
    if any(row[k] != 0 for row in rows[k:]):
        return None
    unknowns = [(rows[i][k] > 0) - (rows[i][k] < 0) for i in range(k)]
    flip = 1 if previous > 0 else -1
    return np.array([sign * flip for sign in unknowns])


def _scaled(value: float, exponent: int) -> int:
    """Return ``value / 2^exponent``, an integer."""
    numerator, denominator = value.as_integer_ratio()
    shift = -exponent - (denominator.bit_length() - 1)
    return numerator << shift if shift >= 0 else numerator >> -shift


#: Largest system that is inverted.
LARGEST_INVERSE = 1500


def prove(
    problem: MarginProblem, numbers: NDArray[np.int64], a: Floats
) -> tuple[str, NDArray[np.bool_]] | None:
    """Return how the rows prove that the hulls meet, and which of them take part; None if they do not."""
    x = problem.rows.dense(numbers)
    y = problem.y[numbers]
    everyone = np.ones(len(numbers), dtype=np.bool_)
    if len(numbers) == 2 and y[0] != y[1] and (x[0] == x[1]).all():
        return "pair", everyone
    system = _system(problem, x, numbers)
    if len(system) == len(numbers) <= LARGEST_INVERSE and _verified(problem, system, a):
        return "verified", everyone
    of_unknowns = signs(system, problem.groups)
    if of_unknowns is None or (of_unknowns < 0).any():
        return None
    return "rational", of_unknowns > 0


def _system(problem: MarginProblem, x: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Return the equations as rows: those of the columns, each once and none of zeros; one for each group."""
    u = problem.y[numbers][:, np.newaxis] * x + 0.0
    if problem.bias == "augmented":
        u = np.column_stack([u, problem.y[numbers]])
    u = u[:, (u != 0.0).any(axis=0)]
    rows = list(dict.fromkeys(map(tuple, u.T.tolist())))
    rows += [tuple((problem.group[numbers] == g).astype(np.float64)) for g in range(problem.groups)]
    return np.array(rows)


def _verified(problem: MarginProblem, system: Floats, a: Floats) -> bool:
    """Whether the exact solution lies close enough to ``a`` to be positive."""
    k, groups = len(system), problem.groups
    # Each equation by a power of two of its own; what underflows is no proof.
    scaled = system.copy()
    for row, out in zip(system, scaled, strict=True):
        shift = max(-1000, min(1000, -math.frexp(float(np.abs(row).max()))[1]))
        out[:] = row * 2.0**shift
        if (out * 2.0**-shift != row).any():
            return False
    right = np.zeros(k)
    right[k - groups :] = scaled[k - groups :].max(axis=1)
    inverse = _inverse(scaled)
    if inverse is None:
        return False
    x = a.copy()
    for _ in range(2):
        r, _error = _remainder(scaled, x, right)
        x = x + arith.dot(inverse, r)
    r, error = _remainder(scaled, x, right)
    lengths = np.abs(inverse)
    slack = 1.0 + 4.0 * arith.gamma(k + 8)
    off = arith.dot(lengths, np.abs(r) + error) * slack
    sums = np.zeros(k)
    for j in range(k):
        sums = sums + np.abs(scaled[:, j])
    beta = arith.dot(lengths, sums) * (arith.gamma(k // 8 + 8) * slack) + k * (2.0 * arith.UNIT)
    for j in range(k):
        column = arith.dot(inverse, scaled[:, j])
        column[j] = column[j] - 1.0
        beta = beta + np.abs(column)
    largest = float((beta * slack).max())
    if not largest < 0.5:
        return False
    bound = float(off.max()) / (1.0 - largest) * slack
    return bool((x > bound).all())


def _remainder(system: Floats, x: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return ``right - system x`` in doubled precision, and bounds of its errors."""
    total = arith.Twofold((len(system),))
    total.add(right)
    size = right.copy()
    for j in range(len(x)):
        total.add_product(system[:, j], -x[j])
        size = size + np.abs(system[:, j]) * abs(x[j])
    m = len(x) + 2
    square = arith.gamma(m) * arith.gamma(m) * 2.0
    error = (arith.UNIT * np.abs(total.value) + square * size) * (1.0 + 4.0 * arith.gamma(m))
    return total.value, error + m * (4.0 * arith.LOST)


def _inverse(matrix: Floats) -> Floats | None:
    """Return an approximate inverse, by elimination with the largest pivot."""
    k = len(matrix)
    work = np.hstack([matrix, np.eye(k)])
    for j in range(k):
        p = j + int(np.argmax(np.abs(work[j:, j])))
        if work[p, j] == 0.0:
            return None
        work[[j, p]] = work[[p, j]]
        work[j] = work[j] / work[j, j]
        factors = work[:, j].copy()
        factors[j] = 0.0
        work = work - factors[:, np.newaxis] * work[j]
    inverse = np.ascontiguousarray(work[:, k:])
    return inverse if np.isfinite(inverse).all() else None
