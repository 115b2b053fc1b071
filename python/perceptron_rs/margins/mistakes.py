"""How many mistakes a perceptron can make: bounds by a direction, for any data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import EngineName
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.bounds import novikoff, up
from perceptron_rs.margins.maximum import MAX_STEPS, solve
from perceptron_rs.margins.measure import plane
from perceptron_rs.margins.problem import Bias, Problem, check_options, choice, read
from perceptron_rs.margins.result import MistakeBounds

__all__ = ["mistake_bounds"]

_UNIT = 2.0**-53
_BLOCK = 1 << 20
_FAR = 2.0**40
_LARGEST = 2.0**1000  # of gamma: what is missing to it must not overflow


def mistake_bounds(
    X: Any,
    y: Any,
    coef: Any = None,
    intercept: Any = None,
    *,
    bias: Bias = "augmented",
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> MistakeBounds:
    r"""Compute upper bounds of the mistakes of a perceptron, for separable and for arbitrary data.

    Let u be a direction of length 1, R the norm of the longest example, and ``m_i = y_i u.x_i`` the signed
    distances. If all of them are at least gamma > 0, there are at most ``(R / gamma)^2`` mistakes in any
    number of epochs (Block, Novikoff). For any gamma > 0, there are at most ``((R + D) / gamma)^2``
    mistakes in one pass over the examples, with ``D^2 = sum_i max(0, gamma - m_i)^2`` (Freund, Schapire).
    With an intercept, each example has one more feature, which is 1, and u is (w, b) scaled to length 1.

    Both hold for a perceptron that starts from zero and makes plain updates: equal sample and class
    weights, no penalty, no margin and no added feature.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels of at most two classes; the larger one is positive.
    coef : array-like of shape (n_features,) or (1, n_features), default=None
        Weights of the direction, of any length. None uses those that `max_margin` finds.
    intercept : float or array-like of shape (1,), default=None
        Intercept of the direction. Only used with ``coef``.
    bias : {"augmented", "free", "none"}, default="augmented"
        "none" is for a learner without an intercept, the others for one with an intercept. Without
        ``coef``, it is also the ``bias`` of `max_margin`; "augmented" gives the smallest bound on separable
        data.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors.

    Returns
    -------
    MistakeBounds
        Both bounds, rounded up so that they hold.

    Raises
    ------
    ValueError
        If an argument has an invalid shape, length or value, or if the direction is zero.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    Notes
    -----
    ``(R + D) / gamma`` first decreases and then increases in gamma, because D is convex. Between two
    consecutive distances, D^2 is a quadratic, so the minimum is found by a search over the sorted
    distances, followed by bisection between two of them. If the function decreases forever, the bound
    approaches one mistake for each example.

    References
    ----------
    .. [1] A. B. J. Novikoff, "On convergence proofs for perceptrons", Symposium on the Mathematical
       Theory of Automata 12, 1962, pages 615-622.
    .. [2] Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999, pages 277-296, theorem 2.

    Examples
    --------
    >>> from perceptron_rs import mistake_bounds
    >>> bounds = mistake_bounds([[3], [4], [-5]], [1, 1, -1], [1], bias="none")
    >>> round(bounds.block_novikoff, 9)  # (5 / 3)^2
    2.777777778
    >>> bounds = mistake_bounds([[3], [4], [-5], [-1]], [1, 1, -1, 1], [1], bias="none")
    >>> bounds.block_novikoff, round(bounds.freund_schapire, 3)
    (inf, 3.957)
    """
    kind = choice("bias", bias, ("augmented", "free", "none"))
    if coef is None and intercept is not None:
        raise ValueError(
            "intercept was passed without coef; pass both, or neither to use the hyperplane of max_margin"
        )
    with standard():
        problem = read(X, y, engine=engine, n_jobs=n_jobs)
        columns = problem.data.rows.shape[1]
        if coef is None:
            found = solve(problem, goal="margin", **check_options(kind, 1e-8, MAX_STEPS, "auto"))
            w, b = found.coef, found.intercept
        else:
            problem.check_finite()
            w, given = plane(coef, intercept, columns)
            b = 0.0 if given is None else given
        if kind == "none" and b != 0:
            raise ValueError(
                f"intercept must be 0 or None for bias='none', got {b}; set it to 0, or use bias='augmented'"
            )
        if not w.any() and b == 0:
            raise ValueError(
                "coef must not be all zeros: such weights have no direction; pass other weights"
                if coef is not None
                else "X has no direction to measure in; give coef"
            )
        return _bounds(problem, w, b, has_bias=kind != "none")


def _bounds(problem: Problem, w: NDArray[np.float64], b: float, *, has_bias: bool) -> MistakeBounds:
    norms = row_norms(problem)
    longest = float(norms.max())
    radius = up_root(Fraction(longest) ** 2 + 1) if has_bias else longest
    all_epochs = _block_novikoff(problem, w, b, longest, has_bias=has_bias)
    if radius == 0:  # rows of zeros, and no bias: each is a mistake whenever it is visited
        return MistakeBounds(math.inf, float(len(norms)), math.inf, math.inf, 0.0)
    below = distances(problem, w, b, norms, has_bias=has_bias)
    gamma = best_gamma(below, radius)
    deviation = _deviation(below, gamma)
    if not math.isfinite(deviation):
        return MistakeBounds(all_epochs, all_epochs, gamma, math.inf, radius)
    one_pass = up(((Fraction(radius) + Fraction(deviation)) / Fraction(gamma)) ** 2)
    return MistakeBounds(all_epochs, min(one_pass, all_epochs), gamma, deviation, radius)


def _block_novikoff(
    problem: Problem, w: NDArray[np.float64], b: float, longest: float, *, has_bias: bool
) -> float:
    if not w.any():  # the bias alone: it has the augmented margin 1, or the wrong sign for some example
        right = (problem.labels == 1).all() if b > 0 else (problem.labels == 0).all()
        return novikoff(longest, math.inf, math.inf, w, b, "free")[0] if right else math.inf
    try:
        lower, upper, _ = problem.engine.margin(
            problem.data.rows,
            problem.labels,
            w,
            b if has_bias else None,
            normalize=True,
            threads=problem.threads,
        )
    except (ValueError, OverflowError) as error:
        raise problem.refuse(error) from None
    return novikoff(longest, lower, upper, w, b, "free" if has_bias else "none")[0]


def _deviation(below: NDArray[np.float64], gamma: float) -> float:
    """Return a number that is not below the root of the sum of squares of what is missing to gamma."""
    lacking = np.maximum(gamma - below, 0.0)
    scale = float(lacking.max())
    if scale == 0:
        return 0.0
    # Differences, quotients, squares, their sum and its root are rounded once each: less than 16 units.
    total = math.fsum(((lacking / scale) ** 2).tolist())
    return math.nextafter(scale * math.sqrt(total) * (1 + 16 * _UNIT), math.inf)


def up_root(value: Fraction) -> float:
    """Return a float that is not below the root of ``value``, and next to it."""
    bits = max(0, 80 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    whole = math.ceil(value * 4**bits)
    root = math.isqrt(whole)
    return up(Fraction(root + (root * root < whole), 2**bits))


def row_norms(problem: Problem) -> NDArray[np.float64]:
    """Return numbers that are not below the norms of the rows, and next to them."""
    values, indptr = problem.data.values, problem.data.indptr
    n, d = problem.data.rows.shape
    scale = float(max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))) or 1.0
    exponent = math.frexp(scale)[1]
    squares = np.zeros(n)
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        stop = min(n, start + step)
        if indptr is None:
            block = np.ldexp(values[start:stop].astype(np.float64), -exponent)
            squares[start:stop] = np.add.reduce(block * block, axis=1)
        else:
            part = np.ldexp(values[indptr[start] : indptr[stop]].astype(np.float64), -exponent)
            numbers = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
            squares[start:stop] = np.bincount(numbers, weights=part * part, minlength=stop - start)
    # In any order, the sum of d squares is short by at most d + 1 units; squares may underflow to nothing.
    safe = squares * (1 + (2 * d + 16) * _UNIT) + np.where(squares > 0, d * 2.0**-1060, 0.0)
    hidden = (squares == 0) & np.asarray(_has_values(problem), dtype=bool)
    safe[hidden] = d * 2.0**-1060
    norms = np.ldexp(np.sqrt(safe) * (1 + 8 * _UNIT), exponent)
    return np.where(safe > 0, np.nextafter(norms, np.inf), 0.0)


def _has_values(problem: Problem) -> NDArray[np.bool_]:
    """Return which rows have a value that is not 0."""
    values, indptr = problem.data.values, problem.data.indptr
    if indptr is None:
        return np.asarray((values != 0).any(axis=1))
    numbers = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return np.bincount(numbers, weights=values != 0, minlength=len(indptr) - 1) > 0


def distances(
    problem: Problem, w: NDArray[np.float64], b: float, norms: NDArray[np.float64], *, has_bias: bool
) -> NDArray[np.float64]:
    """Return numbers that are not above the distances ``y (w.x + b) / ||(w, b)||``, and near them."""
    exponent = math.frexp(max(float(np.abs(w).max(initial=0.0)), abs(b)))[1]
    w, b = np.ldexp(w, -exponent), math.ldexp(b, -exponent)  # the largest is in [1/2, 1)
    squares = w * w
    square = math.fsum([*squares.tolist(), b * b])
    norm = math.sqrt(square)  # within 3 units of the true one
    scores = problem.engine.scores(
        problem.data.rows, w.reshape(1, -1), np.array([b]), threads=problem.threads
    )[:, 0]
    signed = np.where(problem.labels == 1, scores, -scores)
    d = len(w)
    lengths = norms + (1.0 if has_bias else 0.0)  # not below ||(x, 1)||
    # |computed - exact| of d products and their sum is below (d + 2) units of sum |w_j x_j| <= ||w|| ||x||.
    error = (2 * d + 32) * _UNIT * lengths * norm + d * 2.0**-1060
    below = (signed - error) / norm
    return np.nextafter(below - 8 * _UNIT * np.abs(below), -np.inf)


def best_gamma(below: NDArray[np.float64], radius: float) -> float:
    """Return the gamma > 0 that makes ``(R + D) / gamma`` smallest; any is valid, so rounding does no harm.

    With A the sum of ``gamma - m`` over the smaller distances m, the derivative has the sign of
    ``gamma A - D (D + R)``. At the distances themselves A and D^2 are sums of terms that are not negative.
    """
    m = np.sort(below)
    scale = max(float(np.abs(m).max()), radius)
    m, r = m / scale, radius / scale
    count, steps = np.arange(1, len(m)), np.diff(m)
    lacking = np.concatenate([[0.0], np.cumsum(count * steps)])
    squares = np.concatenate([[0.0], np.cumsum(steps * (2 * lacking[:-1] + count * steps))])
    root = np.sqrt(squares)
    falls = (m <= 0) | (m * lacking <= root * (root + r))
    k = len(m) if falls.all() else int(np.argmin(falls))  # the place is behind k distances, before the next
    base, a, square = (
        float(m[k - 1]),
        float(lacking[k - 1]),
        float(squares[k - 1]),
    )  # k > 0: D is 0 at the first

    def still_falls(gamma: float) -> bool:
        step = gamma - base
        deviation = math.sqrt(square + step * (2 * a + k * step))
        return gamma * (a + k * step) <= deviation * (deviation + r)

    low = max(base, 2.0**-60)
    high = float(m[k]) if k < len(m) else 2 * low
    while k == len(m) and still_falls(high) and high < _FAR:
        high *= 2  # it may fall for ever, towards a bound of one mistake for each example
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if still_falls(middle) else (low, middle)
    return min(high * scale, _LARGEST)
