"""The multilayer perceptron.

Problem
    Find weights of layers of neurons that make the mean logistic loss of the examples small: minus
    the logarithm of the probability of the true class.
Update rule
    The examples are taken a batch at a time, in the order of the epoch. ``z = W h + b`` and
    ``h' = f(z)`` from layer to layer; at the output, the probabilities are the logistic function of
    z for two classes, its softmax for more. The error of the output is probability minus truth,
    that of a layer before is ``(W^T error) f'(z)``. The gradient is the sum over the batch, in its
    order, of ``error h``; a step is ``W = r W - (eta/m) gradient``, ``r = max(0, 1 - eta alpha / m)``, with m
    examples in the batch. Intercepts are not shrunk.
Given
    Start values; the learning rate eta; alpha >= 0, the strength of the penalty; the batch size.
Result
    Weights and intercepts; the mean loss and the mistakes of each epoch, each example's before its
    batch's step.
Paper
    D. E. Rumelhart, G. E. Hinton, R. J. Williams, "Learning representations by back-propagating
    errors", Nature 323, 1986, pages 533-536; start values: X. Glorot, Y. Bengio, AISTATS 2010,
    equation 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.arith import neuron, running_total
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.mlp.network import Arrays, check_activation, check_network, dense, values
from perceptron_rs.reference.mlp.stopping import Criterion
from perceptron_rs.reference.order import permutation
from perceptron_rs.settings import NetworkReport

__all__ = ["mlp_fit"]


@standard()
def mlp_fit(
    rows: Any,
    labels: NDArray[np.uint32],
    *,
    coefs: Sequence[NDArray[np.float64]],
    intercepts: Sequence[NDArray[np.float64]],
    activation: str,
    rate: float,
    alpha: float,
    batch_size: int,
    seed: int | None,
    first_epoch: int,
    max_iter: int,
    tol: float | None,
    n_iter_no_change: int,
) -> NetworkReport:
    """Run epochs until the loss no longer improves.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
    labels : uint32 array of shape (n,)
        Class indices.
    coefs, intercepts : as ``mlp_start`` returns them; not modified
    activation : "tanh", "logistic" or "relu"
    rate, alpha, batch_size : learning rate, strength of the penalty, examples in a batch
    seed : key of the orders; None: the stored one
    first_epoch : number of the first epoch
    max_iter, tol, n_iter_no_change : as in ``fit``

    Raises
    ------
    OverflowError
        If an activation, or a weight at the end of an epoch, is not finite.
    """
    check_activation(activation)
    check_network(rows, coefs, intercepts)
    n, classes = rows.shape[0], max(2, len(intercepts[-1]))
    if len(labels) != n or n == 0 or labels.max() >= classes:
        raise ValueError(f"labels must be {n} numbers below {classes}, and at least one")
    if batch_size < 1 or max_iter < 1:
        raise ValueError(f"batch_size and max_iter must be at least 1, got {batch_size} and {max_iter}")
    coefs, intercepts = [w + 0.0 for w in coefs], [b + 0.0 for b in intercepts]
    criterion = Criterion(max_iter, tol, n_iter_no_change)
    means: list[float] = []
    counts: list[int] = []
    stopped = ""
    while not stopped:
        epoch = first_epoch + len(means)
        order = np.arange(n) if seed is None else permutation(n, seed=seed, epoch=epoch, partition=0)
        loss, mistakes = 0.0, 0
        for begin in range(0, n, batch_size):
            batch = order[begin : begin + batch_size]
            h = values(dense(rows, batch), coefs, intercepts, activation)
            if not np.isfinite(h[-1]).all():
                raise overflow(epoch)
            mistakes += int(np.count_nonzero(neuron.mistakes(h[-1], labels[batch])))
            loss = float(running_total(loss, neuron.losses(h[-1], labels[batch]))[-1])
            _step(h, labels[batch], coefs, intercepts, activation, rate, alpha)
        if not all(np.isfinite(numbers).all() for numbers in [*coefs, *intercepts]):
            raise overflow(epoch)
        means.append(loss / n)
        counts.append(mistakes)
        stopped = criterion.reason_to_stop(1, means[-1], len(means))
    return {
        "coefs": coefs,
        "intercepts": intercepts,
        "losses": np.array(means),
        "mistakes": np.array(counts, dtype=np.int64),
        "stopped": stopped,
    }


def _step(
    h: Arrays,
    labels: NDArray[np.uint32],
    coefs: Arrays,
    intercepts: Arrays,
    activation: str,
    rate: float,
    alpha: float,
) -> None:
    """Make the step of a batch: from the last layer to the first, each after its errors went on."""
    m = len(labels)
    delta = neuron.errors(h[-1], labels)
    for layer in reversed(range(len(coefs))):
        gradient, intercept = neuron.accumulated(delta, h[layer])
        if layer > 0:
            delta = neuron.backward(delta, coefs[layer]) * neuron.slope(activation, h[layer])
        coefs[layer] = neuron.moved(coefs[layer], gradient, rate=rate, alpha=alpha, examples=m)
        intercepts[layer] = neuron.moved(intercepts[layer], intercept, rate=rate, alpha=0.0, examples=m)
