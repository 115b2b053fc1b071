"""The weights of a chain as arrays: at a cold start, those that predict; a matrix in full, or by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import csr_to_dense, row_numbers
from perceptron_rs.arrays.named import State
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.engines import Engine
from perceptron_rs.estimator_attributes import feature_names

if TYPE_CHECKING:
    from perceptron_rs.sequence.base import SequenceLearner
    from perceptron_rs.sequence.predictor import SequencePerceptronPredictor


def beam_of(model: SequencePerceptronPredictor) -> int | None:
    """Return how many labels of a token a search keeps; None: all."""
    if model.decode != "beam":
        return None
    return whole_number("beam_width", model.beam_width, 1, 2**31 - 1)


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
    indptr, indices, data = (weights[f"{name}_{part}"] for part in ("indptr", "indices", "data"))
    return csr_to_dense(indptr, indices, data, planes)


def sparse_entries(weights: State, name: str) -> Iterator[tuple[int, int, float]]:
    """Give the column, the plane and the number of each sparse weight other than 0."""
    indptr, data = weights[f"{name}_indptr"], weights[f"{name}_data"]
    columns = row_numbers(indptr)
    some = np.flatnonzero(data)
    entries = (columns[some], weights[f"{name}_indices"][some], data[some])
    return zip(*(part.tolist() for part in entries), strict=True)


def attribute_names(model: SequenceLearner) -> Sequence[Any]:
    """Return what each column is called: by its attribute, by a table's column, or else its number."""
    if model._learnt.encoder is not None and model.encoder_.vocabulary_:
        return list(model.encoder_.vocabulary_)
    names = feature_names(model)
    return range(model.n_features_in_) if names is None else names.tolist()
