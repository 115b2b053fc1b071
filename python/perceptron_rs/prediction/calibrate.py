"""Calibration: one or two numbers a plane, with which probabilities fit held-out examples best.

Temperature scaling minimises the logistic loss of the softmax of the scores times a number (Guo, Pleiss, Sun
and Weinberger, 2017). Sigmoid scaling minimises that of a logistic function of each plane's scores, with the
targets of Platt (1999) and the steps of Lin, Lin and Weng (2007). Both losses are convex. Sums run from the
first example on, and exponentials are the engine's: equal scores lead to equal bits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.arrays.named import Floats
from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.choices import CalibrationMethod, words
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.errors import OptionsError, warn_caller
from perceptron_rs.float_mode import standard
from perceptron_rs.prediction.predictor import Classifier
from perceptron_rs.probabilities import Calibration, apply, of_scores, softmax
from perceptron_rs.targets.label_sets import bits
from perceptron_rs.targets.labels import encode, target_of
from perceptron_rs.targets.planes import is_multilabel
from perceptron_rs.targets.weights import sample_weights

METHODS = words(CalibrationMethod)
#: Numbers that an example is worth, for pieces.
_FIT_COST = 64
#: Each step halves an interval or does better: more than a float has bits.
_STEPS = 200


def calibration_of(
    model: Classifier,
    scores: Floats,
    y: ArrayLike,
    method: CalibrationMethod,
    sample_weight: ArrayLike = None,
) -> Calibration:
    """Return what the scores of a model on held-out examples lead to.

    Parameters
    ----------
    model : classifier
    scores : ndarray of shape (n,) or (n, K)
        As ``decision_function`` returns them.
    y : array-like of shape (n,) or (n, K)
        Labels, or matrices of many.
    method : {"temperature", "sigmoid"}
    sample_weight : array-like of shape (n,), default=None
    """
    check_among("method", method, *METHODS)
    many, n_classes = is_multilabel(model), len(model.classes_)
    if many and method == "temperature":
        raise OptionsError(
            "{method} is of one class for each example, and the model has many labels",
            "set {method}",
            values={"method": "temperature"},
            settings={"method": "sigmoid"},
        )
    labels = encode(target_of(model, y, len(scores)), model.classes_, "leave out such examples")
    weights = sample_weights(sample_weight, labels)
    z = scores.reshape(len(scores), -1)
    w = np.ones(len(z)) if weights is None else weights
    engine = get_engine(model.engine)
    with standard(), np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if method == "temperature":
            planes = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
            numbers = np.array([_temperature(engine, planes, labels, w)]), np.zeros(1)
        else:
            held = bits(labels, n_classes) if many else np.arange(n_classes) == labels[:, None]
            held = held[:, 1:] if z.shape[1] == 1 else held
            pairs = [_sigmoid(engine, z[:, k].copy(), held[:, k], w) for k in range(z.shape[1])]
            numbers = np.array([slope for slope, _ in pairs]), np.array([shift for _, shift in pairs])
    if not all(np.isfinite(array).all() for array in numbers):
        raise ValueError("the scores of X are too large to be calibrated; scale the features and fit again")
    return Calibration(method, *numbers, of_scores(model))


def _temperature(engine: Engine, z: Floats, labels: NDArray[np.uint32], w: Floats) -> float:
    """Return the number that the scores (n, K) are multiplied with: 1 / temperature."""
    n, K = z.shape
    true = z[np.arange(n), labels]
    others = z.copy()
    others[np.arange(n), labels] = -np.inf
    margins = (true - others.max(axis=1))[w > 0]
    top = z.max(axis=1, keepdims=True)
    largest = float((top[:, 0] - z.min(axis=1))[w > 0].max())
    mean = _sum(w * (np.add.accumulate(z - top, axis=1)[:, -1] / K - (true - top[:, 0])))
    if not mean < 0:
        warn_caller(
            "the scores of X say no more of y than chance, so all classes get the same probability; fit "
            "better, or look whether y belongs to X",
            UserWarning,
        )
        return 0.0
    right, rest = 1.0, 0.0  # targets of the true class and of each other one
    if (margins >= 0).all():
        warn_caller(
            f"each of the {n} examples is predicted right, so no finite temperature fits best; their classes "
            f"are taken to be {n + 1} / {n + K} probable, and more examples would say it better",
            UserWarning,
        )
        total = _sum(w)
        right, rest = (total + 1.0) / (total + K), 1.0 / (total + K)

    def slopes(beta: float) -> tuple[float, float]:
        """Return the first and the second derivative of the loss."""
        first = second = 0.0
        for piece in pieces(n, K * _FIT_COST):
            part, tops = z[piece], top[piece]
            away = part - tops
            p = softmax(engine, part, beta)
            expected = np.add.accumulate(p * away, axis=1)[:, -1]
            squares = np.add.accumulate(p * away * away, axis=1)[:, -1] - expected * expected
            wanted = true[piece] - tops[:, 0]
            if rest > 0:
                wanted = (right - rest) * wanted + rest * np.add.accumulate(away, axis=1)[:, -1]
            first, second = _sum(w[piece] * (expected - wanted), first), _sum(w[piece] * squares, second)
        return first, second

    return _root(slopes, 1.0 / largest)


def _root(slopes: Callable[[float], tuple[float, float]], start: float) -> float:
    """Return where a derivative that is below 0 at 0, and grows, is 0: by Newton's steps in an interval."""
    low, high, beta = 0.0, np.inf, start
    for _ in range(_STEPS):
        first, second = slopes(beta)
        if first < 0:
            low = beta
        else:
            high = beta
        step = beta - first / second if second > 0 else np.nan
        if not low < step < high:
            step = 2.0 * beta if high == np.inf else 0.5 * (low + high)
        step = min(step, 4.0 * beta)
        if first == 0 or abs(step - beta) <= 1e-14 * beta:
            return float(step)
        beta = step
    return float(beta)


def _sigmoid(engine: Engine, f: Floats, held: NDArray[np.bool_], w: Floats) -> tuple[float, float]:
    """Return slope and intercept of the logistic function of the scores of a plane."""
    scale = max(float(np.abs(f).max()), np.finfo(np.float64).tiny)
    f = f / scale
    positive, negative = _sum(w[held]), _sum(w[~held])
    target = np.where(held, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    a, b = 0.0, float(apply(engine, "log", np.array([(positive + 1.0) / (negative + 1.0)]))[0])

    def loss(a: float, b: float) -> float:
        total = 0.0
        for piece in pieces(len(f), _FIT_COST):
            x = a * f[piece] + b
            rest = apply(engine, "log", 1.0 + apply(engine, "exp", -np.abs(x)))
            total = _sum(w[piece] * (np.maximum(x, 0.0) + rest - target[piece] * x), total)
        return total

    now = loss(a, b)
    for _ in range(_STEPS):
        sums = [0.0] * 5
        for piece in pieces(len(f), _FIT_COST):
            part = f[piece]
            p = apply(engine, "logistic", a * part + b)
            first, second = w[piece] * (p - target[piece]), w[piece] * (p * (1.0 - p))
            terms = (first * part, first, second * part * part, second * part, second)
            sums = [_sum(term, total) for term, total in zip(terms, sums, strict=True)]
        of_a, of_b, aa, ab, bb = sums
        aa, bb = aa + 1e-12, bb + 1e-12
        determinant = aa * bb - ab * ab
        da, db = -(bb * of_a - ab * of_b) / determinant, -(aa * of_b - ab * of_a) / determinant
        size, downhill, before = 1.0, of_a * da + of_b * db, now
        for _ in range(60):
            now = loss(a + size * da, b + size * db)
            if now < before + 1e-4 * size * downhill:
                break
            size *= 0.5
        else:
            break  # no step is better: what is left is rounding
        a, b = a + size * da, b + size * db
        if abs(da) <= 1e-13 * (1.0 + abs(a)) and abs(db) <= 1e-13 * (1.0 + abs(b)):
            break
    return a / scale, b


def _sum(terms: Floats, start: float = 0.0) -> float:
    """Return the sum, from the first term to the last."""
    return float(np.add.accumulate(np.append(start, terms))[-1])
