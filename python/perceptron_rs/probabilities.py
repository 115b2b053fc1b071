"""Probabilities of scores: what a calibration has found on held-out examples, in use.

Scores are multiplied and shifted element by element, and exponentials are those of the engine, so both
engines give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from types import MethodType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats, OwnArrays
from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.choices import CalibrationMethod
from perceptron_rs.engines import Engine
from perceptron_rs.estimator_attributes import Method

_LARGEST = float(np.finfo(np.float64).max)
#: Numbers that each exponential is worth, for pieces.
_COST = 16


class _Available:
    """A method that only some objects have: scikit-learn's ``available_if``, whose import is slow."""

    def __init__(self, check: Callable[[Any], None], method: Callable[..., Any]) -> None:
        self.check, self.method = check, method
        update_wrapper(cast("Callable[..., Any]", self), method)

    def __get__(self, model: object, kind: type | None = None) -> Any:
        if model is None:
            return self.method
        self.check(model)
        return MethodType(self.method, model)


def available(check: Callable[[Any], None]) -> Callable[[Method], Method]:
    """Let objects have a method only where ``check`` raises no AttributeError."""

    def decorate(method: Method) -> Method:
        return cast("Method", _Available(check, method))

    return decorate


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(OwnArrays):
    """What makes probabilities of scores.

    Parameters
    ----------
    method : {"temperature", "sigmoid"}
        "temperature": the softmax of the scores times ``slope[0]``; of two classes, the logistic function.
        "sigmoid": of each plane k the logistic function of ``slope[k] * score + intercept[k]``; of more than
        two classes, divided by their sum.
    slope, intercept : ndarray of shape (1,) or (n_classes,)
        The numbers that held-out examples have led to. The temperature is 1 / ``slope[0]``.
    scores : dict of str to str or bool
        The parameters that the scores were computed with.
    """

    method: CalibrationMethod
    slope: Floats
    intercept: Floats
    scores: Mapping[str, str | bool]

    def __repr__(self) -> str:
        return f"<Calibration: {self.in_words()}>"

    def in_words(self) -> str:
        """Return it for people."""
        if self.method == "temperature":
            return f"temperature, slope {self.slope[0]:.6g}"
        pairs = zip(self.slope.tolist(), self.intercept.tolist(), strict=True)
        shown = [f"{slope:.6g} and {intercept:.6g}" for slope, intercept in pairs]
        more = f" ... of {len(shown)} classes" if len(shown) > 3 else ""
        return f"sigmoid, slope and intercept {', '.join(shown[:3])}{more}"

    def probabilities(self, engine: Engine, scores: Floats, *, many: bool) -> Floats:
        """Return the probability of each class, or of each of ``many`` labels, for scores (n,) or (n, K)."""
        z = scores.reshape(len(scores), -1)
        n, planes = z.shape
        p = np.empty((n, max(planes, 1 if many else 2)))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for piece in pieces(n, planes * _COST):
                p[piece] = self._of(engine, z[piece], many=many)
        return p

    def _of(self, engine: Engine, z: Floats, *, many: bool) -> Floats:
        if self.method == "temperature" and z.shape[1] > 1:
            return softmax(engine, z, float(self.slope[0]))
        p = apply(engine, "logistic", np.clip(z * self.slope + self.intercept, -_LARGEST, _LARGEST))
        if many:
            return p
        if p.shape[1] == 1:
            return np.hstack([1.0 - p, p])
        total = np.add.accumulate(p, axis=1)[:, -1:]
        return np.divide(p, total, out=np.full_like(p, 1.0 / p.shape[1]), where=total > 0)


def apply(engine: Engine, function: str, values: Floats) -> Floats:
    """Return an elementary function of each number of an array of any shape."""
    return engine.elementary(np.ascontiguousarray(values).reshape(-1), function=function).reshape(
        values.shape
    )


def softmax(engine: Engine, z: Floats, slope: float) -> Floats:
    """Return the softmax of each row times a number of at least 0; sums run from the first class on."""
    rest = np.maximum(z - z.max(axis=1, keepdims=True), -_LARGEST) * slope
    e = apply(engine, "exp", rest)
    p: Floats = e / np.add.accumulate(e, axis=1)[:, -1:]
    return p


def largest_decides(p: Floats, decided: NDArray[np.intp]) -> Floats:
    """Return probabilities of which the largest, and first of equals, is that of the decision.

    Rounding may make two of them equal, of which the second is the larger one.
    """
    rows = np.arange(len(p))
    hidden = rows[np.argmax(p, axis=1) != decided]
    p[hidden, decided[hidden]] = np.nextafter(p[hidden, decided[hidden]], np.inf)
    return p


def of_scores(model: object) -> dict[str, str | bool]:
    """Return the parameters that may be changed after a fit, and with which scores change."""
    if not hasattr(model, "prediction"):
        return {}
    names = ("prediction", "normalize", *(("tie",) if model.prediction == "vote" else ()))
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def logarithms(engine: Engine, probabilities: Floats) -> Floats:
    """Return the natural logarithm of each probability; of 0 it is minus infinity."""
    logs = np.empty_like(probabilities)
    for piece in pieces(len(logs), probabilities.shape[1] * _COST):
        logs[piece] = apply(engine, "log", probabilities[piece])
    return logs
