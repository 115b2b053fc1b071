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
    examples in the batch. Intercepts are not shrunk. The weight of an example multiplies its error of
    the output and its loss; those of weight 0 are left out before the order is drawn.
Given
    Start values; the learning rate eta; alpha >= 0, the strength of the penalty; the batch size;
    weights of the examples.
Result
    Weights and intercepts; the weighted mean loss and the mistakes of each epoch, each example's before its
    batch's step.
Paper
    D. E. Rumelhart, G. E. Hinton, R. J. Williams, "Learning representations by back-propagating
    errors", Nature 323, 1986, pages 533-536; start values: X. Glorot, Y. Bengio, AISTATS 2010,
    equation 16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference.arith import neuron, running_total


def forward(x: Floats, W: list[Floats], b: list[Floats], f: str) -> list[Floats]:
    """Return x, the values of each hidden layer, and z of the output; a row each example.

    A value is NaN where the z behind it is not finite.
    """
    h = [x]
    for layer in range(len(W) - 1):
        z = neuron.weighted(h[-1], W[layer], b[layer])
        h.append(np.where(np.isfinite(z), neuron.ACTIVATIONS[f](z), np.nan))
    return [*h, neuron.weighted(h[-1], W[-1], b[-1])]


def learn(
    x: Any,
    y: Any,
    s: Floats,
    W: list[Floats],
    b: list[Floats],
    f: str,
    eta: float,
    alpha: float,
    batches: list[Any],
) -> tuple[int, float]:
    """Run through the batches of an epoch, and change W and b; return mistakes and the sum of the losses."""
    mistakes, loss = 0, 0.0
    for batch in batches:
        m = len(batch)
        h = forward(x(batch), W, b, f)
        z = h[-1]
        if not np.isfinite(z).all():
            raise FloatingPointError
        mistakes += int(np.count_nonzero(neuron.mistakes(z, y[batch])))
        loss = float(running_total(loss, neuron.losses(z, y[batch]) * s[batch])[-1])
        error = (neuron.probabilities(z) - neuron.truth(z, y[batch])) * s[batch, None]
        r = max(0.0, 1.0 - (eta * alpha) / m)
        for layer in reversed(range(len(W))):
            gradient, sums = neuron.accumulated(error, h[layer])
            if layer > 0:
                error = neuron.backward(error, W[layer]) * neuron.slope(f, h[layer])
            W[layer] = (r * W[layer] + 0.0) - (eta / m) * gradient
            b[layer] = b[layer] - (eta / m) * sums
    return mistakes, loss
