"""The weights of a chain as arrays: at a cold start, those that predict, and a matrix in full."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine
from perceptron_rs.settings import State

__all__ = ["beam_of", "cold_state", "dense_matrix", "predictor_weights"]


def beam_of(model: Any) -> int | None:
    """Return how many labels of a token a search keeps; None: all."""
    return int(model.beam_width) if model.decode == "beam" else None


def cold_state(columns: int, labels: int, *, pair: bool) -> State:
    """Return the state of a cold start."""
    state: State = {"seen": np.zeros(1, dtype=np.int64)}
    for u in ("", "_u"):
        for name in ("emission", "pair") if pair else ("emission",):
            state[f"{name}_indptr{u}"] = np.zeros(columns + 1, dtype=np.int64)
            state[f"{name}_indices{u}"] = np.zeros(0, dtype=np.int32)
            state[f"{name}_data{u}"] = np.zeros(0)
        state[f"transition{u}"] = np.zeros((labels, labels))
        state[f"start{u}"], state[f"end{u}"] = np.zeros(labels), np.zeros(labels)
    return state


def predictor_weights(engine: Engine, state: State, averaged: bool) -> State:
    """Return the weights that predict: the averages, or the last ones."""
    if averaged:
        return engine.sequence_average(state)
    return {name: w for name, w in state.items() if not name.endswith("_u") and name != "seen"}


def dense_matrix(weights: State, name: str, planes: int) -> NDArray[np.float64]:
    """Return a matrix of sparse weights in full."""
    indptr = weights[f"{name}_indptr"]
    out = np.zeros((len(indptr) - 1, planes))
    out[np.repeat(np.arange(len(out)), np.diff(indptr)), weights[f"{name}_indices"]] = weights[f"{name}_data"]
    return out
