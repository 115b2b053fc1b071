"""The sizes of the layers of the multilayer perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.scalars import number
from perceptron_rs.parameters.ranges import LARGEST

if TYPE_CHECKING:
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron


def sizes_of(model: MultilayerPerceptron) -> tuple[int, ...]:
    """Return the number of neurons of each hidden layer."""
    layers = model.hidden_layer_sizes
    sizes = [layers] if number(layers, whole=True) is not None else list(layers)
    if not all(1 <= (number(size, whole=True) or 0) <= LARGEST for size in sizes):
        raise ValueError(f"hidden_layer_sizes must be whole numbers of at least 1, got {layers!r:.80}")
    return tuple(int(size) for size in sizes)


def n_outputs(classes: NDArray[np.generic]) -> int:
    """Return the number of output neurons."""
    return 1 if len(classes) == 2 else len(classes)
