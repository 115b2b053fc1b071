"""What ``inspect`` shows of a multilayer perceptron: its layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.models.summary import Description

if TYPE_CHECKING:
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron


def shown(model: MultilayerPerceptron, top: int) -> Description:  # noqa: ARG001  no weight stands for a feature
    """Return the sizes and largest numbers of each layer."""
    layers = [
        {
            "inputs": len(coef),
            "outputs": len(intercept),
            "largest_weight": float(np.abs(coef).max()),
            "largest_intercept": float(np.abs(intercept).max()),
        }
        for coef, intercept in zip(model.coefs_, model.intercepts_, strict=True)
    ]
    return {
        "n_features": int(model.n_features_in_),
        "out_activation": model.out_activation_,
        "layers": layers,
    }


def lines(description: Description) -> tuple[str, list[str], list[str]]:
    """Return the lines of a description as text, in three parts: see `Family.lines`."""
    sizes = [description["n_features"], *(layer["outputs"] for layer in description["layers"])]
    before = [f"layers      {' '.join(map(str, sizes))}, output {description['out_activation']}"]
    after = [
        f"layer {number}: {layer['inputs']} to {layer['outputs']}, largest weight "
        f"{layer['largest_weight']!r}, largest intercept {layer['largest_intercept']!r}"
        for number, layer in enumerate(description["layers"], start=1)
    ]
    return "", before, after
