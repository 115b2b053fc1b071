"""Problems of few rows that the solvers leave open, decided in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.margins.exact.bounds import novikoff, round_down, up_root
from perceptron_rs.margins.exact.matrix import ExactMatrix
from perceptron_rs.margins.exact.systems import solve_exactly
from perceptron_rs.margins.result import MarginResult
from perceptron_rs.margins.search.kernel import Space, whole_weights
from perceptron_rs.margins.search.problem import Problem
from perceptron_rs.rows.selection import matrix_of

#: Numbers of a point that are not 0, by their columns; column -1 is the constant feature.
Point: TypeAlias = dict[int, int]


#: More rows are not tried: the inner products of all pairs are needed.
MOST_ROWS = 200
_MOST_POINTS = 40  # at a time: exact numbers grow with each
_MOST_STEPS = 400


def nearest(products: list[list[int]]) -> tuple[list[Fraction], bool] | None:
    """Return weights of the point nearest to the origin, and whether it is the origin; None: too much work.

    ``products`` are the inner products of all pairs of points, in any unit.
    """
    points = [min(range(len(products)), key=lambda i: products[i][i])]
    weights = [Fraction(1)]
    for _ in range(_MOST_STEPS):
        # x.p_j for every j, times the denominator of the weights.
        unit = math.lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * unit) for weight in weights]
        along = [sum(map(mul, whole, map(row.__getitem__, points))) for row in products]
        square = sum(map(mul, whole, map(along.__getitem__, points)))  # times unit**2
        best = min(range(len(products)), key=along.__getitem__)
        if square < 0:  # no inner products
            return None
        if square == 0 or along[best] * unit >= square:
            convex = [Fraction(0)] * len(products)
            for i, weight in zip(points, weights, strict=True):
                convex[i] += weight
            return (convex, square == 0) if square or not any(along) else None
        points.append(best)
        weights.append(Fraction(0))
        if len(points) > _MOST_POINTS or not _go(products, points, weights):
            return None
    return None


def _go(products: list[list[int]], points: list[int], weights: list[Fraction]) -> bool:
    """Go to the nearest point of the plane through the points, within their hull; drop those behind it."""
    while True:
        n = len(points)
        # The nearest point has equal inner products with all of them: (p_i - p_0).x = 0.
        first = products[points[0]]
        matrix = [[products[i][j] - first[j] for j in points] for i in points[1:]] + [[1] * n]
        target = solve_exactly(matrix, [0] * (n - 1) + [1])
        if target is None:  # they are not affinely independent, which cannot be
            return False
        if min(target) > 0:
            weights[:] = target
            return True
        step = min(w / (w - t) for w, t in zip(weights, target, strict=True) if t <= 0 and w > t)
        weights[:] = [w + step * (t - w) for w, t in zip(weights, target, strict=True)]
        there = [k for k, weight in enumerate(weights) if weight > 0]
        points[:], weights[:] = [points[k] for k in there], [weights[k] for k in there]


def decided(problem: Problem, result: MarginResult, space: Space | None) -> tuple[bool | None, MarginResult]:
    """Return whether a hyperplane separates the classes, and a result that says so; None: not decided.

    ``space`` is that of a kernel.
    """
    n = problem.data.rows.shape[0]
    if n > MOST_ROWS:
        return None, result
    signs = [1 if label == 1 else -1 for label in problem.labels.tolist()]
    has_bias = result.bias != "none"
    points: list[Point] = []
    if space is None:
        points, exponent = _points(problem, signs, has_bias=has_bias)
        products = [[sum(k * other.get(j, 0) for j, k in one.items()) for other in points] for one in points]
    else:
        values, exponent = space.whole
        one = 1 << -exponent if has_bias else 0
        products = [
            [a * b * (k + one) for b, k in zip(signs, row, strict=True)]
            for a, row in zip(signs, values, strict=True)
        ]
    nearest_point = nearest(products)
    if nearest_point is None:
        return None, result
    weights, meets = nearest_point
    if not meets:
        return True, result if points == [] else _with_plane(result, points, exponent, weights)
    if space is not None:
        signed = [sign * weight for sign, weight in zip(signs, weights, strict=True)]
        if not space.meets_exactly(problem, signed, has_bias=has_bias):
            return None, result
    groups = [sign if result.bias == "free" else 0 for sign in signs]
    support = [i for i, weight in enumerate(weights) if weight]
    scale = 2 if result.bias == "free" else 1  # the weights of each class are half of all
    return False, replace(
        result,
        status="non_separable",
        lower=-math.inf,
        upper=-math.inf,
        support=np.array(support, dtype=np.int64),
        dual_weights=whole_weights([scale * weights[i] for i in support], [groups[i] for i in support]),
        mistake_bound=math.inf,
        best_mistake_bound=math.inf,
        proof="rational",
    )


def _points(problem: Problem, signs: list[int], *, has_bias: bool) -> tuple[list[Point], int]:
    """Return the points ``y_i (x_i, 1)`` as whole numbers, and the exponent of their unit."""
    matrix = ExactMatrix(matrix_of(problem.data.stored, problem.data.rows.shape[1]))
    rows = [matrix.row(number) for number in range(len(signs))]
    least = min(0, *(exponent for _, exponent in rows))
    points = []
    for (numbers, exponent), sign in zip(rows, signs, strict=True):
        point = {column: sign * k << (exponent - least) for column, k in numbers.items()}
        points.append(point | ({-1: sign << -least} if has_bias else {}))
    return points, least


def _with_plane(
    result: MarginResult, points: list[Point], exponent: int, weights: list[Fraction]
) -> MarginResult:
    """Return the result with the plane of these weights, if it separates them with float64 weights, too."""
    plane: dict[int, Fraction] = {}
    for weight, point in zip(weights, points, strict=True):
        for column, number in point.items() if weight else ():
            plane[column] = plane.get(column, Fraction(0)) + weight * number
    largest = max(map(abs, plane.values()))
    rounded = {column: float(value / largest) for column, value in plane.items()}
    coef: NDArray[np.float64] = np.zeros(len(result.coef))
    for column in rounded.keys() - {-1}:
        coef[column] = rounded[column]
    whole = {column: Fraction(value) for column, value in rounded.items()}
    scores = (sum((k * whole[c] for c, k in point.items()), Fraction(0)) for point in points)
    worst = min(scores) * Fraction(2) ** exponent
    square = sum(
        (value**2 for c, value in whole.items() if c >= 0 or result.bias == "augmented"), Fraction(0)
    )
    lower = round_down(worst / Fraction(up_root(square))) if worst > 0 and square > 0 else 0.0
    if not 0 < lower <= result.upper:
        return result
    intercept = rounded.get(-1, 0.0)
    bound, best = novikoff(result.radius, lower, result.upper, coef, intercept, result.bias)
    return replace(
        result,
        status="separable",
        lower=lower,
        coef=coef,
        intercept=intercept,
        mistake_bound=bound,
        best_mistake_bound=best,
    )
