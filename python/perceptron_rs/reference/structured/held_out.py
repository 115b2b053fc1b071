"""Sequences that are not learnt from: they tell which epoch was the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.structured.decode import decode_one
from perceptron_rs.reference.structured.weights import unpacked
from perceptron_rs.settings import State

__all__ = ["held_out_errors"]


def held_out_errors(
    rows: Any,
    labels: NDArray[np.uint32],
    parts: list[NDArray[np.intp]],
    held_out: NDArray[np.uint32],
    weights: State,
    beam: int | None,
) -> int:
    """Return how many tokens of some sequences these weights get wrong."""
    w, wrong = unpacked(weights), 0
    for i in held_out:
        path, _ = decode_one(rows, parts[i], w, int(i), beam)
        wrong += int(np.count_nonzero(path != labels[parts[i]]))
    return wrong
