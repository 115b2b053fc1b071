"""What a multilayer perceptron has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from perceptron_rs.multilayer.network import n_outputs, sizes_of
from perceptron_rs.schema.schema import EPOCHS, RUN_COUNTS, Array, Schema

if TYPE_CHECKING:
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron


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
