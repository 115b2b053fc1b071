"""What the output neurons of a network have for rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.arith import neuron
from perceptron_rs.reference.mlp.run import check_activation, from_state
from perceptron_rs.reference.mlp.train import forward
from perceptron_rs.reference.rows import Rows


@standard()
def mlp_scores(
    rows: Rows, state: State, *, activation: str, probabilities: bool, threads: int
) -> NDArray[np.float64]:
    """Return what the output neurons have for every row: activations (n, K), or probabilities."""
    check_activation(activation)
    W, b = from_state(state, rows)
    z = forward(rows.dense(np.arange(rows.shape[0])), W, b, activation)[-1]
    return neuron.probabilities(z) if probabilities else z
