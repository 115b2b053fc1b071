"""The margin of a data set: a certified interval, the plane, the weights, or a proof that there is none.

`solve` says which solver looks for the nearest points, and how one hands over to the other.
"""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.margin.certificate import Lengths, dual_integers, lower_end, upper_end
from perceptron_rs.reference.margin.descent import Descent
from perceptron_rs.reference.margin.other_scales import (
    decide_elsewhere,
    powered,
    raw_plane,
    refuted,
    solution_of,
)
from perceptron_rs.reference.margin.plane import check_signs
from perceptron_rs.reference.margin.problem import BIASES, MarginProblem
from perceptron_rs.reference.margin.wolfe import Found, Work, nearest_point
from perceptron_rs.reference.rows import Rows
from perceptron_rs.settings import Solution

#: A corral costs about the cube of its rows, a sweep the number of entries; so many sweeps are one.
SWEEPS, CORRAL = 600.0, 6.0
#: Gap at which descent hands over, or as many visits of each row if it has not come so far.
NEAR, SOON = 1e-2, 50
#: Visits of each row after which descent gives up.
LATE = 5000
#: Rows from which a corral is built.
MOST_MEMBERS = 4000
EVER = 2**64 - 1


def solve(problem: MarginProblem, solver: str, tol: float, goal: str, work: Work) -> tuple[Found, str]:
    """Return the best that the solver found, and the name of the one that ran last."""
    alone, separable = solver == "descent", goal == "separable"
    # Sweeps come first where they are so much cheaper than a corral of all rows or columns.
    side = float(min(problem.n, problem.size))
    suits_descent = SWEEPS * float(problem.survey.nonzeros) < CORRAL * (side * side * side)
    if solver == "wolfe" or not (alone or suits_descent):
        return nearest_point(problem, tol, goal, None, work), "wolfe"
    descent = Descent(problem)
    reached = False
    if not alone:
        reached = descent.run(max(tol, NEAR), work.max_steps, SOON, separable)
        reached = reached and (tol >= NEAR or separable)
    if alone or (not reached and descent.support() > MOST_MEMBERS):
        reached = descent.run(tol, work.max_steps, EVER if alone else LATE, separable)
    work.passes += descent.checks
    work.rows_scored += descent.checks * problem.n + descent.visits
    work.sweeps += descent.sweeps
    best = descent.found(problem.n if alone or reached else MOST_MEMBERS)
    if best is not None and (alone or reached):
        return best, "descent"
    return nearest_point(problem, tol, goal, best, work), "wolfe"


#: An upper end below this part of the radius is nothing but rounding.
ROUNDING = 1e-13
#: What may still be decided in another scale.
OPEN = ("margin_at_most", "undecided")
SOLVERS, GOALS = ("auto", "wolfe", "descent"), ("margin", "separable")


@standard()
def separate(
    rows: Rows,
    labels: NDArray[np.uint32],
    *,
    bias: str,
    tol: float,
    max_steps: int,
    solver: str,
    goal: str,
    threads: int,
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
    max_steps : int
        Passes over the rows and major cycles at most.
    solver : {"auto", "wolfe", "descent"}
    goal : {"margin", "separable"}
        "separable": stop at the first plane that separates.
    threads : int

    Returns
    -------
    Solution
    """
    check_signs(rows, labels)
    for name, value, choices in (("bias", bias, BIASES), ("solver", solver, SOLVERS), ("goal", goal, GOALS)):
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    if not (tol > 0.0 and math.isfinite(tol)):
        raise ValueError(f"tol must be positive and finite, got {tol}")
    problem = MarginProblem(rows, labels, bias)
    lengths = Lengths(problem)
    work, ran = Work(max_steps), "wolfe"
    nothing = np.zeros(0, dtype=np.int64)
    if bias == "free" and (labels == labels[0]).all():
        solution = solution_of(
            "one_class", math.inf, math.inf, np.zeros(problem.d), float(problem.y[0]), nothing, nothing
        )
    elif problem.survey.largest == 0.0 and bias != "augmented":
        firsts = np.array(problem.firsts())
        best = Found(np.zeros(problem.size), -math.inf, firsts, np.ones(len(firsts)), 0.0, zero=True)
        solution = _judge(problem, lengths, best)
    else:
        best, ran = solve(problem, solver, tol, goal, work)
        solution = _judge(problem, lengths, best)
        if solution["status"] in OPEN:
            solution, ran = decide_elsewhere(problem, lengths, solution, best, tol, work), "wolfe"
    solution["radius"] = lengths.radius
    solution["solver"] = ran
    solution["work"] = {name: count for name, count in asdict(work).items() if name != "max_steps"}
    return solution


def _judge(problem: MarginProblem, lengths: Lengths, best: Found) -> Solution:
    coef, b = raw_plane(problem, best.v)
    if not coef.any() and not b:
        # A direction that is not 0, if there is one: the first row that is not.
        x = problem.y[:, np.newaxis] * problem.rows.dense(np.arange(problem.n))
        coef = powered(x[int(np.argmax(x.any(axis=1)))] + 0.0, None)[0]
    if best.zero:
        solution = refuted(problem, best.numbers, best.a)
        if solution is not None:
            lower, b = (
                lower_end(problem, lengths, coef, b) if b is None and coef.any() else (-math.inf, b or 0.0)
            )
            solution["coef"], solution["intercept"] = coef, b
            return solution
    numbers, k = dual_integers(problem, best.numbers, best.a)
    upper = upper_end(problem, numbers, k)
    lower, b = lower_end(problem, lengths, coef, b) if coef.any() or b else (-math.inf, b or 0.0)
    if lower > 0.0:
        status = "separable"
    else:
        status = "margin_at_most" if upper <= ROUNDING * lengths.radius else "undecided"
    return solution_of(status, lower, upper, coef, b, numbers, k)
