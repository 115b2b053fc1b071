"""One call of an engine's ``kernel_scores`` for an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine, Rows
from perceptron_rs.estimators.data import Examples
from perceptron_rs.estimators.kernel_values import callable_values, matrix_of
from perceptron_rs.estimators.kernel_vectors import counts_of, rows_of, state_of, stored
from perceptron_rs.estimators.parameters import n_threads
from perceptron_rs.estimators.vectors import drawn

__all__ = ["answers"]


def answers(model: Any, engine: Engine, data: Examples, answer: str) -> NDArray[np.float64]:
    """Return one kind of answer (n, K)."""
    counts = counts_of(model._vectors, model.n_seen_)
    state = state_of(model._vectors, model.n_seen_, drawn(counts, model._seed))
    columns, without_values = model.n_features_in_, np.zeros((len(model._vectors["origin"]), 1), np.uint8)
    if callable(model.kernel):
        X, others = matrix_of(data.stored, columns), matrix_of(stored(model._vectors), columns)
        rows = engine.dense_rows(callable_values(model.kernel, X, others))
        stored_rows = engine.dense_rows(without_values)
    elif model.kernel == "precomputed":
        rows, stored_rows = _chosen_columns(model, engine, data), engine.dense_rows(without_values)
    else:
        rows, stored_rows = data.rows, rows_of(model._vectors, engine, columns)
    try:
        found = engine.kernel_scores(
            rows, stored_rows, state, kernel=model._spec, answers=[answer], threads=n_threads(model)
        )
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return found[:, 0]


def _chosen_columns(model: Any, engine: Engine, data: Examples) -> Rows:
    """Return precomputed rows with the columns of the stored examples alone."""
    origin = model._vectors["origin"]
    if "rows" in data.stored:
        return engine.dense_rows(np.ascontiguousarray(data.stored["rows"][:, origin]))
    matrix = matrix_of(data.stored, data.rows.shape[1])[:, origin].tocsr()
    matrix.sort_indices()
    return engine.csr_rows(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
