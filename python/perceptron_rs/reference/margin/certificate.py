"""Rigorous ends of an interval for the margin, for the very floats that are returned.

All rows are scored by the dot product of the contract, whose error is bounded by the rows' lengths; those
that could be the least of their class once more in doubled precision. An upper end comes from convex
weights that are integers over 2^53. No directed rounding: bounds are enlarged instead.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.problem import MarginProblem, scale_of

#: Denominator of the dual weights.
DENOMINATOR = 2**53
#: More than underflow can take from a sum of squares, relative to numbers below 1.
TINY = 2.0**-1000
#: More than a length can lose by underflow.
LEAST = 2.0**-1073


class Lengths:
    """Bounds of ``||x_i||`` for all rows, in the scale of the problem."""

    def __init__(self, problem: MarginProblem) -> None:
        slack = 1.0 + 2.0 * arith.gamma(problem.d // 8 + 8)
        # In the scale of the rows alone: next to the constant coordinate they may be tiny.
        shift = scale_of(problem.survey.largest)
        squares = problem.squares(2.0**shift) * slack + (problem.d + 1) * TINY
        bounds = np.sqrt(squares) * (1.0 + 4.0 * arith.UNIT)
        #: The largest of the raw rows, rounded up; infinite only if it exceeds all floats.
        longest = float(bounds.max(initial=0.0))
        self.radius = times_power_up(longest, -shift) if problem.survey.largest > 0.0 else 0.0
        back = arith.times_power(1.0, problem.shift - shift)
        self.bounds = bounds if back == 1.0 else bounds * back + LEAST


class Checked:
    """Scores of a plane on all rows with bounds of their errors."""

    def __init__(self, problem: MarginProblem, lengths: Lengths, w: Floats) -> None:
        self.problem, self.lengths, self.w = problem, lengths, w
        everything = np.arange(problem.n)
        padded = np.append(w, 0.0) if problem.bias == "augmented" else w
        self.scores = problem.scores(everything, padded)
        self.norm = norm_ends(w, 0.0)[1]
        d = problem.d
        lost = (d + 2) * 2.0**-1073 * (1.0 + problem.survey.largest)
        self.errors = lengths.bounds * self.norm * (arith.gamma(d // 8 + 6) * arith.SLACK) + lost

    def nearest(self, y: float) -> NDArray[np.int64]:
        """Return the rows with sign y that could have the least score of them."""
        floor = self.scores - self.errors
        reach = (self.scores + self.errors)[self.problem.y == y].min(initial=math.inf)
        return np.flatnonzero((self.problem.y == y) & (floor <= reach))


def precise(problem: MarginProblem, numbers: NDArray[np.int64], w: Floats, b: float) -> tuple[Floats, Floats]:
    """Return ``y_i (<w, x_i> + b)`` in doubled precision, and bounds of the errors."""
    d = problem.d
    x = problem.rows.dense(numbers) * problem.unit
    total, size = arith.Twofold((len(numbers),)), np.zeros(len(numbers))
    for j in range(d):
        total.add_product(x[:, j], w[j])
        size = size + np.abs(x[:, j] * w[j])
    total.add(np.array(b))
    value = problem.y[numbers] * total.value
    square = arith.gamma(d + 2) * arith.gamma(d + 2) * 2.0
    size = size * (1.0 + 2.0 * arith.gamma(d + 2)) + abs(b)
    error = (arith.UNIT * np.abs(value) + square * size) * arith.SLACK + (d + 2) * (4.0 * arith.LOST)
    return value, error


def norm_ends(w: Floats, b: float) -> tuple[float, float]:
    """Return bounds of ``sqrt(||w||^2 + b^2)`` from below and above."""
    total = arith.Twofold()
    for number in (*w, b):
        total.add_product(np.array(number), np.array(number))
    square, terms = float(total.value), len(w) + 1
    # Two floats down and up are more than the last rounding; next to nothing is lost of the others, unless
    # there are 10^8 of them.
    lost = 2.0 * arith.gamma(terms + 1) * arith.gamma(terms + 1) * square * arith.SLACK
    lost = lost + terms * (2.0 * arith.LOST)
    low = max(arith.down(arith.down(square)) - lost, 0.0)
    high = arith.up(arith.up(square)) + lost
    return max(arith.down(arith.square_root(low)), 0.0), arith.up(arith.square_root(high))


def times_power_down(low: float, exponent: int) -> float:
    """Return ``low * 2^exponent``, or a smaller number that is a float."""
    raw = arith.times_power(low, exponent)
    if math.isinf(raw):
        return arith.down(math.inf)
    return raw if raw >= arith.SMALLEST_NORMAL else max(arith.down(raw), 0.0)


def times_power_up(high: float, exponent: int) -> float:
    """Return ``high * 2^exponent``, or a larger number that is a float."""
    raw = arith.times_power(high, exponent)
    return raw if raw >= arith.SMALLEST_NORMAL else arith.up(raw)


def lower_end(problem: MarginProblem, lengths: Lengths, w: Floats, b: float | None) -> tuple[float, float]:
    """Return a certified lower end for a plane, and its intercept; -inf if it may not separate.

    With b None, the intercept half way between the classes is taken. ``w`` and ``b`` are raw; the
    largest of ``w`` is near 1.
    """
    checked = Checked(problem, lengths, w)
    scale = 2.0**problem.shift
    sides = [checked.nearest(y) for y in (1.0, -1.0)]
    if b is None:
        least = [float(precise(problem, side, w, 0.0)[0].min()) for side in sides]
        b = ((least[1] - least[0]) / 2.0) / scale + 0.0
    if not math.isfinite(b) or not math.isfinite(b * scale):
        return -math.inf, b
    low = math.inf
    for side in sides:
        value, error = precise(problem, side, w, b * scale)
        low = min(low, float((value - error).min(initial=math.inf)))
    low = arith.down(low)
    if not low > 0.0:
        return -math.inf, b
    norm = norm_ends(w, b if problem.bias == "augmented" else 0.0)[1]
    lower = times_power_down(arith.down(low / norm), -problem.shift)
    return (lower if lower > 0.0 else -math.inf), b


def dual_integers(
    problem: MarginProblem, numbers: NDArray[np.int64], a: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of positive weight, ascending, and weights that sum to 2^53 in each group."""
    order = np.argsort(numbers, kind="stable")
    order = order[a[order] > 0.0]
    numbers, a = numbers[order], a[order]
    k = np.maximum(np.floor(a * float(DENOMINATOR)), 1.0).astype(np.int64)
    for g in range(problem.groups):
        own = np.flatnonzero(problem.group[numbers] == g)
        rest = DENOMINATOR
        for i in own:
            rest -= int(k[i])
        k[own[np.argmax(k[own])]] += rest
    return numbers, k


def upper_end(problem: MarginProblem, numbers: NDArray[np.int64], k: NDArray[np.int64]) -> float:
    """Return the length of the point with these weights, over the number of groups, rounded up."""
    total = arith.Twofold((problem.size,))
    for number, weight in zip(numbers, k, strict=True):
        x = problem.read(np.array([number]))[0]
        total.add_product(np.float64(weight) * problem.y[number], x)
    value, m = np.abs(total.value), len(numbers) + 1
    reach = max(problem.survey.largest * 2.0**problem.shift, problem.constant)
    square = arith.gamma(m) * arith.gamma(m) * 2.0
    error = (arith.UNIT * value + square * (float(DENOMINATOR) * problem.groups * reach)) * arith.SLACK
    bound = (value + (error + m * (4.0 * arith.LOST))) * (1.0 + 4.0 * arith.UNIT)
    high = norm_ends(bound * 2.0**-53, 0.0)[1]
    return times_power_up(arith.up(high / problem.groups), -problem.shift)
