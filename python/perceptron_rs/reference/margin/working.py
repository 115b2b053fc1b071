"""The working set: rows copied out of the matrix, on which the nearest point is computed."""

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
