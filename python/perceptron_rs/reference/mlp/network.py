"""The network: its random start, its values, its answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.arith import neuron
from perceptron_rs.reference.order import splitmix64, state_of_epoch

__all__ = ["check_network", "dense", "mlp_scores", "mlp_start", "values"]

Arrays = list[NDArray[np.float64]]

#: No permutation uses it.
START_EPOCH = 2**64 - 1


@standard()
def mlp_start(
    columns: int, hidden: Sequence[int], outputs: int, *, activation: str, seed: int
) -> tuple[Arrays, Arrays]:
    """Random weights and intercepts of each layer.

    Parameters
    ----------
    columns, hidden, outputs : numbers of neurons, from the input on
        One output for two classes, else one for each class.
    activation : "tanh", "logistic" or "relu"
    seed : int

    Returns
    -------
    coefs : list of float64 arrays of shape (neurons, neurons of the layer before)
    intercepts : list of float64 arrays of shape (neurons,)
    """
    check_activation(activation)
    sizes = [columns, *hidden, outputs]
    if min(sizes) < 1:
        raise ValueError(f"every layer must have at least one neuron, got the sizes {sizes}")
    coefs, intercepts = [], []
    for layer, (m, n) in enumerate(itertools.pairwise(sizes)):
        numbers = splitmix64(state_of_epoch(seed, START_EPOCH, layer), n * m + n)
        drawn = neuron.start(numbers, m, n, activation)
        coefs.append(drawn[: n * m].reshape(n, m))
        intercepts.append(drawn[n * m :])
    return coefs, intercepts


@standard()
def mlp_scores(
    rows: Any,
    coefs: Sequence[NDArray[np.float64]],
    intercepts: Sequence[NDArray[np.float64]],
    *,
    activation: str,
    probabilities: bool,
) -> NDArray[np.float64]:
    """Return what the output neurons have for every row: activations (n, K), or probabilities."""
    check_activation(activation)
    check_network(rows, coefs, intercepts)
    z = values(dense(rows, np.arange(rows.shape[0])), coefs, intercepts, activation)[-1]
    return neuron.probabilities(z) if probabilities else z


def dense(rows: Any, numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return rows as a matrix of float64."""
    X = np.zeros((len(numbers), rows.shape[1]))
    for x, number in zip(X, numbers, strict=True):
        rows.axpy(int(number), 1.0, x)
    return X


def values(
    X: NDArray[np.float64],
    coefs: Sequence[NDArray[np.float64]],
    intercepts: Sequence[NDArray[np.float64]],
    activation: str,
) -> Arrays:
    """Return X, the values of each hidden layer, and the activations of the output neurons.

    A value is NaN where the activation behind it is not finite.
    """
    h = [X]
    for coef, intercept in zip(coefs[:-1], intercepts[:-1], strict=True):
        z = neuron.weighted(h[-1], coef, intercept)
        h.append(np.where(np.isfinite(z), neuron.ACTIVATIONS[activation](z), np.nan))
    return [*h, neuron.weighted(h[-1], coefs[-1], intercepts[-1])]


def check_activation(activation: str) -> None:
    """Refuse another word."""
    if activation not in neuron.ACTIVATIONS:
        raise ValueError(f"activation must be 'logistic', 'relu' or 'tanh', got '{activation}'")


def check_network(
    rows: Any, coefs: Sequence[NDArray[np.float64]], intercepts: Sequence[NDArray[np.float64]]
) -> None:
    """Refuse layers that do not follow each other."""
    if not coefs or len(coefs) != len(intercepts):
        raise ValueError(
            f"coefs and intercepts must have one array for each layer, got {len(coefs)} and {len(intercepts)}"
        )
    before = rows.shape[1]
    for layer, (coef, intercept) in enumerate(zip(coefs, intercepts, strict=True)):
        if coef.shape != (len(intercept), before) or len(intercept) == 0:
            raise ValueError(
                f"coefs[{layer}] must have the shape ({len(intercept)}, {before}) with at least one row, "
                f"got {coef.shape}"
            )
        before = len(intercept)
    if not rows.canonical:
        raise ValueError(
            "rows are not canonical: columns must be sorted and unique in every row; "
            "sort them in a copy first"
        )
