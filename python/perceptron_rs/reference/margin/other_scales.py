"""What to do when a problem is undecided in its own scale: the same question where it is easier.

Whether a plane separates depends neither on the scale of single columns nor, with a bias, on how it counts in
the norm. So the columns are scaled by powers of two, and the augmented problem is solved as the one with a
free bias. A plane that is found there is certified here; weights that prove that there is none stay a proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.certificate import Lengths, dual_integers, lower_end
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.margin.proof import prove
from perceptron_rs.reference.margin.wolfe import Found, Work, nearest_point
from perceptron_rs.settings import Solution

#: A relative gap that leaves room for rounding; more is not needed to separate.
ENOUGH = 1e-3


def decide_elsewhere(
    problem: MarginProblem, lengths: Lengths, solution: Solution, best: Found, tol: float, work: Work
) -> Solution:
    """Return a solution that is decided, if one of the other problems is; else the given one."""
    if problem.bias == "augmented" and (problem.y == problem.y[0]).all():
        # All on one side of a plane that the features have no part in.
        coef = np.zeros(problem.d)
        lower, half = lower_end(problem, lengths, coef, float(problem.y[0]) / 2.0)
        return {**solution, "status": "separable", "lower": lower, "coef": coef, "intercept": half}
    for other in _others(problem, best):
        if not work.left():
            break
        there = nearest_point(other, max(tol, ENOUGH), "margin", None, work)
        if there.zero:
            proved = refuted(other, there.numbers, there.a)
            if proved is not None:
                if other.groups > problem.groups:
                    halves = proved["dual_weights"].astype(np.float64) * 2.0**-54
                    numbers, k = dual_integers(problem, proved["support"], halves)
                    proved["support"], proved["dual_weights"] = numbers, k
                return {**proved, "coef": solution["coef"], "intercept": solution["intercept"]}
        coef, b = raw_plane(other, there.v)
        if not coef.any() and not b:
            continue
        lower, b = lower_end(problem, lengths, coef, b)
        if lower > 0.0:
            return {**solution, "status": "separable", "lower": lower, "coef": coef, "intercept": b}
    return solution


def _others(problem: MarginProblem, best: Found) -> Iterator[MarginProblem]:
    if best.lower > 0.0:
        yield problem  # it was left at the first plane that seemed to separate
    unit = _column_units(problem)
    if problem.bias == "augmented":
        for scale in (None, unit):
            yield MarginProblem(problem.rows, problem.labels, "free", problem.survey, scale)
    yield MarginProblem(problem.rows, problem.labels, problem.bias, problem.survey, unit)


def _column_units(problem: MarginProblem) -> Floats:
    """Return for each column the power of two that brings its range (without a bias: its values) near 1."""
    x = problem.rows.dense(np.arange(problem.n))
    low, high = x.min(axis=0), x.max(axis=0)
    size = np.maximum(np.abs(low), np.abs(high)) if problem.bias == "none" else high / 2.0 - low / 2.0
    shifts = [max(-1000, min(1000, -math.frexp(float(value))[1])) if value > 0.0 else 0 for value in size]
    return np.array([math.ldexp(1.0, shift) for shift in shifts])


def refuted(problem: MarginProblem, numbers: NDArray[np.int64], a: Floats) -> Solution | None:
    """Return the solution that no plane separates, if the rows prove it."""
    proof = prove(problem, numbers, a)
    if proof is None:
        return None
    proved, positive = proof
    support, k = dual_integers(problem, numbers[positive], a[positive])
    solution = solution_of("non_separable", -math.inf, -math.inf, np.zeros(problem.d), 0.0, support, k)
    solution["proof"] = proved
    return solution


def raw_plane(problem: MarginProblem, v: Floats) -> tuple[Floats, float | None]:
    """Return raw weights whose largest is in [1/2, 1), and the intercept if v decides it."""
    w = v[: problem.d] * problem.unit
    b = None
    if problem.bias == "none":
        b = 0.0
    if problem.bias == "augmented":
        b = float(v[problem.d]) * problem.constant
    return powered(w, b)


def powered(w: Floats, b: float | None) -> tuple[Floats, float | None]:
    """Multiply by the power of two that brings the largest into [1/2, 1)."""
    largest = float(np.abs(w).max(initial=0.0 if b is None else abs(b)))
    if largest == 0.0 or not math.isfinite(largest):
        return np.zeros(len(w)), None if b is None else 0.0
    power = -math.frexp(largest)[1]
    w = np.array([arith.times_power(float(number), power) for number in w]) + 0.0
    return w, None if b is None else arith.times_power(b, power) + 0.0


def solution_of(
    status: str,
    lower: float,
    upper: float,
    coef: Floats,
    b: float,
    numbers: NDArray[np.int64],
    k: NDArray[np.int64],
) -> Solution:
    """Return a solution whose other entries are still blank."""
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
