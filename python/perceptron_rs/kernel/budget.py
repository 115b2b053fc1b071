"""One call of an engine for the kernel perceptron on a budget, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from perceptron_rs.common.driver import Report
from perceptron_rs.common.planes import is_joint
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.rows.selection import chosen, joined
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.kernel.vectors import rows_of, stored
from perceptron_rs.settings import Budget, Linear, State

__all__ = ["Train", "begin", "fit", "log_of", "nothing"]

#: Learns from examples, with other rows that the state names, a state and settings.
Train: TypeAlias = Callable[[Rows | None, State, Linear], Report]


def begin(model: Any, planes: int) -> None:
    """Start with nothing kept."""
    model._kept = nothing(planes, planes if is_joint(model) else 1)
    model._policy_seed = None


def nothing(planes: int, width: int) -> State:
    """Return what is kept before the first mistake, with that many classes to a set."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def fit(
    model: Any, engine: Engine, data: Examples, seed: int, shared: dict[str, Any], train: Train
) -> Report:
    """Learn, and put what is kept on the model; ``shared`` are the settings of every kernel perceptron."""
    if model._policy_seed is None:
        model._policy_seed = seed
    origin, given = model._vectors["origin"], model._kept
    if model.kernel == "precomputed":
        stored_rows = engine.dense_rows(np.zeros((0, data.rows.shape[1]), dtype=np.uint8))
        given = given | {"kept_row": origin[given["kept_row"]]}
    else:
        stored_rows = rows_of(model._vectors, engine, model.n_features_in_)
    settings = Budget(
        **shared,
        budget=int(model.budget),
        policy=str(model.budget_policy),
        policy_seed=model._policy_seed,
        distance=float(model.projection_distance),
    )
    report = train(stored_rows, given | {"seen": model.n_seen_}, settings)
    state = report.state
    kept = {name: state[name] for name in given}
    distinct, place = np.unique(kept["kept_row"], return_inverse=True)
    if model.kernel == "precomputed":
        rows, found = {"rows": np.zeros((len(distinct), 1), dtype=np.uint8)}, distinct
    else:
        old = distinct[distinct < len(origin)]
        new = distinct[len(old) :] - len(origin)
        rows = chosen(stored(model._vectors), old)
        if len(new):
            rows = joined(rows, chosen(data.stored, new))
        found = np.concatenate([origin[old], new])
    model._kept = kept | {"kept_row": place.reshape(-1).astype(np.int64)}
    model._vectors = log_of(model._kept, len(model.classes_)) | rows | {"origin": found.astype(np.int64)}
    model.n_seen_ = state["seen"]
    return report


def log_of(kept: State, classes: int) -> State:
    """Return what is kept as a log of mistakes, which is what predicts.

    The mistakes have their numbers in the place of t, and their vectors no norms.
    """
    start, steps = kept["kept_start"], kept["kept_step"]
    if steps.shape[1] == 1:
        members = [np.arange(begin, end) for begin, end in pairwise(start)]
        log_step = steps[:, 0]
    else:
        members = [np.flatnonzero(steps[:, k]) for k in range(classes)]
        log_step = np.concatenate([steps[entries, k] for k, entries in enumerate(members)])
    every = np.concatenate(members)
    return {
        "log_start": np.cumsum([0, *map(len, members)], dtype=np.int64),
        "log_row": kept["kept_row"][every],
        "log_t": kept["kept_number"][every],
        "log_step": log_step,
        "log_bias": np.zeros(len(every)),
        "log_norm": np.zeros(len(every)),
    }
