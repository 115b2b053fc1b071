"""One run of an engine for an estimator: what goes in, and where the report goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.data import Examples
from perceptron_rs.common.driver import Report, Schedule, drive, publish_report
from perceptron_rs.common.parameters import draw_seed, n_threads
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.weights import class_weights, sample_weights, unvisited
from perceptron_rs.engines import Engine, Rows, get_engine
from perceptron_rs.kernel.answers import answers
from perceptron_rs.kernel.budget import Train
from perceptron_rs.kernel.terms import check_terms, terms
from perceptron_rs.kernel.values import kernel_spec, matrix_of, rows_of_callable
from perceptron_rs.kernel.vectors import begun, continued
from perceptron_rs.settings import Data, Kernel, Linear, State

__all__ = ["begin", "fit", "learn", "start"]

_MEGABYTE = 1 << 20


def start(model: Any, data: Examples, classes: NDArray[Any]) -> None:
    """Start from the vector 0."""
    planes = n_planes(model, classes)
    model.classes_ = classes
    data.assert_finite(model)
    model._spec = kernel_spec(model, get_engine(model.engine), data.rows)
    model._vectors = begun(planes, None if model.kernel == "precomputed" else model.n_features_in_)
    model.n_seen_ = np.zeros(planes, dtype=np.int64)
    model._n_epochs = 0
    model._terms = terms(model)
    model._begin(planes)


def learn(
    model: Any,
    data: Examples,
    labels: NDArray[np.uint32],
    sample_weight: Any,
    *,
    max_iter: int,
    tol: float | None,
    shuffle: bool,
    record: bool = False,
) -> Report:
    """Run the engine once, publish what comes of it, and return it."""
    data.assert_finite(model)
    check_terms(model)
    engine, planes = get_engine(model.engine), len(model.n_seen_)
    weights = sample_weights(sample_weight, labels)
    class_weight = class_weights(model.class_weight, model.classes_, labels, planes)
    idle = unvisited(weights, class_weight, labels, is_joint(model))
    observer = Observer(model, len(labels) if idle is None else int((~idle).sum()))
    most = model.max_mistakes_per_example
    seed = draw_seed(model.random_state)
    if model.kernel == "precomputed" and data.rows.shape[0] != data.rows.shape[1]:
        raise ValueError(f"X must be a square matrix with kernel='precomputed', got shape {data.rows.shape}")
    shared: dict[str, Any] = {
        "positive": positive_labels(planes),
        "class_weight": class_weight,
        "eta0": float(model.eta0),
        "tie": str(model.tie),
        "seed": seed if shuffle else None,
        "margin": float(model.margin),
        "max_mistakes_per_example": None if most is None else int(most),
        "joint": joint_update(model),
        "track_mistakes": bool(model.track_mistakes),
        "keep_on_interrupt": bool(model.keep_on_interrupt),
        "record": record,
        "kernel": model._spec,
    }
    schedule = Schedule(model._n_epochs if shuffle else 0, max_iter, tol, int(model.n_iter_no_change))

    def train(stored_rows: Rows | None, state: State, settings: Linear) -> Report:
        run = engine.start(Data(data.rows, labels, weights, stored_rows), state, settings)
        return drive(run, settings, schedule, observer if observer.is_needed else None)

    try:
        report: Report = model._run(engine, data, seed, shared, train)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    model._seed = seed
    publish_report(model, report)
    return report


def begin(model: Any, planes: int) -> None:
    """Start with the intercepts and norms of the vector 0."""
    model.intercept_, model._norm = np.zeros(planes), np.zeros(planes)


def fit(model: Any, engine: Engine, data: Examples, shared: dict[str, Any], train: Train) -> Report:
    """Learn, and put the vectors on the model; ``shared`` are the settings of every kernel perceptron."""
    settings = Kernel(
        **shared,
        cache_bytes=min(int(float(model.cache_size) * _MEGABYTE), 2**62),
        fit_intercept=bool(model.fit_intercept),
        threads=n_threads(model),
        added_feature=float(model.added_feature),
        ask=rows_of_callable(model.kernel, matrix_of(data.stored, model.n_features_in_))
        if callable(model.kernel)
        else None,
    )
    state = {
        "sums": _sums(model, engine, data),
        "intercept": np.asarray(model.intercept_, np.float64),
        "norm": model._norm,
        "seen": model.n_seen_,
    }
    report = train(None, state, settings)
    state = report.state
    model._vectors = continued(
        model._vectors,
        state,
        None if model.kernel == "precomputed" else data.stored,
        fit_intercept=bool(model.fit_intercept),
    )
    model.intercept_, model._norm, model.n_seen_ = state["intercept"], state["norm"], state["seen"]
    return report


def _sums(model: Any, engine: Engine, data: Examples) -> NDArray[np.float64]:
    """Return S (K, n) of the examples under the vectors so far."""
    if len(model._vectors["origin"]) == 0:
        return np.zeros((len(model.n_seen_), data.rows.shape[0]))
    return np.ascontiguousarray(answers(model, engine, data, "sum").T)
