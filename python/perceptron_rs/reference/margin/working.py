"""The working set: rows copied out of the matrix, on which the nearest point is computed.

Pricing finds rows for it: passes over every stride-th row of the matrix, for rows that violate the plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.problem import MarginProblem

#: About so many rows have a part in the centre.
SAMPLE = 4096


class WorkingSet:
    """Signed rows ``u``; with a free bias shifted by a centre, which changes no margin.

    Sparse rows are not shifted: they would be sparse no more.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.numbers = np.zeros(0, dtype=np.int64)
        self.group = np.zeros(0, dtype=np.int64)
        self.u = np.zeros((0, problem.size))
        self.inside = np.zeros(problem.n, dtype=bool)
        # Whether rows are worth keeping in full: a fact of the values, not of their storage.
        is_well_filled = 10.0 * problem.survey.nonzeros >= float(problem.n) * float(problem.d)
        self.centre = self._centre() if problem.bias == "free" and is_well_filled else None

    def _centre(self) -> Floats:
        numbers = np.arange(0, self.problem.n, -(-self.problem.n // SAMPLE))
        c = np.zeros(self.problem.size)
        for number in numbers:
            c = arith.axpy(1.0, self.problem.read(np.array([number]))[0], c)
        return c / len(numbers)

    def add(self, numbers: NDArray[Any]) -> None:
        """Copy rows; none of them may be there already."""
        x = self.problem.read(numbers)
        if self.centre is not None:
            x = x - self.centre
        self.u = np.vstack([self.u, self.problem.y[numbers][:, np.newaxis] * x])
        self.numbers = np.concatenate([self.numbers, numbers])
        self.group = np.concatenate([self.group, self.problem.group[numbers]])
        self.inside[numbers] = True

    def scores(self, places: NDArray[Any], v: Floats) -> Floats:
        """Return ``<u, v>`` of the rows at these places."""
        return arith.dot(self.u[places], v)


#: The sparsest sample has so many rows at least, and this many for each coordinate.
MIN_ROWS, ROWS_PER_COORDINATE = 2000, 10


class ScoringPass:
    """Scores of some rows, and the least of each group."""

    def __init__(self, problem: MarginProblem, numbers: NDArray[Any], v: Floats) -> None:
        self.numbers = numbers
        self.scores = problem.scores(numbers, v)
        self.group = problem.group[numbers]
        groups = range(problem.groups)
        self.least = np.array([self.scores[self.group == g].min(initial=np.inf) for g in groups])

    def violators(self, limits: Floats, most: int, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return for each group the rows with the lowest scores below its limit, of equal scores one."""
        rows = []
        for g, limit in enumerate(limits):
            places = np.flatnonzero((self.group == g) & (self.scores < limit) & ~inside[self.numbers])
            places = places[np.argsort(self.scores[places], kind="stable")]
            _, firsts = np.unique(self.scores[places], return_index=True)
            rows.append(self.numbers[places[firsts[:most]]])
        return np.concatenate(rows)


def strides(problem: MarginProblem) -> list[int]:
    """Return the strides of the passes, the largest first."""
    least = max(ROWS_PER_COORDINATE * problem.size, MIN_ROWS)
    strides = [1]
    while problem.n // (8 * strides[0]) >= least:
        strides.insert(0, 8 * strides[0])
    return strides


def price(problem: MarginProblem, stride: int, v: Floats) -> ScoringPass:
    """Score every stride-th row, and the first of each group."""
    numbers = np.arange(0, problem.n, stride)
    extra = [first for first in problem.firsts() if first % stride]
    return ScoringPass(problem, np.concatenate([numbers, np.array(sorted(extra), dtype=np.int64)]), v)
