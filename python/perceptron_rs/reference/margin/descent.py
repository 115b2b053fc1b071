"""Dual coordinate descent for the hard margin: the second engine, for sparse rows with many support vectors.

Problem
    Minimise ``||w||^2 / 2`` subject to ``y_i (w . x_i + b) >= 1``; the margin is then ``1 / ||w||``.
Update rule
    ``g = y_i (w . x_i + b) - 1``, ``alpha_i = max(0, alpha_i - g / (||x_i||^2 + c^2))``; w and b follow: a
    perceptron update with the exact step, and clipping. The constant feature c makes b a weight like the
    others. For a free bias a sweep ends with ``b += c^2 sum alpha_i y_i``, a step of the method of
    multipliers, which takes the price of b away in the limit.
Given
    Rows, labels, a power of two that the rows are scaled by, which gap between the ends of the interval
    suffices, and how many sweeps at most.
Result
    The plane of the best lower end and the dual weights of the best upper end seen by a check, both as floats
    whose ends somebody else must certify.
Paper
    Anlauf, Biehl 1989 (the Adatron), eq. 9; Hsieh, Chang, Lin, Keerthi, Sundararajan 2008 (dual coordinate
    descent), algorithm 3; Hestenes 1969, Powell 1969 (method of multipliers).
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.margin.wolfe import Found
from perceptron_rs.reference.order import permutation

#: c^2 relative to the median squared row, for a free bias. Larger values need more sweeps to make
#: ``w`` follow, smaller ones more sweeps to find b. (Relative to the largest row a few long documents
#: among short ones made it 20 times slower.)
CONSTANT = 0.05

#: A row without weight whose ``g`` is above this leaves the sweeps until the next check.
FAR = 0.5


class Descent:
    """A run that can be continued; a row has the activation ``scale * (w . x_i) + b``.

    The columns of the problem must have one unit.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.scale = problem, math.ldexp(1.0, problem.shift)
        squares = problem.squares(self.scale)
        #: Square of the constant feature.
        self.constant = problem.constant * problem.constant
        if problem.bias == "free":
            self.constant = CONSTANT * _median(squares)
        #: Squared length of each row with the constant feature.
        self.squares = squares + self.constant
        self.now_w, self.now_b = np.zeros(problem.d), 0.0
        self.weights = np.zeros(problem.n)
        #: Rows to visit, ascending.
        self.active = np.arange(problem.n)
        self.next_check = 1
        #: Of the best lower end.
        self.w, self.b = np.zeros(problem.d), 0.0
        #: Of the best upper end; not normalised.
        self.alpha = np.zeros(problem.n)
        #: Both ends of the margin of the scaled rows, in floating point.
        self.lower, self.upper = -math.inf, math.inf
        self.sweeps = self.visits = self.checks = 0
        #: Whether a number left the finite range; the best so far stays.
        self.overflowed = False

    def run(self, gap: float, sweeps: int, visits: int, separates: bool) -> bool:
        """Go on until the gap relative to the upper end is reached; return whether it is.

        If only that is asked, stop when a plane separates; stop after so many sweeps in all, or when each row
        was visited about so often.
        """
        most = visits * self.problem.n

        def left() -> bool:
            return self.sweeps < sweeps and self.visits < most

        while not self._reached(gap, separates) and not self.overflowed and left():
            self._sweep()
            if self.sweeps >= self.next_check or not left():
                self._check()
                self.next_check = self.sweeps + max(self.sweeps // 10, 1)
        return self._reached(gap, separates)

    def support(self) -> int:
        """Return the number of rows with weight at the best upper end."""
        return int(np.count_nonzero(self.alpha > 0.0))

    def found(self, most: int) -> Found | None:
        """Return the best so far with the heaviest rows, at most so many, heaviest first.

        None if there is no plane, or no row of a group.
        """
        problem = self.problem
        numbers = np.flatnonzero(self.alpha > 0.0)
        numbers = numbers[np.argsort(-self.alpha[numbers], kind="stable")][:most]
        alpha, group = self.alpha[numbers], problem.group[numbers]
        sums = np.array([arith.total(alpha[group == g]) for g in range(problem.groups)])
        if (sums == 0.0).any() or not self.w.any():
            return None
        v = self.w.copy()
        if problem.bias == "augmented":
            v = np.append(v, self.b / problem.constant)
        return Found(v, self.lower, numbers, alpha / sums[group])

    def _reached(self, gap: float, separates: bool) -> bool:
        return self.lower > 0.0 and (separates or self.upper - self.lower <= gap * self.upper)

    def _sweep(self) -> None:
        """Visit the active rows in a new order."""
        problem, rows = self.problem, self.problem.rows
        order = self.active[permutation(len(self.active), seed=0, epoch=self.sweeps, partition=0)]
        self.sweeps += 1
        self.visits += len(order)
        for i in order:
            if self.squares[i] == 0.0:
                continue  # no step changes its score
            y = problem.y[i]
            g = y * (self.scale * rows.dots(np.array([i]), self.now_w)[0] + self.now_b) - 1.0
            old = self.weights[i]
            if old == 0.0 and g >= 0.0:
                continue
            moved = old - g / self.squares[i]
            new = moved if moved > 0.0 else 0.0
            step = (new - old) * y
            if not math.isfinite(step * self.scale):
                self.overflowed = True
                return
            self.weights[i] = new
            rows.axpy(int(i), float(step * self.scale), self.now_w)
            self.now_b = float(self.now_b + step * self.constant)
        if problem.bias == "free":
            self.now_b = self.now_b + self.constant * arith.total(self.weights * problem.y)

    def _check(self) -> None:
        """Score all rows, keep the better ends, and choose the rows to visit."""
        problem = self.problem
        v = self.now_w
        if problem.bias == "augmented":
            v = np.append(v, self.now_b / problem.constant)
        scores = problem.scores(np.arange(problem.n), v)
        self.checks += 1
        if not (np.isfinite(v).all() and math.isfinite(self.now_b) and np.isfinite(scores).all()):
            self.overflowed = True
            return
        lower, upper = self._lower_end(scores, v), self._upper_end()
        if lower > self.lower:
            self.lower, self.w, self.b = lower, self.now_w.copy(), self.now_b
        if upper < self.upper:
            self.upper, self.alpha = upper, self.weights.copy()
        b = self.now_b if problem.bias == "free" else 0.0
        self.active = np.flatnonzero((self.weights > 0.0) | (scores + problem.y * b - 1.0 <= FAR))

    def _lower_end(self, scores: Floats, v: Floats) -> float:
        """Of the plane at hand, from the scores."""
        problem = self.problem
        least = [float(scores[problem.group == group].min()) for group in range(problem.groups)]
        norm = problem.groups * arith.square_root(arith.inner(v, v))
        return arith.total(np.array(least)) / norm if norm > 0.0 else -math.inf

    def _upper_end(self) -> float:
        """Of the dual weights at hand, each group brought to the sum 1."""
        problem = self.problem
        sums = [arith.total(self.weights[problem.group == group]) for group in range(problem.groups)]
        if not (min(sums) > 0.0 and max(sums) < math.inf):
            return math.inf
        v, constant = np.zeros(problem.d), 0.0
        for i in np.flatnonzero(self.weights > 0.0):
            part = float(self.weights[i] / sums[problem.group[i]] * problem.y[i])
            problem.rows.axpy(int(i), part * self.scale, v)
            constant = constant + part * problem.constant
        if problem.bias == "augmented":
            v = np.append(v, constant)
        return arith.square_root(arith.inner(v, v)) / problem.groups


def _median(squares: Floats) -> float:
    """Of the numbers that are not 0; the lower one of two in the middle."""
    numbers = np.sort(squares[squares > 0.0])
    return float(numbers[(len(numbers) - 1) // 2]) if len(numbers) else 0.0
