"""Checks a result in exact rational arithmetic, without any code of the engines and their solvers.

Results in the space of a kernel are made with the exact numbers and systems that check them here
(`perceptron_rs.margins.exact`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.errors import naming
from perceptron_rs.margins.exact.matrix import (
    ExactMatrix,
    integers,
    product,
    refuse_rounded,
    square_root_floor,
)
from perceptron_rs.margins.exact.systems import has_positive_solution, solve_exactly
from perceptron_rs.margins.result import STATUSES, MarginResult
from perceptron_rs.rows.real_numbers import refuse_lazy

_ONE = 2**53
_NO_WEIGHTS = "the rows in support have no convex weights that prove inseparability"
_CLOSE = 1 + Fraction(1, 10**9)  # radius and mistake bound are rounded up; further off they are wrong
_TINY = Fraction(1, 2**1060)  # where numbers have few digits left, they may be off by that, too


class VerificationError(ValueError):
    """Raised by `verify` if the result does not follow from the data."""


def verify(result: MarginResult, X: MatrixLike, y: ArrayLike) -> None:
    """Check every claim of a result by exact arithmetic in plain Python.

    No code of the solvers is used. These claims are checked: every row has a distance of at least ``lower``
    from the hyperplane; ``dual_weights`` are weights of rows of X, and their mean is near enough to the
    origin (or those of the two classes near enough to each other) for ``upper``; if "non_separable", the
    equations for weights of the rows ``support`` have a positive solution; ``radius``; the bounds on
    mistakes; and all of this agrees with ``status``. It takes about 100 nanoseconds for each value in X.

    Parameters
    ----------
    result : MarginResult
        Result of `max_margin` or `is_separable`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples. If the result is of a kernel, the kernel values of all pairs, as `kernel_matrix`
        computes them: the claims are about these.
    y : array-like of shape (n_samples,)
        Labels of the examples.

    Raises
    ------
    VerificationError
        If a claim is false. The message says which one.

    See Also
    --------
    hull_weights : Compute the exact weights that prove "non_separable".

    Examples
    --------
    >>> from dataclasses import replace
    >>> from perceptron_rs import max_margin, verify
    >>> X, y = [[0, 0], [2, 0], [0, 4], [2, 4]], [-1, 1, -1, 1]
    >>> result = max_margin(X, y)
    >>> verify(result, X, y)
    >>> verify(replace(result, lower=1.5, upper=2.0), X, y)
    Traceback (most recent call last):
        ...
    perceptron_rs.margins.verification.VerificationError: row 0 is nearer to the plane than lower=1.5
    """
    problem = _Problem(result, X, y)
    _check_form(result, problem)
    if result.kernel is not None:
        _check_kernel(result, problem, X)
        return
    _check_radius(result, problem)
    if result.status == "separable":
        _check_plane(result, problem)
    if result.status == "non_separable":
        _claim(has_positive_solution(*problem.equations()), _NO_WEIGHTS)
    elif result.status != "one_class":
        _check_upper(result, problem)
    _check_bounds(result)


def hull_weights(result: MarginResult, X: MatrixLike, y: ArrayLike) -> list[Fraction]:
    """Compute exact weights of the rows ``support`` that prove that no hyperplane separates the classes.

    Parameters
    ----------
    result : MarginResult
        A result with the status "non_separable".
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples; of a kernel, the kernel values of all pairs.
    y : array-like of shape (n_samples,)
        Labels of the examples.

    Returns
    -------
    list of fractions.Fraction
        A positive weight for each row of ``support``. If the bias is free, those of each class sum to 1,
        and the weighted means of the two classes are equal. Otherwise, all of them sum to 1, and the
        weighted mean of the rows y_i x_i, or y_i (x_i, 1) if the bias is augmented, is 0.

    Raises
    ------
    VerificationError
        If there are no such weights.
    ValueError
        If the status is not "non_separable".

    Examples
    --------
    >>> from perceptron_rs import hull_weights, max_margin
    >>> X, y = [[0], [1], [3]], [0, 1, 0]
    >>> hull_weights(max_margin(X, y), X, y)
    [Fraction(2, 3), Fraction(1, 1), Fraction(1, 3)]
    """
    if not isinstance(result, MarginResult):
        raise TypeError(f"result must be a MarginResult, got {result!r:.80}; pass one of max_margin")
    if result.status != "non_separable":
        raise ValueError(f"result must have the status 'non_separable', got {result.status!r}")
    problem = _Problem(result, X, y)
    _check_form(result, problem)
    weights = solve_exactly(*problem.equations())
    if weights is None or min(weights) <= 0:
        raise VerificationError(_NO_WEIGHTS)
    return weights


class _Problem:
    """The examples as exact numbers, and their signs."""

    def __init__(self, result: MarginResult, X: MatrixLike, y: ArrayLike) -> None:
        if not isinstance(result, MarginResult):
            raise TypeError(f"result must be a MarginResult, got {result!r:.80}")
        self.result = result
        refuse_rounded(X)
        with naming("X"):
            self.matrix = ExactMatrix(X)
        with naming("y"):
            refuse_lazy(y, "y")
            labels = np.asarray(y).reshape(-1).tolist()
            classes = sorted(set(labels))
        if len(labels) != self.matrix.shape[0]:
            raise ValueError(
                f"X and y must have equal lengths, got {self.matrix.shape[0]} rows and {len(labels)} labels"
            )
        self.classes = tuple(classes)
        if not 1 <= len(self.classes) <= 2:
            raise ValueError(f"y must hold one class or two, got {len(self.classes)}")
        positive = self.classes[-1]
        if len(self.classes) == 1 and not isinstance(positive, str) and not positive > 0:
            positive = None
        self.signs = [1 if label == positive else -1 for label in labels]
        self.free = result.bias == "free"

    def support(self) -> Iterator[tuple[int, dict[int, int], int]]:
        """Yield sign, numbers by column and exponent of each row that carries weight."""
        for number in self.result.support.tolist():
            yield self.signs[number], *self.matrix.row(number)

    def equations(self) -> tuple[list[list[int]], list[int]]:
        """Return the equations of weights that take the rows to the origin (each class to the same point)."""
        rows = list(self.support())
        least = min(exponent for _, _, exponent in rows)
        equations: dict[int, list[int]] = {}
        for unknown, (sign, numbers, exponent) in enumerate(rows):
            for column, number in numbers.items():
                line = equations.setdefault(column, [0] * len(rows))
                line[unknown] = sign * number << (exponent - least)
        matrix = list(equations.values())
        if self.result.bias == "augmented":
            matrix.append([sign for sign, *_ in rows])
        right = [0] * len(matrix)
        for group in (1, -1) if self.free else (0,):
            matrix.append([int(group in (0, sign)) for sign, *_ in rows])
            right.append(1)
        return matrix, right


def _check_form(result: MarginResult, problem: _Problem) -> None:
    """Check that the parts have the shapes, signs and sums that the status asks for."""
    n, d = problem.matrix.shape
    _claim(result.status in STATUSES, f"there is no status {result.status!r}")
    _claim(result.bias in ("free", "augmented", "none"), f"there is no bias {result.bias!r}")
    _claim(result.classes == problem.classes, f"classes are {problem.classes}, not {result.classes}")
    _claim(result.coef.shape == (d,), f"coef has the shape {result.coef.shape}, not ({d},)")
    numbers = [*result.coef.tolist(), result.intercept]
    _claim(all(math.isfinite(number) for number in numbers), "coef and intercept must be finite")
    _claim(result.bias != "none" or result.intercept == 0, "there is no bias, but an intercept")
    one = problem.free and len(problem.classes) == 1
    _claim((result.status == "one_class") == one, f"{result.status!r} does not go with {problem.classes}")
    ends = (result.lower, result.upper)
    expected = {"non_separable": (-math.inf, -math.inf), "one_class": (math.inf, math.inf)}
    if result.status in expected:
        _claim(ends == expected[result.status], f"{result.status!r} does not go with the interval {ends}")
    elif result.status == "separable":
        _claim(
            0 < result.lower <= result.upper < math.inf, f"'separable' does not go with the interval {ends}"
        )
    else:
        _claim(
            result.lower == -math.inf and 0 <= result.upper < math.inf,
            f"{result.status!r} does not go with the interval {ends}",
        )
    rows, weights = result.support.tolist(), result.dual_weights.tolist()
    _claim(len(rows) == len(weights), "support and dual_weights have different lengths")
    _claim(all(0 <= i < n for i in rows), f"support names a row that is not in 0 to {n - 1}")
    _claim(all(a < b for a, b in pairwise(rows)), "support is not ascending")
    if result.status == "one_class":
        return
    _claim(all(weight > 0 for weight in weights), "dual_weights must be above 0")
    for group in (1, -1) if problem.free else (0,):
        total = sum(k for i, k in zip(rows, weights, strict=True) if group in (0, problem.signs[i]))
        _claim(total == _ONE, f"dual_weights of a group sum to {total}, not to 2**53")


def _check_radius(result: MarginResult, problem: _Problem) -> None:
    """Check that no row is longer, and one nearly as long."""
    longest: dict[int, int] = {}  # square of the longest row that has an exponent, in its units
    for (_, numbers), exponent in problem.matrix.rows():
        longest[exponent] = max(longest.get(exponent, 0), sum(k * k for k in numbers))
    square = max(Fraction(most) * Fraction(4) ** exponent for exponent, most in longest.items())
    _claim(0 <= result.radius < math.inf, f"radius={result.radius!r} is no length")
    radius = Fraction(result.radius)
    _claim(square <= radius**2, f"a row is longer than radius={result.radius!r}")
    _claim(radius <= _rounded_up(square), f"no row is nearly as long as radius={result.radius!r}")


def _rounded_up(square: Fraction) -> Fraction:
    """Return what the root of ``square`` may be at most after it was rounded up with some care."""
    return square_root_floor(square) * _CLOSE + _TINY


def _check_kernel(result: MarginResult, problem: _Problem, K: object) -> None:
    """Check the claims about the space of a kernel, whose inner products are the values of K."""
    values = [list(map(Fraction, row)) for row in np.asarray(K, dtype=np.float64).tolist()]
    n, signs = len(values), problem.signs
    _claim(problem.matrix.shape == (n, n), f"the kernel values have the shape {problem.matrix.shape}")
    _claim(all(values[i][j] == values[j][i] for i in range(n) for j in range(i)), "K is not symmetric")
    square = max(Fraction(0), *(values[i][i] for i in range(n)))
    radius = Fraction(result.radius)
    _claim(square <= radius**2 and radius <= _rounded_up(square), f"radius={result.radius!r} is wrong")
    coef, intercept = list(map(Fraction, result.coef.tolist())), Fraction(result.intercept)
    scores = [sum((a * c for a, c in zip(row, coef, strict=True)), Fraction(0)) for row in values]
    norm = sum((c * score for c, score in zip(coef, scores, strict=True)), Fraction(0))
    one = int(result.bias == "augmented")
    support, weights = result.support.tolist(), result.dual_weights.tolist()
    if result.status == "separable":
        least = min(sign * (score + intercept) for sign, score in zip(signs, scores, strict=True))
        length = norm + one * intercept**2  # below 0 if K is of no kernel
        _claim(length > 0, "coef is zero")
        far = Fraction(result.lower) ** 2 * length
        _claim(least * abs(least) >= far, f"a row is nearer to the plane than lower={result.lower!r}")
    if result.status == "non_separable":
        # K v = 0 for the weighted signs v says that the point of v has no length.
        _claim(has_positive_solution(*problem.equations()), _NO_WEIGHTS)
    elif result.status != "one_class":
        v = [Fraction(signs[i] * k, _ONE) for i, k in zip(support, weights, strict=True)]
        reached = sum(
            a * sum(c * (values[i][j] + one) for j, c in zip(support, v, strict=True))
            for i, a in zip(support, v, strict=True)
        )
        limit = Fraction(result.upper) * (2 if problem.free else 1)
        _claim(reached <= limit**2, f"the weighted rows do not prove upper={result.upper!r}")
    _check_bounds(result, norm)


def _check_bounds(result: MarginResult, norm_squared: Fraction | None = None) -> None:
    """Check the two bounds on mistakes: the formula with ``lower``, and with ``upper``.

    ``norm_squared`` is that of the weights, if ``coef`` does not tell.
    """
    bound, best = result.mistake_bound, result.best_mistake_bound
    _claim(best <= bound, f"best_mistake_bound={best!r} is above mistake_bound={bound!r}")
    rows = Fraction(result.radius) ** 2 + (result.bias != "none")
    if result.status == "non_separable":
        _claim(best == math.inf, "there is no bound on the mistakes on inseparable data")
        return
    if result.status not in ("separable", "one_class"):
        _claim(bound == math.inf, "there is no bound on the mistakes without a separating plane")
        _claim(
            result.upper == 0 or _meets(best, rows / Fraction(result.upper) ** 2, up=False),
            "best_mistake_bound is wrong",
        )
        return
    if result.status == "one_class":
        values = (rows, rows)
    else:
        if result.bias == "free":
            weights, exponent = integers(result.coef)
            square = norm_squared or Fraction(sum(k * k for k in weights)) * Fraction(4) ** exponent
            rows *= 1 + Fraction(result.intercept) ** 2 / square
        values = (rows / Fraction(result.lower) ** 2, rows / Fraction(result.upper) ** 2)
    _claim(_meets(bound, values[0], up=True), f"mistake_bound={bound!r} is not the formula's, rounded up")
    _claim(
        _meets(best, values[1], up=False), f"best_mistake_bound={best!r} is not the formula's, rounded down"
    )


def _meets(number: float, value: Fraction, *, up: bool) -> bool:
    """Whether ``number`` is ``value``, rounded up or down with some care."""
    if number == math.inf:
        return up and value * _CLOSE >= Fraction(2) ** 1023
    if up:  # a bound that holds is at least 1
        return value <= Fraction(number) <= value * _CLOSE
    if number >= math.nextafter(math.inf, 0):  # the largest number stands for all that are larger
        return value >= Fraction(number)
    return value / _CLOSE - _TINY <= Fraction(number) <= value


def _check_plane(result: MarginResult, problem: _Problem) -> None:
    """Check that each row is at a distance of at least ``lower`` from the plane, on its side."""
    weights, scale = integers(result.coef)
    norm = Fraction(sum(k * k for k in weights)) * Fraction(4) ** scale
    if result.bias == "augmented":
        norm += Fraction(result.intercept) ** 2
    _claim(norm > 0, "coef is zero")
    needed = Fraction(result.lower) ** 2 * norm  # what the square of y (w.x + b) must not be below
    intercept = Fraction(result.intercept)
    limits: dict[tuple[int, int], int] = {}
    for number, ((row, exponent), sign) in enumerate(zip(problem.matrix.rows(), problem.signs, strict=True)):
        key = (exponent, sign)
        if key not in limits:
            limits[key] = _least_product(needed, sign * intercept, Fraction(2) ** (exponent + scale))
        if sign * product(row, weights) < limits[key]:
            raise VerificationError(f"row {number} is nearer to the plane than lower={result.lower!r}")


def _least_product(needed: Fraction, intercept: Fraction, unit: Fraction) -> int:
    """Return the least whole k with ``k unit + intercept >= root of needed``; the unit is a power of 2."""
    square, offset = needed / unit**2, intercept / unit
    scale = offset.denominator
    whole = math.ceil(square * scale**2)
    root = math.isqrt(whole - 1) + 1 if whole > 0 else 0
    return -((offset.numerator - root) // scale)


def _check_upper(result: MarginResult, problem: _Problem) -> None:
    """Check that the weighted mean of the rows is no further from the origin than ``upper`` says."""
    mean: dict[int, Fraction] = {}
    total = 0
    by_exponent: dict[int, dict[int, int]] = {}
    for weight, (sign, numbers, exponent) in zip(
        result.dual_weights.tolist(), problem.support(), strict=True
    ):
        sums = by_exponent.setdefault(exponent, {})
        signed = sign * weight
        total += signed
        for column, number in numbers.items():
            sums[column] = sums.get(column, 0) + signed * number
    for exponent, sums in by_exponent.items():
        unit = Fraction(2) ** (exponent - 53)
        for column, value in sums.items():
            mean[column] = mean.get(column, Fraction(0)) + value * unit
    square = sum((value * value for value in mean.values()), Fraction(0))
    if result.bias == "augmented":
        square += Fraction(total, _ONE) ** 2
    limit = Fraction(result.upper) * (2 if problem.free else 1)
    _claim(square <= limit**2, f"the weighted rows do not prove upper={result.upper!r}")


def _claim(holds: bool, text: str) -> None:
    if not holds:
        raise VerificationError(text)
