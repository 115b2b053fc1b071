"""The exact answer for small integer problems, in fractions; it proves each answer to itself.

The rows are turned into points, and the point of their hull that is nearest to the origin is sought: y x,
y (x, 1), or for a free bias all differences of a positive and a negative row. Whatever way the search takes,
its end is checked: weights that are positive, sum to 1 and give the point v, and <v, z> >= <v, v> for every
point z. So v is the nearest point of the hull, by the definition alone, and the largest margin is ||v||, or
||v||/2 for a free bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from operator import mul


@dataclass(frozen=True)
class Truth:
    """The exact answer."""

    status: str  # separable, non_separable, one_class
    square: Fraction  # of the largest margin; 0 if there is none
    v: tuple  # the nearest point: of a separable problem the direction of the best plane


def truth(X, signs, bias) -> Truth:
    """Return the exact answer for rows of whole numbers, and signs."""
    if bias == "free" and len(set(signs)) == 1:
        return Truth("one_class", Fraction(0), ())
    v = nearest(points(X, signs, bias))
    square = dot(v, v) / (4 if bias == "free" else 1)
    return Truth("separable" if square else "non_separable", square, tuple(v))


def points(X, signs, bias):
    """Return the points whose hull's distance from the origin is the largest margin (twice it, if free)."""
    if bias == "augmented":
        X = [[*row, 1] for row in X]
    if bias != "free":
        found = [[sign * value for value in row] for row, sign in zip(X, signs, strict=True)]
    else:
        groups = [[row for row, sign in zip(X, signs, strict=True) if sign == side] for side in (1, -1)]
        found = [[a - b for a, b in zip(p, q, strict=True)] for p in groups[0] for q in groups[1]]
    return [list(point) for point in sorted({tuple(point) for point in found})]


def nearest(points):
    """Return the point of the hull of ``points`` that is nearest to the origin."""
    chosen, weights = [min(points, key=lambda z: dot(z, z))], [Fraction(1)]
    while True:
        scaled, scale = combination(weights, chosen)
        products = [dot(scaled, z) for z in points]
        least = min(products)
        if least * scale >= dot(scaled, scaled):
            break
        chosen.append(points[products.index(least)])
        weights.append(Fraction(0))
        while True:
            target = affine_minimum(chosen)
            inside = min(target) >= 0
            if inside:
                weights = target
            else:
                step = min(w / (w - t) for w, t in zip(weights, target, strict=True) if t < 0)
                weights = [w + step * (t - w) for w, t in zip(weights, target, strict=True)]
            kept = [k for k, weight in enumerate(weights) if weight > 0]
            chosen, weights = [chosen[k] for k in kept], [weights[k] for k in kept]
            if inside:
                break
    check(points, chosen, weights)
    return [Fraction(value, scale) for value in scaled]


def check(points, chosen, weights):
    """Prove that the weights give the nearest point."""
    assert all(z in points for z in chosen)
    assert min(weights) > 0
    assert sum(weights) == 1
    v, scale = combination(weights, chosen)
    assert all(dot(v, z) * scale >= dot(v, v) for z in points)


def affine_minimum(chosen):
    """Return the weights, of any sign, of the point of the affine hull that is nearest to the origin."""
    size = len(chosen)
    table = [[dot(a, b) for b in chosen] + [1, 0] for a in chosen]
    table.append([1] * size + [0, 1])
    table, diagonal = eliminated(table)
    return [Fraction(row[-1], diagonal) for row in table[:size]]


def eliminated(table):
    """Gauss and Jordan in whole numbers: every division is exact. A singular table raises StopIteration."""
    last = 1
    for column in range(len(table)):
        pivot = next(i for i in range(column, len(table)) if table[i][column])
        table[column], table[pivot] = table[pivot], table[column]
        first = table[column]
        for i, row in enumerate(table):
            if i != column:
                table[i] = [
                    (first[column] * a - row[column] * b) // last for a, b in zip(row, first, strict=True)
                ]
        last = first[column]
    return table, last


def combination(weights, chosen):
    """Return the weighted sum as whole numbers and their common denominator."""
    scale = lcm(*(weight.denominator for weight in weights))
    whole = [weight.numerator * (scale // weight.denominator) for weight in weights]
    return [dot(whole, column) for column in zip(*chosen, strict=True)], scale


def dot(a, b):
    return sum(map(mul, a, b))


def by_enumeration(points):
    """Return the square of the distance, by trying every set of at most d + 1 points: slow, and sure."""
    best = None
    for size in range(1, len(points[0]) + 2):
        for chosen in combinations(points, size):
            try:
                weights = affine_minimum(list(chosen))
            except StopIteration:  # the points depend on each other: a smaller set does as well
                continue
            if min(weights) >= 0:
                v, scale = combination(weights, chosen)
                square = Fraction(dot(v, v), scale**2)
                best = square if best is None else min(best, square)
    return best


def tiny_problem(rng):
    """Return whole-number rows and signs, some of them degenerate, from a generator of NumPy."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    size = int(rng.choice([1, 1, 2, 3, 9, 100]))
    X = rng.integers(-size, size + 1, (n, d))
    kind = rng.integers(0, 6)
    signs = rng.choice([-1, 1], n)
    if kind == 0:  # a plane of small weights gives the labels; rows on it are moved
        w, b = rng.integers(-2, 3, d), rng.integers(-1, 2)
        signs = [1 if value > 0 else -1 for value in (X @ w + b).tolist()]
    elif kind == 1:  # duplicates, with the same label or not
        copies = rng.integers(0, n, n)
        X = X[copies]
        signs = signs[copies] if rng.integers(0, 2) else signs
    elif kind == 2:  # all rows on a line
        X = rng.integers(-size, size + 1, (n, 1)) * rng.integers(-2, 3, (1, d)) + rng.integers(-1, 2, d)
    elif kind == 3:  # far from the origin
        X = X + rng.integers(-1000, 1001, d)
    elif kind == 4 and n > 1:  # one class is moved away
        signs = rng.choice([-1, 1], n)
        X = X + np_column(signs) * rng.integers(0, 2 * size + 1, d)
    return X.tolist(), [int(sign) for sign in signs]


def np_column(signs):
    return signs.reshape(-1, 1)
