"""The weights of a chain: names, shapes, and the activations that they give a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State

__all__ = ["check", "emissions", "names", "pairs"]


def names(state: State) -> list[str]:
    """Return the names of the weights; the sums u have the same with ``_u``."""
    return ["emission", "transition", "start", "end"] + (["pair"] if "pair" in state else [])


def check(state: State, columns: int, suffix: str = "") -> int:
    """Return the number of labels; raise ValueError if a shape does not agree."""
    if f"start{suffix}" not in state:
        raise ValueError(f"state lacks 'start{suffix}', which the learner needs")
    labels = len(state[f"start{suffix}"])
    if labels == 0:
        raise ValueError("start must hold a weight for each label, got none")
    shapes = {
        "emission": (columns, labels),
        "transition": (labels, labels),
        "start": (labels,),
        "end": (labels,),
        "pair": (columns, labels * labels),
    }
    for name in names(state):
        if f"{name}{suffix}" not in state:
            raise ValueError(f"state lacks '{name}{suffix}', which the learner needs")
        got = state[f"{name}{suffix}"].shape
        if got != shapes[name]:
            raise ValueError(f"{name}{suffix} must have shape {shapes[name]}, got {got}")
    return labels


def emissions(rows: Any, numbers: NDArray[np.intp], w: State) -> NDArray[np.float64]:
    """Return ``e[t, y]``: the start weight is added to the first token's, the end weight to the last's."""
    e = np.stack([rows.dots(numbers, column) for column in w["emission"].T], axis=1)
    e[0] = e[0] + w["start"]
    e[-1] = e[-1] + w["end"]
    return e


def pairs(rows: Any, numbers: NDArray[np.intp], w: State) -> NDArray[np.float64]:
    """Return ``pair[t, y', y]``: the transition, which a row adds to where there are pair weights."""
    labels = len(w["start"])
    if "pair" not in w:
        return np.broadcast_to(w["transition"], (len(numbers), labels, labels))
    activations = np.stack([rows.dots(numbers, column) for column in w["pair"].T], axis=1)
    return activations.reshape(len(numbers), labels, labels) + w["transition"]
