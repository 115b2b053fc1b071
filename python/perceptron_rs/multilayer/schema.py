"""The layers of a multilayer perceptron, and what they have learnt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.scalars import number
from perceptron_rs.parameters.ranges import LARGEST
from perceptron_rs.schema.schema import EPOCHS, RUN_COUNTS, Array, Schema

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


def _layers(model: MultilayerPerceptron) -> Iterator[Array]:
    """Give the weights and intercepts of each layer: as many as the parameters and classes say."""
    inputs: str | int = "d"
    for layer, outputs in enumerate((*sizes_of(model), n_outputs(model.classes_))):
        yield Array(f"coef_{layer}", (outputs, inputs))
        yield Array(f"intercept_{layer}", (outputs,))
        inputs = outputs


_REPORTS = {array.name: array for array in EPOCHS}

MULTILAYER = Schema(
    "multilayer",
    (
        _layers,
        replace(_REPORTS["mistakes_per_epoch"], axes=("E", 1)),
        replace(_REPORTS["validation_scores"], axes=("E", 1)),
        replace(_REPORTS["loss_curve"], needed=True, reported=True),
    ),
    RUN_COUNTS,
    engine_name="network",
)
