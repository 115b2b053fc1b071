"""Whether a hyperplane separates few rows, decided in exact arithmetic.

- Problem: points ``p_i = y_i (x_i, 1)``, or ``y_i x_i`` without a bias, by their inner products alone. A
  hyperplane separates the classes strictly iff the point of their hull that is nearest to the origin is not
  the origin itself.
- Rule: Wolfe's. Add the point that is furthest on the origin's side, go towards the nearest point of the
  plane through those that are there, and drop those that come to weigh nothing.
- Result: weights of the points, whole number by whole number. Nothing is rounded, so each step brings the
  point nearer, no set of points comes again, and the end is a proof for either answer.
- Paper: P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from operator import mul

from perceptron_rs.margins.exact.systems import solve_exactly

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
        unit = lcm(*(weight.denominator for weight in weights))
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
