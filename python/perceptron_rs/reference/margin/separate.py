"""The margin of a data set: a certified interval, the plane, the convex weights, or a proof that there is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Solution
from perceptron_rs.reference import arith
from perceptron_rs.reference.arith import standard
from perceptron_rs.reference.margin.certificate import Lengths, dual_integers, lower_end, upper_end
from perceptron_rs.reference.margin.inner import Work
from perceptron_rs.reference.margin.plane import check_labels
from perceptron_rs.reference.margin.problem import BIASES, Problem, survey
from perceptron_rs.reference.margin.proof import prove
from perceptron_rs.reference.margin.wolfe import Found, nearest_point

__all__ = ["separate"]

Vector = NDArray[np.float64]

#: An upper end below this part of the radius is nothing but rounding.
NOTHING = 1e-13
SOLVERS, GOALS = ("auto", "wolfe", "descent"), ("margin", "separable")


@standard()
def separate(
    rows: Any,
    labels: NDArray[np.uint32],
    *,
    bias: str,
    tol: float,
    budget: int,
    solver: str,
    goal: str,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
) -> Solution:
    """Find the plane of largest margin and an interval that contains that margin.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n examples of d columns.
    labels : uint32 array of shape (n,)
        1 for the positive class, 0 for the negative one.
    bias : {"free", "augmented", "none"}
    tol : float
        Gap of the interval relative to its upper end at which to stop.
    budget : int
        Passes over the rows and major cycles at most.
    solver : {"auto", "wolfe", "descent"}
    goal : {"margin", "separable"}
        "separable": stop at the first plane that separates.
    threads : int

    Returns
    -------
    Solution
    """
    check_labels(rows, labels)
    for name, value, choices in (("bias", bias, BIASES), ("solver", solver, SOLVERS), ("goal", goal, GOALS)):
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    if not (tol > 0.0 and math.isfinite(tol)):
        raise ValueError(f"tol must be positive and finite, got {tol}")
    problem = Problem(rows, labels, bias, survey(rows))
    lengths = Lengths(problem)
    work = Work(budget)
    nothing = np.zeros(0, dtype=np.int64)
    if bias == "free" and (labels == labels[0]).all():
        solution = _solution(problem, "one_class", math.inf, math.inf, np.zeros(problem.d), float(problem.y[0]), nothing, nothing)
    elif problem.found.largest == 0.0 and bias != "augmented":
        firsts = np.array(problem.firsts())
        found = Found(np.zeros(problem.size), -math.inf, firsts, np.ones(len(firsts)), 0.0, zero=True)
        solution = _judge(problem, lengths, found)
    else:
        found = nearest_point(problem, tol, goal, work)
        solution = _judge(problem, lengths, found)
    solution["radius"] = lengths.radius
    solution["solver"] = "wolfe"
    solution["work"] = {
        "passes": work.passes,
        "rows_scored": work.rows_scored,
        "majors": work.majors,
        "refinements": work.refinements,
    }
    return solution


def _judge(problem: Problem, lengths: Lengths, found: Found) -> Solution:
    coef, b = _plane(problem, found.v)
    if found.zero:
        proof = prove(problem, found.numbers, found.a)
        if proof is not None:
            how, positive = proof
            numbers, k = dual_integers(problem, found.numbers[positive], found.a[positive])
            solution = _solution(problem, "non_separable", -math.inf, -math.inf, coef, b or 0.0, numbers, k)
            solution["proof"] = how
            return solution
    numbers, k = dual_integers(problem, found.numbers, found.a)
    upper = upper_end(problem, numbers, k)
    lower = -math.inf
    if coef.any():
        lower, b = lower_end(problem, lengths, coef, b)
    if lower > 0.0:
        status = "separable"
    elif upper <= NOTHING * lengths.radius:
        status = "margin_at_most"
    else:
        status = "undecided"
    return _solution(problem, status, lower, upper, coef, b if b is not None else 0.0, numbers, k)


def _plane(problem: Problem, v: Vector) -> tuple[Vector, float | None]:
    """Return raw weights whose largest is in [1/2, 1), and the intercept if v decides it."""
    w = v[: problem.d] * problem.unit
    b = None
    if problem.bias == "none":
        b = 0.0
    if problem.bias == "augmented":
        b = float(v[problem.d]) * problem.constant
    largest = float(np.abs(w).max(initial=0.0 if b is None else abs(b)))
    if largest == 0.0 or not math.isfinite(largest):
        return np.zeros(problem.d), b
    power = -math.frexp(largest)[1]
    w = np.array([arith.times_power(float(number), power) for number in w]) + 0.0
    return w, None if b is None else arith.times_power(b, power) + 0.0


def _solution(
    problem: Problem,
    status: str,
    lower: float,
    upper: float,
    coef: Vector,
    b: float,
    numbers: NDArray[np.int64],
    k: NDArray[np.int64],
) -> Solution:
    return {
        "status": status,
        "lower": lower,
        "upper": upper,
        "coef": coef,
        "intercept": b,
        "support": numbers,
        "dual_weights": k,
        "radius": 0.0,
        "proof": None,
        "solver": "wolfe",
        "work": {},
    }
