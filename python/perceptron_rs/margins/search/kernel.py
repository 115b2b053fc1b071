"""Margins in the space of a kernel: found on a factor of the Gram matrix, certified on the matrix.

The rows of a factor L with ``L L' = K`` have the distances of the examples in the space of the kernel, so the
solvers for rows find the plane and the weights there. L is rounded, but nothing that is returned rests on it:
the bounds and proofs come from the plane and the weights in exact arithmetic, by the values of K alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from perceptron_rs.arrays.likes import MatrixLike, has_length, shape_of
from perceptron_rs.arrays.named import Floats
from perceptron_rs.choices import EngineName, Gamma, MarginKernel
from perceptron_rs.errors import ArgumentError
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.exact.bounds import round_down, round_up, up_root
from perceptron_rs.margins.exact.matrix import ExactMatrix, integers
from perceptron_rs.margins.exact.systems import solve_exactly
from perceptron_rs.margins.parameters import MaxMarginClassifierParameters
from perceptron_rs.margins.result import MarginResult
from perceptron_rs.margins.search.problem import Problem, read_problem, result_of
from perceptron_rs.parameters.groups import check_arguments
from perceptron_rs.rows.real_numbers import refuse_lazy
from perceptron_rs.rows.selection import matrix_of
from perceptron_rs.schema.kernel_spec import check_square, settled_kernel
from perceptron_rs.settings import KernelSpec

_ONE = 2**53
_MOST_DEGREE = 32  # of exact powers
_ASYMMETRY = 1e-9  # by how much of the largest value a matrix may fall short of symmetry
_NEGLIGIBLE = 2.0**-40  # what is left of a squared length, of the largest, that is taken for rounding


def check_kernel(kernel: str, gamma: Gamma, degree: int, coef0: float) -> None:
    """Raise unless these are parameters of a kernel."""
    check_arguments(MaxMarginClassifierParameters, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0)


@dataclass(frozen=True, eq=False)
class Space:
    """The space of a kernel: its values of all pairs of examples, and the kernel with its gamma settled.

    What does not depend on labels is computed once, for all hyperplanes.
    """

    K: Floats
    spec: KernelSpec

    @cached_property
    def _factor(self) -> tuple[Floats, list[int]]:
        """L with ``L L'`` near K, and its pivots: Cholesky's method, the largest remaining square first."""
        rest, squares = self.K.copy(), np.diag(self.K).copy()
        limit, columns, pivots = _NEGLIGIBLE * float(squares.max(initial=0.0)), [], []
        for _ in range(len(rest)):
            p = int(np.argmax(squares))
            if not squares[p] > limit:
                break
            column = rest[:, p] / math.sqrt(squares[p])
            columns.append(column)
            pivots.append(p)
            rest -= column[:, np.newaxis] * column
            squares = np.diag(rest).copy()
            squares[pivots] = 0.0
        L = np.ascontiguousarray(np.array(columns).T) if columns else np.zeros((len(rest), 1))
        return L, pivots

    @property
    def rows(self) -> Floats:
        """The factor: a row for each example."""
        return self._factor[0]

    def weights_of(self, w: Floats) -> Floats:
        """Return weights a of the examples with ``L' a`` near w, by back substitution over the pivots."""
        L, pivots = self._factor
        rest, weights = w.copy(), np.zeros(len(L))
        for k in reversed(range(len(pivots))):
            row = L[pivots[k]]
            weights[pivots[k]] = rest[k] / row[k]
            rest[:k] -= weights[pivots[k]] * row[:k]
        return weights

    @cached_property
    def whole(self) -> tuple[list[list[int]], int]:
        """K as whole numbers times 2 to the power of an exponent of at most 0."""
        numbers, exponent = integers(self.K.ravel())
        n, shift = len(self.K), exponent - min(exponent, 0)
        return [[k << shift for k in numbers[i * n : (i + 1) * n]] for i in range(n)], min(exponent, 0)

    def meets_exactly(self, problem: Problem, weights: list[Fraction], *, has_bias: bool) -> bool:
        """Whether rows with these weights meet in the space of the kernel itself, not only in rounded K.

        Distinct points are independent in the space of "rbf", whatever their rounded kernel values are.
        """
        if self.spec.name not in ("rbf", "poly"):
            return True
        if has_bias and sum(weights, Fraction(0)) != 0:
            return False
        matrix = ExactMatrix(matrix_of(problem.data.stored, problem.data.rows.shape[1]))
        points: dict[tuple[tuple[int, Fraction], ...], Fraction] = {}
        for i, weight in enumerate(weights):
            if weight:
                numbers, exponent = matrix.row(i)
                unit = Fraction(2) ** exponent
                point = tuple((column, k * unit) for column, k in numbers.items())
                points[point] = points.get(point, Fraction(0)) + weight
        left = [(dict(point), weight) for point, weight in points.items() if weight]
        if self.spec.name == "rbf" or not left:
            return not left
        if self.spec.degree > _MOST_DEGREE:
            return False
        gamma, coef0 = Fraction(self.spec.gamma), Fraction(self.spec.coef0)
        square = Fraction(0)
        for x, a in left:
            for z, b in left:
                product = sum((value * z[c] for c, value in x.items() if c in z), Fraction(0))
                square += a * b * (gamma * product + coef0) ** self.spec.degree
        return square == 0


def gram(problem: Problem, kernel: MarginKernel, gamma: Gamma, degree: int, coef0: float) -> Space:
    """Return the space of a kernel; ValueError unless all its values are finite."""
    problem.check_finite()
    engine, data, threads = problem.engine, problem.data, problem.threads
    if kernel == "precomputed":
        check_square(data.rows)
        values = matrix_of(data.stored, data.rows.shape[1])
        K = (values.toarray() if issparse(values) else values).astype(np.float64)
        if not (np.abs(K - K.T) <= _ASYMMETRY * np.abs(K).max()).all():
            raise ArgumentError(
                "{X} must be symmetric with {kernel}", "take (X + X.T) / 2", values={"kernel": "precomputed"}
            )
        return Space(np.where(K == K.T, K, K / 2 + K.T / 2), KernelSpec("precomputed"))
    spec = settled_kernel(kernel, gamma, degree, coef0, engine, data.rows)
    K = engine.kernel_matrix(data.rows, data.rows, kernel=spec, threads=threads)
    if not np.isfinite(K).all():
        raise ValueError("a kernel value is not finite; scale the features, or take a smaller degree")
    return Space(K, spec)


def kernel_matrix(
    X: MatrixLike,
    *,
    kernel: MarginKernel = "rbf",
    gamma: Gamma = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> Floats:
    """Compute the kernel values of all pairs of examples, with the bits that `max_margin` takes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    kernel : {"linear", "poly", "rbf", "precomputed"}, default="rbf"
        As for `max_margin`.
    gamma : {"scale", "auto"} or float, default="scale"
        As for `max_margin`.
    degree : int, default=3
        As for `max_margin`.
    coef0 : float, default=0.0
        As for `max_margin`.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors.

    Returns
    -------
    K : ndarray of shape (n_samples, n_samples), float64
        The values.

    Raises
    ------
    ValueError
        If an argument has an invalid shape or value.

    Examples
    --------
    >>> from perceptron_rs import kernel_matrix
    >>> kernel_matrix([[1, 0], [2, 1]], kernel="poly", degree=2, gamma=1, coef0=1)
    array([[ 4.,  9.],
           [ 9., 36.]])
    """
    check_kernel(kernel, gamma, degree, coef0)
    with standard():
        refuse_lazy(X, "X")
        shape = shape_of(X)
        if shape == () or (shape is None and not has_length(X)):
            raise TypeError(f"X must hold rows, got {X!r:.80}; make a matrix or a list of it")
        labels = np.zeros(len(X) if shape is None else shape[0])
        problem = read_problem(X, labels, engine=engine, n_jobs=n_jobs)
        return gram(problem, kernel, gamma, degree, coef0).K


def kernel_result(problem: Problem, space: Space, options: dict[str, Any]) -> MarginResult:
    """Return the largest margin in the space of the kernel."""
    engine, labels, K, bias = problem.engine, problem.labels, space.K, options["bias"]
    solution = problem.separate(engine.dense_rows(space.rows), options, "margin")
    radius = up_root(Fraction(max(float(np.diag(K).max()), 0.0)))
    exact, support, weights = _Exact(space, labels, bias), solution["support"], solution["dual_weights"]
    status, lower, upper = solution["status"], math.inf, math.inf
    coef, intercept, proof = np.zeros(len(K)), solution["intercept"], None
    if status != "one_class":
        upper = exact.upper(support.tolist(), weights.tolist())
        coef[support] = exact.signs[support] * np.ldexp(weights.astype(np.float64), -53)
        lower, intercept, _ = exact.plane(coef)
        if lower == -math.inf:  # the weights of the certificate say little of the best plane
            coef = space.weights_of(solution["coef"])
            lower, intercept, _ = exact.plane(coef)
        status = "separable"
        if lower == -math.inf:
            intercept = solution["intercept"]
            status = "undecided" if solution["status"] == "undecided" else "margin_at_most"
            shares = exact.meeting(support.tolist())
            if shares is not None and space.meets_exactly(
                problem, exact.spread(support.tolist(), shares), has_bias=bias != "none"
            ):
                status, proof, upper = "non_separable", "rational", -math.inf
                support = support[np.array([share > 0 for share in shares])]
                positive = [share for share in shares if share > 0]
                weights = whole_weights(positive, exact.groups_of(support.tolist()))
        elif lower > upper:
            raise ValueError(
                f"the kernel values must be inner products, but the margin is at least {lower} and at most "
                f"{upper}; take a positive definite kernel"
            )
    solution.update({"status": status, "lower": lower, "upper": upper, "coef": coef, "intercept": intercept})
    solution.update({"support": support, "dual_weights": weights, "radius": radius, "proof": proof})
    return result_of(problem, solution, bias, kernel=space.spec, norm=exact.norm(coef))


def scaled(space: Space, labels: NDArray[np.uint32], result: MarginResult) -> tuple[Floats, float, float]:
    """Return weights and intercept with which the nearest examples score 1, and a lower end of their margin.

    Scaling rounds, so the lower end is certified again.
    """
    if result.status != "separable":
        return result.coef, result.intercept, -math.inf
    exact = _Exact(space, labels, result.bias)
    with np.errstate(over="ignore", under="ignore"):
        coef = result.coef / exact.plane(result.coef)[2]
    if np.isfinite(coef).all():
        lower, intercept, _ = exact.plane(coef)
        if lower > 0:
            return coef, intercept, min(lower, result.upper)
    return result.coef, result.intercept, result.lower


def whole_weights(shares: list[Fraction], groups: list[int]) -> NDArray[np.int64]:
    """Return weights in units of 2**-53, each above 0, that sum to 2**53 in each group."""
    weights = [max(1, math.floor(share * _ONE)) for share in shares]
    for group in set(groups):
        own = [i for i, g in enumerate(groups) if g == group]
        largest = max(own, key=weights.__getitem__)
        weights[largest] += _ONE - sum(weights[i] for i in own)
    return np.array(weights, dtype=np.int64)


class _Exact:
    """The kernel values as whole numbers times a power of two; ``one`` is that of constant features."""

    def __init__(self, space: Space, labels: NDArray[np.uint32], bias: str) -> None:
        self.signs = np.where(labels == 1, 1.0, -1.0)
        self.y = [1 if label == 1 else -1 for label in labels]
        self.bias = bias
        self.rows, self.exponent = space.whole
        self.one = 1 << -self.exponent if bias == "augmented" else 0

    def groups_of(self, support: list[int]) -> list[int]:
        return [self.y[i] if self.bias == "free" else 0 for i in support]

    def upper(self, support: list[int], weights: list[int]) -> float:
        """Return the length of the point with these weights, over the number of groups, rounded up."""
        v = [self.y[i] * k for i, k in zip(support, weights, strict=True)]
        square = sum(
            a * sum(c * (self.rows[i][j] + self.one) for j, c in zip(support, v, strict=True))
            for i, a in zip(support, v, strict=True)
        )
        groups = 2 if self.bias == "free" else 1
        return round_up(Fraction(up_root(self._scaled(max(square, 0)))) / (_ONE * groups))

    def plane(self, coef: Floats) -> tuple[float, float, float]:
        """Return a number not above the margin of a plane (-inf: none), its intercept, its least score."""
        weights, exponent = integers(coef)
        places = [j for j, c in enumerate(weights) if c]
        scores = [sum(row[j] * weights[j] for j in places) for row in self.rows]
        square = self._scaled(sum(weights[j] * scores[j] for j in places)) * Fraction(4) ** exponent
        if square <= 0:
            return -math.inf, 0.0, 0.0
        unit, intercept = self._scaled(1) * Fraction(2) ** exponent, 0.0
        if self.bias == "free":
            least = [min(y * s for y, s in zip(self.y, scores, strict=True) if y == side) for side in (1, -1)]
            intercept = float(unit * (least[1] - least[0]) / 2)
        elif self.bias == "augmented":  # the weight of the constant feature
            intercept = float(sum(weights) * Fraction(2) ** exponent)
            square += Fraction(intercept) ** 2
        worst = min(y * (unit * s + Fraction(intercept)) for y, s in zip(self.y, scores, strict=True))
        margin = round_down(worst / Fraction(up_root(square))) if worst > 0 else -math.inf
        return margin, intercept, float(worst)

    def norm(self, coef: Floats) -> float:
        """Return the length of the weights, rounded up."""
        weights, exponent = integers(coef)
        places = [j for j, c in enumerate(weights) if c]
        square = sum(weights[i] * sum(self.rows[i][j] * weights[j] for j in places) for i in places)
        return up_root(self._scaled(max(square, 0)) * Fraction(4) ** exponent)

    def spread(self, support: list[int], shares: list[Fraction]) -> list[Fraction]:
        """Return the weights with their signs, of all rows."""
        weights = [Fraction(0)] * len(self.y)
        for i, share in zip(support, shares, strict=True):
            weights[i] = self.y[i] * share
        return weights

    def meeting(self, support: list[int]) -> list[Fraction] | None:
        """Return weights of these rows whose point is 0, in exact arithmetic; None if there are none."""
        matrix = [[self.y[j] * (self.rows[i][j] + self.one) for j in support] for i in support]
        groups = self.groups_of(support)
        right = [0] * len(matrix)
        for group in sorted(set(groups)):
            matrix.append([int(g == group) for g in groups])
            right.append(1)
        if self.bias == "free" and len(set(groups)) < 2:
            return None
        shares = solve_exactly(matrix, right)
        return shares if shares is not None and min(shares) >= 0 else None

    def _scaled(self, number: int) -> Fraction:
        return Fraction(number) * Fraction(2) ** self.exponent
