"""All of a network that is not the algorithm: start values, what goes in and out, the order of an epoch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptron_rs.arrays.named import Floats, State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.arith import neuron, running_total
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.mlp.train import learn
from perceptron_rs.reference.order import permutation, splitmix64, state_of_epoch
from perceptron_rs.reference.rows import Rows, check_canonical
from perceptron_rs.settings import Data, Epoch, Network

#: No permutation uses it.
START_EPOCH = 2**64 - 1


class Run:
    """A network at work; see `perceptron_rs.engines.Run`."""

    def __init__(self, data: Data, W: list[Floats], b: list[Floats], settings: Network) -> None:
        self.data, self.W, self.b, self.settings = data, W, b, settings
        self.weights = np.ones(len(data.labels)) if data.sample_weight is None else data.sample_weight
        #: The examples of a weight above 0, and the weight of all together.
        self.visited = np.flatnonzero(self.weights > 0)
        self.weight = float(running_total(0.0, self.weights[self.visited])[-1])

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once. After Ctrl-C all can be as it was."""
        settings, visited, n = self.settings, self.visited, len(self.visited)
        x, y, s, f = self.data.rows.dense, self.data.labels, self.weights, settings.activation
        W, b = list(self.W), list(self.b)
        with standard():
            order: Any = visited
            if settings.seed is not None:
                order = visited[permutation(n, seed=settings.seed, epoch=number, partition=0)]
            batches = [
                order[first : first + settings.batch_size] for first in range(0, n, settings.batch_size)
            ]
            try:
                mistakes, loss = learn(x, y, s, W, b, f, settings.rate, settings.alpha, batches)
            except FloatingPointError:
                raise overflow(number) from None
            if not all(np.isfinite(numbers).all() for numbers in [*W, *b]):
                raise overflow(number)
            mean = np.array([loss / self.weight])
        told = Epoch(np.array([mistakes]), mean, mean, interrupted=False)
        self.W, self.b = W, b  # no signal is answered between here and the end
        return told

    def end(self, decision: int) -> None:
        """Say that the run goes on no more."""

    def state(self) -> State:
        """Return weights and intercepts, as arrays of their own."""
        return to_state(self.W, self.b)

    def tracked(self) -> State:
        """Return nothing."""
        return {}


def start_network(data: Data, state: State, settings: Network) -> Run:
    """Begin a run of a network."""
    W, b = from_state(state, data.rows)
    n, classes = data.rows.shape[0], max(2, len(b[-1]))
    if len(data.labels) != n or n == 0 or data.labels.max() >= classes:
        raise ValueError(f"labels must be {n} numbers below {classes}, and at least one")
    check_weights(data.sample_weight, n)
    return Run(data, W, b, settings)


def check_weights(weights: Floats | None, n: int) -> None:
    """Refuse weights that are not one finite number of at least 0 for each example, or all 0."""
    if weights is None:
        return
    if len(weights) != n:
        raise ValueError(f"sample_weight must have {n} entries, one for each example, got {len(weights)}")
    bad = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(bad):
        raise ValueError(f"sample_weight must be finite and at least 0, got {bad[0]}")
    with np.errstate(over="ignore"):
        total = float(running_total(0.0, weights)[-1])
    if not 0 < total < np.inf:
        raise ValueError(f"sample_weight must add up to a finite number above 0, got {total}")


@standard()
def mlp_start(columns: int, hidden: Sequence[int], outputs: int, *, activation: str, seed: int) -> State:
    """Random weights and intercepts of each layer.

    Parameters
    ----------
    columns, hidden, outputs : numbers of neurons, from the input on
        One output for two classes, else one for each class.
    activation : "tanh", "logistic" or "relu"
    seed : int

    Returns
    -------
    State
        ``coef_0`` (neurons, columns), ``intercept_0`` (neurons,), ``coef_1``, ...
    """
    check_activation(activation)
    sizes = [columns, *hidden, outputs]
    if min(sizes) < 1:
        raise ValueError(f"every layer must have at least one neuron, got the sizes {sizes}")
    W, b = [], []
    for layer, (m, n) in enumerate(itertools.pairwise(sizes)):
        numbers = splitmix64(state_of_epoch(seed, START_EPOCH, layer), n * m + n)
        drawn = neuron.start_weights(numbers, m, n, activation)
        W.append(drawn[: n * m].reshape(n, m))
        b.append(drawn[n * m :])
    return to_state(W, b)


def check_activation(activation: str) -> None:
    """Refuse another word."""
    if activation not in neuron.ACTIVATIONS:
        raise ValueError(f"activation must be one of 'logistic', 'relu', 'tanh', got '{activation}'")


def from_state(state: State, rows: Rows) -> tuple[list[Floats], list[Floats]]:
    """Return copies of the layers; ValueError if they do not follow each other, from these rows on."""
    check_canonical(rows)
    W, b, before = list[Floats](), list[Floats](), rows.shape[1]
    if before == 0:
        raise ValueError("rows must have at least one column for layers of neurons, got 0")
    while not W or f"coef_{len(W)}" in state:
        for name in (f"coef_{len(W)}", f"intercept_{len(W)}"):
            if name not in state:
                raise ValueError(f"state lacks {name!r}, which the learner needs")
        coef, intercept = state[f"coef_{len(W)}"], state[f"intercept_{len(W)}"]
        if coef.shape != (len(intercept), before) or len(intercept) == 0:
            raise ValueError(
                f"coef_{len(W)} must have the shape ({len(intercept)}, {before}) with at least one row, "
                f"got {coef.shape}"
            )
        W.append(coef + 0.0)
        b.append(intercept + 0.0)
        before = len(intercept)
    return W, b


def to_state(W: list[Floats], b: list[Floats]) -> State:
    """Return copies of the layers by the names of a state."""
    state: State = {}
    for layer, (coef, intercept) in enumerate(zip(W, b, strict=True)):
        state |= {f"coef_{layer}": coef.copy(), f"intercept_{layer}": intercept.copy()}
    return state
