"""Which solver looks for the nearest points, and how one hands over to the other."""

from __future__ import annotations

from perceptron_rs.reference.margin.descent import Descent
from perceptron_rs.reference.margin.inner import Work
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.margin.wolfe import Found, nearest_point

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
