"""What ``inspect`` shows of a multilayer perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.story import head, parameters, what

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001  no weight stands for a feature
    """Return what a multilayer perceptron is and how it came to be."""
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
        **what(model),
        "history": {"n_iter": model.n_iter_, "losses": model.loss_curve_},
        "out_activation": model.out_activation_,
        "layers": layers,
    }


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    losses = [f"{loss:.6g}" for loss in story["history"]["losses"]]
    shown = " ".join(losses[:20]) + (f" ... {losses[-1]}" if len(losses) > 20 else "")
    sizes = [story["n_features"], *(layer["outputs"] for layer in story["layers"])]
    lines = [
        *head(story),
        f"layers      {' '.join(map(str, sizes))}, output {story['out_activation']}",
        f"epochs      {story['history']['n_iter']}",
        f"losses      {shown}",
        *parameters(story),
    ]
    for number, layer in enumerate(story["layers"], start=1):
        lines.append(
            f"layer {number}: {layer['inputs']} to {layer['outputs']}, largest weight "
            f"{layer['largest_weight']!r}, largest intercept {layer['largest_intercept']!r}"
        )
    return "\n".join(lines) + "\n"
