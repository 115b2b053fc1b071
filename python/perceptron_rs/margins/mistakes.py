"""How many mistakes a perceptron can make: bounds by a direction, for any data."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import row_numbers
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import Floats
from perceptron_rs.arrays.scalars import checked_number
from perceptron_rs.choices import Bias, EngineName
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.exact.bounds import most_updates, norm_squared, novikoff, up_root
from perceptron_rs.margins.measure import planes
from perceptron_rs.margins.result import MistakeBounds
from perceptron_rs.margins.search.maximum import largest_margin
from perceptron_rs.margins.search.problem import Problem, read_problem, search_options

_UNIT = 2.0**-53
_NUMBERS_AT_ONCE = 1 << 20
_FAR = 2.0**40
_LARGEST_GAMMA = 2.0**1000  # of gamma: what is missing to it must not overflow


def mistake_bounds(
    X: MatrixLike,
    y: ArrayLike,
    coef: object = None,
    intercept: object = None,
    *,
    bias: Bias = "augmented",
    margin_threshold: float = 0.0,
    added_feature: float = 0.0,
    eta0: float = 1.0,
    coef_init: ArrayLike = None,
    intercept_init: ArrayLike = None,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> MistakeBounds:
    r"""Compute upper bounds of the mistakes of a perceptron, for separable and for arbitrary data.

    Let u be a direction of length 1, R the norm of the longest example, and :math:`m_i = y_i\, u \cdot x_i`
    the signed distances. If all of them are at least gamma > 0, there are at most :math:`(R / \gamma)^2`
    mistakes in any number of epochs (Block, Novikoff). For any gamma > 0, there are at most :math:`((R + D) /
    \gamma)^2` mistakes in one pass over the examples, with :math:`D^2 = \sum_i \max(0, \gamma - m_i)^2`
    (Freund, Schapire). With an intercept, each example has one more feature, which is 1, and u is (w, b)
    scaled to length 1.

    Both hold for equal sample and class weights and no penalty. The parameters of the learner that change the
    bounds are arguments here; see the notes for how. With more than two classes, the bounds are those of
    ``multi_class="joint"``, and ``coef`` is required; for one-vs-rest, add the bounds of ``y == label``.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels. Of two classes, the larger one is positive.
    coef : array-like of shape (n_features,), (1, n_features) or (n_classes, n_features), default=None
        Weights of the direction, of any length. None uses those that `max_margin` finds.
    intercept : float or array-like of shape (1,) or (n_classes,), default=None
        Intercept of the direction. Only used with ``coef``.
    bias : {"augmented", "free", "none"}, default="augmented"
        "none" is for a learner without an intercept, the others for one with an intercept. Without
        ``coef``, it is also the ``bias`` of `max_margin`; "augmented" gives the smallest bound on separable
        data.
    margin_threshold : float, default=0.0
        That of the learner, in [0, inf). Not available with more than two classes.
    added_feature : float, default=0.0
        That of the learner, in [0, inf). Not available with more than two classes.
    eta0 : float, default=1.0
        That of the learner, in (0, inf). It changes nothing without a threshold or initial weights.
    coef_init : array-like of the shape of ``coef``, default=None
        Initial weights; None for 0.
    intercept_init : array-like of the shape of ``intercept``, default=None
        Initial intercept; None for 0.
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
    All bounds come from one argument. Divide the weights by eta0; let each update add c x with c = y, and let
    a mistake be :math:`y\, w \cdot x \le \tau`, where tau is ``margin_threshold / eta0``. Along u, an update
    adds gamma or more: :math:`w_k \cdot u \ge w_0 \cdot u + k \gamma`. To the squared length it adds :math:`2
    y\, w \cdot x + \|x\|^2`, which is at most :math:`A = R^2 + 2 \tau`: :math:`\|w_k\|^2 \le \|w_0\|^2 + k
    A`. As :math:`w_k \cdot u \le \|w_k\|`,

    .. math:: w_0 \cdot u + k \gamma \le \sqrt{\|w_0\|^2 + k A}

    From zero, k is at most :math:`A / \gamma^2`; from other weights, at most the larger root of the quadratic
    equation. Initial weights along u lower the bound, others raise it.

    With an added feature of the value Delta, example i is (x_i, Delta e_i), whose squared norm is at most
    :math:`R^2 + \Delta^2`. The direction :math:`(u, y_i d_i / \Delta, \dots)` with :math:`d_i = \max(0,
    \gamma - m_i)` has the margin gamma for every example, and the squared length :math:`1 + D^2 / \Delta^2`.
    So in any number of epochs there are at most :math:`(R^2 + \Delta^2) (1 + D^2 / \Delta^2) / \gamma^2`
    mistakes, for every gamma > 0, on any data. In one pass no example meets its own feature again, so a
    learner without it makes the same mistakes, and Delta is free: :math:`\Delta^2 = R D` gives :math:`((R +
    D) / \gamma)^2`. In terms of :math:`p = 1 / \gamma` the bound with a given Delta is convex, and its
    minimum is found by bisection.

    In a joint decision the direction is a matrix U of length 1, and m_i is :math:`U_y \cdot x - \max_r U_r
    \cdot x`. An update adds x to the true class and parts of -x, which sum to -x, to classes that scored as
    high or higher. Along U this adds gamma or more; to the squared length it adds at most :math:`\|x\|^2 +
    \|x\|^2`, so A is :math:`2 R^2`. With two classes, :math:`U = (-u, u) / \sqrt{2}` gives the bound of the
    single hyperplane u. For one pass, each example gets a feature of its own, with the weight :math:`(1 - 1 /
    K) d_i / \Delta` for its class and :math:`-d_i / (K \Delta)` for each other one; so D^2 counts :math:`1 -
    1 / K` times.

    :math:`(R + D) / \gamma` first decreases and then increases in gamma, because D is convex. Between two
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
    >>> bounds = mistake_bounds([[3], [4], [-5], [-1]], [1, 1, -1, 1], [1], bias="none", added_feature=5)
    >>> round(bounds.block_novikoff, 3)
    4.816
    """
    options = search_options(bias)
    if coef is None and intercept is not None:
        raise ValueError(
            "intercept was passed without coef; pass both, or neither to use the hyperplane of max_margin"
        )
    with standard():
        terms = _learner_terms(margin_threshold, added_feature, eta0)
        problem = read_problem(X, y, engine=engine, n_jobs=n_jobs, may_be_many=True)
        w, b = _direction(problem, coef, intercept, options)
        start = _start_weights_of(w.shape, coef_init, intercept_init, has_bias=bias != "none")
        if len(problem.classes) > 2 and (terms.threshold or terms.added):
            raise ValueError(
                "margin_threshold and added_feature must be 0 with more than two classes: a joint learner "
                "has neither"
            )
        return _bounds(problem, w, b, start, terms, has_bias=bias != "none")


class _Terms(NamedTuple):
    """What the learner adds to the plain perceptron."""

    threshold: Fraction  # in units of eta0
    added: float
    eta0: Fraction


def _learner_terms(threshold: Any, added: Any, eta0: Any) -> _Terms:
    terms = {"margin_threshold": threshold, "added_feature": added, "eta0": eta0}
    numbers = {name: float(checked_number(name, value)) for name, value in terms.items()}
    for name, value in numbers.items():
        least = "above 0" if name == "eta0" else "at least 0"
        if not math.isfinite(value) or value < 0 or (name == "eta0" and value == 0):
            raise ValueError(f"{name} must be finite and {least}, got {value}; give that of the learner")
    threshold, added, eta0 = numbers.values()
    return _Terms(Fraction(threshold) / Fraction(eta0), added, Fraction(eta0))


def _direction(
    problem: Problem, coef: object, intercept: object, options: dict[str, Any]
) -> tuple[Floats, Floats]:
    """Return weights (K, d) and intercepts (K,) of the direction, with K = 1 for two classes."""
    columns, classes = problem.data.rows.shape[1], len(problem.classes)
    if coef is None and classes > 2:
        raise ValueError(
            f"coef must be given with {classes} classes, such as those of a fitted joint learner, or of "
            "joint_margin"
        )
    if coef is None:
        result = largest_margin(problem, options)
        w, b = result.coef.reshape(1, -1), np.array([result.intercept])
    else:
        problem.check_finite()
        w, b = planes(coef, intercept, columns, classes if classes > 2 else 1)
    if options["bias"] == "none" and b.any():
        raise ValueError(
            f"intercept must be 0 or None for bias='none', got {b[b != 0][0]}; set it to 0, or use "
            "bias='augmented'"
        )
    if not w.any() and not b.any():
        raise ValueError(
            "coef must not be all zeros: such weights have no direction; pass other weights"
            if coef is not None
            else "X has no direction to measure in; give coef"
        )
    return w, b


def _start_weights_of(
    shape: tuple[int, ...], coef: object, intercept: object, *, has_bias: bool
) -> tuple[Floats, Floats]:
    """Return the initial weights and intercepts, in the shape of the direction."""
    weights, intercepts = planes(
        np.zeros(shape) if coef is None else coef, intercept, shape[1], shape[0], of="_init"
    )
    if not has_bias and intercepts.any():
        raise ValueError("intercept_init must be 0 or None for bias='none'; such a learner has none")
    return weights, intercepts


def _progress(
    w: Floats, b: Floats, start: tuple[Floats, Floats], eta0: Fraction
) -> tuple[Fraction, Fraction]:
    """Return a number not above ``w_0.u``, and ``||w_0||^2``, both in units of eta0."""
    ours = [Fraction(value) for value in (*start[0].ravel().tolist(), *start[1].tolist())]
    square = sum((value**2 for value in ours), Fraction(0)) / eta0**2
    if square == 0:
        return Fraction(0), square
    theirs = [Fraction(value) for value in (*w.ravel().tolist(), *b.tolist())]
    along = sum((a * c for a, c in zip(ours, theirs, strict=True)), Fraction(0))
    norm = sum((value**2 for value in theirs), Fraction(0))
    length = Fraction(up_root(norm))
    while along < 0 and length**2 > norm:  # a quotient below 0 is rounded away from 0
        length = Fraction(math.nextafter(float(length), 0.0))
    return along / length / eta0, square


def _bounds(
    problem: Problem, w: Floats, b: Floats, start: tuple[Floats, Floats], terms: _Terms, *, has_bias: bool
) -> MistakeBounds:
    norms = row_norms(problem)
    n, longest, k = len(norms), float(norms.max()), len(problem.classes)
    rows = Fraction(longest) ** 2 + (1 if has_bias else 0)
    radius = up_root(rows)
    if radius == 0 and not terms.added:  # rows of zeros: each is a mistake whenever it is visited
        return MistakeBounds(math.inf, float(n), math.inf, math.inf, 0.0, n)
    progress, all_epochs = _progress(w, b, start, terms.eta0), math.inf
    one = part = Fraction(1)
    if k > 2:
        growth, part = 2 * rows, 2 - Fraction(2, k)  # Delta^2, too, counts twice in the growth
        below = joint_distances(problem, w, b, norms, has_bias=has_bias)
        least = float(below.min())
        if least > 0:
            all_epochs = most_updates(growth, Fraction(least) ** 2, one, *progress)
    else:
        growth, square = rows + 2 * terms.threshold, Fraction(terms.added) ** 2
        below = distances(problem, w[0], float(b[0]), norms, has_bias=has_bias)
        plain = _block_novikoff(problem, w[0], float(b[0]), longest, has_bias=has_bias)
        if math.isfinite(plain):  # R^2 / plain is not above the square of the margin
            all_epochs = most_updates(growth + square, rows / Fraction(plain), one, *progress)
        if terms.added:
            gamma = _gamma_with(below, terms.added)
            deviation = _deviation(below, gamma)
            if math.isfinite(deviation):
                length = 1 + Fraction(deviation) ** 2 / square
                most = most_updates(growth + square, Fraction(gamma) ** 2, length, *progress)
                all_epochs = min(all_epochs, most)
    reach = up_root(growth)
    gamma = best_gamma(below, reach / math.sqrt(part))
    deviation = _deviation(below, gamma)
    one_pass = _one_pass(reach, gamma, deviation, part, progress)
    return MistakeBounds(all_epochs, min(one_pass, all_epochs), gamma, deviation, radius, n)


def _one_pass(
    reach: float, gamma: float, deviation: float, part: Fraction, progress: tuple[Fraction, Fraction]
) -> float:
    """Return the bound with an added feature of the best value, which one pass does not use."""
    if not math.isfinite(deviation) or reach == 0:
        return math.inf
    # (R^2 + Delta^2) (1 + part D^2 / Delta^2) is least at Delta^2 = R D sqrt(part); any other is valid.
    r, lacking = Fraction(reach), Fraction(deviation)
    root = Fraction(math.sqrt(part)) if part != 1 else part
    delta_squared = r * lacking * root
    length = 1 + part * lacking**2 / delta_squared if delta_squared else Fraction(1)
    return most_updates(r**2 + delta_squared, Fraction(gamma) ** 2, length, *progress)


def _gamma_with(below: Floats, added: float) -> float:
    """Return the gamma that makes ``(1 + D^2 / Delta^2) / gamma^2`` smallest; any is valid.

    In terms of p = 1 / gamma it is ``p^2 + sum_i max(0, 1 - m_i p)^2 / Delta^2``, which is convex.
    """
    scale = max(float(np.abs(below).max()), added)
    m, square = below / scale, (added / scale) ** 2

    def falls(p: float) -> bool:
        return square * p < float(np.sum(m * np.maximum(0.0, 1 - m * p)))

    return min(scale / _end_of_fall(falls, 0.0, 1.0, may_grow=True), _LARGEST_GAMMA)


def _end_of_fall(falls: Callable[[float], bool], low: float, high: float, *, may_grow: bool) -> float:
    """Return where a function has stopped to fall, or a number that is far, if it falls for ever."""
    while may_grow and falls(high) and high < _FAR:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return high


def _block_novikoff(
    problem: Problem, w: NDArray[np.float64], b: float, longest: float, *, has_bias: bool
) -> float:
    if not w.any():  # the bias alone: it has the augmented margin 1, or the wrong sign for some example
        right = (problem.labels == 1).all() if b > 0 else (problem.labels == 0).all()
        return novikoff(longest, math.inf, math.inf, w, b, "free")[0] if right else math.inf
    lower, upper, _ = problem.margin(w, b if has_bias else None, normalize=True)
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


def row_norms(problem: Problem) -> NDArray[np.float64]:
    """Return numbers that are not below the norms of the rows, and next to them."""
    values, indptr = problem.data.values, problem.data.indptr
    n, d = problem.data.rows.shape
    scale = float(max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))) or 1.0
    exponent = math.frexp(scale)[1]
    squares = np.zeros(n)
    step = max(1, _NUMBERS_AT_ONCE // max(1, d))
    for start in range(0, n, step):
        stop = min(n, start + step)
        if indptr is None:
            block = np.ldexp(values[start:stop].astype(np.float64), -exponent)
            squares[start:stop] = np.add.reduce(block * block, axis=1)
        else:
            part = np.ldexp(values[indptr[start] : indptr[stop]].astype(np.float64), -exponent)
            numbers = row_numbers(indptr[start : stop + 1])
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
    numbers = row_numbers(indptr)
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


def joint_distances(
    problem: Problem, w: Floats, b: Floats, norms: NDArray[np.float64], *, has_bias: bool
) -> NDArray[np.float64]:
    """Return numbers not above ``(s_y - max_r s_r) / ||(W, b)||`` of the scores s, and near them."""
    exponent = math.frexp(max(float(np.abs(w).max(initial=0.0)), float(np.abs(b).max())))[1]
    w, b = np.ldexp(w, -exponent), np.ldexp(b, -exponent)
    high = up_root(norm_squared(np.append(w.ravel(), b), 0)[1])
    scores = problem.engine.scores(problem.data.rows, w, b, threads=problem.threads)
    numbers = np.arange(len(scores))
    own = scores[numbers, problem.labels]
    scores[numbers, problem.labels] = -np.inf
    d = w.shape[1]
    lengths = norms + (1.0 if has_bias else 0.0)
    # Two scores, each with the error that `distances` has; a row of W is not longer than all of it.
    error = (4 * d + 64) * _UNIT * lengths * high + d * 2.0**-1059
    low = (own - scores.max(axis=1)) - error
    below = low / np.where(low > 0, high, high * (1 - 8 * _UNIT))
    return np.asarray(np.nextafter(below - 8 * _UNIT * np.abs(below), -np.inf))


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
    base, a, square = (float(of[k - 1]) for of in (m, lacking, squares))  # k > 0: D is 0 at the first

    def still_falls(gamma: float) -> bool:
        step = gamma - base
        deviation = math.sqrt(square + step * (2 * a + k * step))
        return gamma * (a + k * step) <= deviation * (deviation + r)

    low = max(base, 2.0**-60)
    high = float(m[k]) if k < len(m) else 2 * low
    # It may fall for ever, towards a bound of one mistake for each example.
    return min(_end_of_fall(still_falls, low, high, may_grow=k == len(m)) * scale, _LARGEST_GAMMA)
