"""The arithmetic of layers of neurons: values forward, errors backward.

Arrays hold one row an example. Sums over the neurons of a layer run from the first one on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats

from .dot import dot
from .exp import exp, logistic
from .log import log
from .tanh import tanh


def relu(z: Floats) -> Floats:
    """Return z where it is positive (or NaN), else +0.0."""
    return np.where(z <= 0, 0.0, z)


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"logistic": logistic, "relu": relu, "tanh": tanh}


def slope(activation: str, h: Floats) -> Floats:
    """Return the derivative of an activation function where its value is h."""
    if activation == "tanh":
        return 1.0 - h * h
    if activation == "logistic":
        return h * (1.0 - h)
    return np.where(h > 0, 1.0, 0.0)


def weighted(h: Floats, coef: Floats, intercept: Floats) -> Floats:
    """Return the activation of every neuron of a layer: rule 3, the intercept last."""
    return np.stack([dot(h, w) for w in coef], axis=1) + intercept


def _shifted(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return z without its maximum, the exponentials, and their sum."""
    rest = z - z.max(axis=1, keepdims=True)
    e = exp(rest)
    return rest, e, np.add.accumulate(e, axis=1)[:, -1:]


def probabilities(z: Floats) -> Floats:
    """Return the logistic function of one output, or the softmax of several."""
    if z.shape[1] == 1:
        return logistic(z)
    _, e, total = _shifted(z)
    p: Floats = e / total
    return p


def losses(z: Floats, labels: NDArray[np.uint32]) -> Floats:
    """Return minus the logarithm of the probability of each example's class."""
    if z.shape[1] == 1:
        m = np.where(labels == 1, z[:, 0], -z[:, 0])
        return np.where(m < 0, -m, 0.0) + log(1.0 + exp(-np.abs(m)))
    rest, _, total = _shifted(z)
    result: Floats = log(total[:, 0]) - rest[np.arange(len(z)), labels]
    return result


def mistakes(z: Floats, labels: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return whether z speaks for another class: the largest, the first of equals; of two, by its sign."""
    chosen = np.argmax(z, axis=1) if z.shape[1] > 1 else z[:, 0] > 0
    wrong: NDArray[np.bool_] = chosen != labels
    return wrong


def truth(z: Floats, labels: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return the probabilities of one who knows: 1 for the true class, else 0."""
    known = np.arange(z.shape[1]) == labels[:, None] if z.shape[1] > 1 else labels[:, None] == 1
    return np.asarray(known, dtype=np.float64)


def backward(delta: Floats, coef: Floats) -> Floats:
    """Return the errors of a layer times the weights that lead to them."""
    back = np.zeros((len(delta), coef.shape[1]))
    for k, w in enumerate(coef):
        back = back + delta[:, k : k + 1] * w
    return back


def accumulated(delta: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return the sums over the examples of the gradients of weights and intercepts."""
    gradient, intercept = np.zeros((delta.shape[1], h.shape[1])), np.zeros(delta.shape[1])
    for d, x in zip(delta, h, strict=True):
        gradient, intercept = gradient + d[:, None] * x, intercept + d
    return gradient, intercept


def start_weights(numbers: NDArray[np.uint64], inputs: int, outputs: int, activation: str) -> Floats:
    """Return start weights from random numbers: uniform between plus and minus Glorot's bound."""
    bound = np.sqrt((2.0 if activation == "logistic" else 6.0) / float(inputs + outputs))
    part = (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53
    result: Floats = (2.0 * part - 1.0) * bound + 0.0
    return result
