"""One call of an engine's ``kernel_scores`` for an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.parameters import n_threads
from perceptron_rs.common.rows.examples import ValidatedRows
from perceptron_rs.common.rows.selection import matrix_of, rows_of, select_columns
from perceptron_rs.engines import Engine
from perceptron_rs.errors import overflow
from perceptron_rs.kernel.values import callable_values
from perceptron_rs.kernel.vectors import state_of, stored

__all__ = ["answers"]

#: Values of a callable that are asked for at a time, unless a single row has more.
_VALUES = 1 << 20


def answers(model: Any, engine: Engine, data: ValidatedRows, answer: str) -> NDArray[np.float64]:
    """Return one kind of answer (n, K).

    The values of a callable are not kept: it is asked for those of a block of rows with all stored ones.
    """
    state = state_of(model._vectors, model.n_seen_, model._seed)
    support, columns = len(model._vectors["origin"]), model.n_features_in_
    if callable(model.kernel) or model.kernel == "precomputed":
        stored_rows = engine.dense_rows(np.zeros((support, 1), np.uint8))  # their values are in the rows
    else:
        stored_rows = rows_of(engine, stored(model._vectors), columns)
    if callable(model.kernel):
        X, others = matrix_of(data.stored, columns), matrix_of(stored(model._vectors), columns)
        step = max(1, _VALUES // max(1, support))
        blocks = (
            engine.dense_rows(callable_values(model.kernel, X[start : start + step], others))
            for start in range(0, X.shape[0], step)
        )
    else:
        rows = data.rows
        if model.kernel == "precomputed":
            rows = select_columns(engine, data.stored, model._vectors["origin"], rows.shape[1])
        blocks = (block for block in [rows])
    found = []
    for rows in blocks:
        try:
            scores = engine.kernel_scores(
                rows, stored_rows, state, kernel=model._spec, answers=[answer], threads=n_threads(model)
            )
        except OverflowError as error:
            raise overflow(error) from None
        found.append(scores[:, 0])
    return np.concatenate(found)
