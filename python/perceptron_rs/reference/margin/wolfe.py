"""The nearest point of the hulls, by Wolfe's method on a working set that passes over the rows enlarge.

The inner loop, `run`, makes major cycles on the working set until no row of it violates the plane by much.

- Problem: the v of least length in the hull of the u_i (with a free bias, in the difference of the hulls).
- Update rule: passes over ever denser samples add the rows that violate the present plane most to the
  working set; there the method runs to a tolerance before the next pass.
- Given: tolerance of the relative gap, how many passes and major cycles at most, whether separability
  suffices.
- Result: the plane of the best lower end, the weights of the best upper end, and why it stopped.
- Paper: Wolfe 1976, Finding the nearest point in a polytope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.corral import Corral
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.margin.working import WorkingSet, price, strides

#: v counts as 0 below this part of the mean square of a row.
ZERO = 1e-28
#: Rows that are added after one look at the scores of the working set.
BATCH = 15
#: Corrections in a row, and major cycles in a row that do not shorten v.
REFINEMENTS, STALLS = 4, 20


@dataclass
class Work:
    """What was done; a step is a pass, a major cycle or a sweep."""

    max_steps: int
    passes: int = 0
    rows_scored: int = 0
    majors: int = 0
    refinements: int = 0
    sweeps: int = 0

    def left(self) -> bool:
        """Whether there are steps left."""
        return self.passes + self.majors + self.sweeps < self.max_steps


def run(working: WorkingSet, corral: Corral, tau: float, work: Work) -> None:
    """Run the method on the working set to a tolerance."""
    everywhere = np.arange(len(working.numbers))
    refined, stalled, best = 0, 0, math.inf
    while work.left():
        s = working.scores(everywhere, corral.v)
        own = s[corral.places]
        level = corral.levels(own)
        violation = np.empty(len(level))
        spread = 0.0
        for g in range(len(level)):
            violation[g] = level[g] - s[working.group == g].min()
            members = own[corral.group == g]
            spread = spread + float(members.max() - members.min())
        total, square = arith.total(violation), corral.square
        if total <= tau * square or square <= ZERO * corral.sigma or not math.isfinite(square):
            break
        if spread > 0.25 * total and refined < REFINEMENTS:
            corral.refine()
            work.refinements += 1
            refined += 1
            continue
        refined = 0
        stalled = stalled + 1 if square >= best else 0
        best = min(best, square)
        excess = level[working.group] - s
        excess[corral.places] = 0.0
        group = int(np.argmax(violation))
        first = int(np.argmax(np.where(working.group == group, excess, -math.inf)))
        threshold = 0.1 * float(excess[first])
        if stalled > STALLS or not excess[first] > 0.0:
            break
        near = np.flatnonzero(excess > threshold)
        near = near[near != first]
        near = near[np.argsort(-excess[near], kind="stable")][:BATCH]
        _add(corral, first, work)
        while len(near) and work.left():
            level = corral.levels(working.scores(corral.places, corral.v))
            excess_near = level[working.group[near]] - working.scores(near, corral.v)
            excess_near[np.isin(near, corral.places)] = 0.0
            next_ = int(np.argmax(excess_near))
            if not excess_near[next_] > threshold:
                break
            _add(corral, int(near[next_]), work)
            near = np.delete(near, next_)
    corral.refine()
    work.refinements += 1


def _add(corral: Corral, place: int, work: Work) -> None:
    work.majors += 1
    if corral.major(place):
        corral.minor()


#: Inner tolerance at strides above 1.
COARSE = 1e-2
#: Rounds without a better end after which the method stops.
PATIENCE = 8
FEWEST_ADDED, MOST_ADDED = 32, 1000
EPSILON = 2.0**-52


@dataclass
class Found:
    """The best that was found: a plane, and convex weights of rows."""

    v: Floats
    lower: float
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    a: Floats = field(default_factory=lambda: np.zeros(0))
    square: float = math.inf
    zero: bool = False


def nearest_point(problem: MarginProblem, tol: float, goal: str, start: Found | None, work: Work) -> Found:
    """Run the method until the gap is closed, v is 0, nothing improves or no steps are left."""
    working = WorkingSet(problem)
    numbers = np.arange(0, problem.n, -(-problem.n // 4096))
    v = _mean(problem, numbers)
    best = Found(v, -math.inf)
    if start is None and not work.left():
        working.add(np.array(problem.firsts()))
        _keep_weights(best, Corral(working, list(range(problem.groups)), np.ones(problem.groups)))
        return best
    corral: Corral | None = None
    most = min(max(problem.size, FEWEST_ADDED), MOST_ADDED)
    steps = strides(problem)
    if start is not None:
        working.add(start.numbers)
        corral = Corral(working, list(range(len(start.numbers))), start.a)
        work.majors += len(start.numbers)
        corral.minor()
        v, steps, best = corral.v, [1], start
    for stride in steps:
        last = stride == 1
        tightened, rounds, factor = 0, 0, 1.0
        while True:
            if not work.left() and corral is not None:
                _keep_weights(best, corral)
                best.v = v if best.lower == -math.inf else best.v
                return best
            seen = price(problem, stride, v)
            work.passes += 1
            work.rows_scored += len(seen.numbers)
            level, square = np.full(problem.groups, math.inf), math.inf
            gap = math.inf
            if corral is not None:
                level, least = _levels(problem, corral, seen.least, v)
                square = corral.square
            if last:
                if corral is None:
                    least, square = seen.least, arith.inner(v, v)
                lower = (
                    arith.total(least) / (problem.groups * arith.square_root(square))
                    if square > 0
                    else -math.inf
                )
                better = lower > best.lower
                if better:
                    best.v, best.lower = v, lower
                if corral is not None:
                    better = _keep_weights(best, corral) or better
                    upper = arith.square_root(best.square) / problem.groups
                    gap = (upper - best.lower) / upper if upper > 0.0 else math.inf
                    rounds = 0 if better else rounds + 1
                    floor = math.inf  # at 0, nothing is left to be won
                    if square > 0.0:
                        floor = 8.0 * EPSILON * arith.square_root(corral.sigma) / arith.square_root(square)
                    if gap <= tol or gap <= floor or rounds >= PATIENCE:
                        return best
                if goal == "separable" and best.lower > 0.0 and corral is not None:
                    return best
            slack = 0.3 * (tol if last else max(tol, COARSE)) * square / problem.groups
            limits = level if corral is None else level - slack
            added = seen.violators(limits, most, working.inside)
            if len(added) == 0:
                if not last or tightened == 2:
                    break
                tightened += 1
                factor = factor * 0.01
            else:
                working.add(added)
            if corral is None:
                # The row of each group with the lowest score, which was added first.
                starts = [int(np.argmax(working.group == g)) for g in range(problem.groups)]
                corral = Corral(working, starts, np.ones(problem.groups))
            tau = COARSE if not last else factor * max(0.1 * tol, min(0.1, 0.03 * gap))
            run(working, corral, tau, work)
            if not math.isfinite(corral.square):
                return best
            v = corral.v
            if corral.square <= ZERO * corral.sigma:
                _keep_weights(best, corral)
                best.zero = True
                return best
    return best


def _mean(problem: MarginProblem, numbers: NDArray[np.int64]) -> Floats:
    """Return the sum over the groups of the mean of the sampled rows."""
    v = np.zeros(problem.size)
    for g, first in enumerate(problem.firsts()):
        chosen = numbers[problem.group[numbers] == g]
        if len(chosen) == 0:
            chosen = np.array([first])
        part = np.zeros(problem.size)
        for number in chosen:
            part = arith.axpy(float(problem.y[number]), problem.read(np.array([number]))[0], part)
        v = v + part / len(chosen)
    return v


def _levels(problem: MarginProblem, corral: Corral, seen: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return the mean score of the members of each group, and the least score seen in it, theirs included."""
    s = problem.scores(corral.working.numbers[corral.places], v)
    level, least = np.empty(problem.groups), seen.copy()
    for g in range(problem.groups):
        own = s[corral.group == g]
        level[g] = arith.total(own) / len(own)
        least[g] = min(float(least[g]), float(own.min()))
    return level, least


def _keep_weights(best: Found, corral: Corral) -> bool:
    square = corral.square
    if square >= best.square:
        return False
    best.square, best.a = square, corral.a.copy()
    best.numbers = corral.working.numbers[corral.places]
    return True
