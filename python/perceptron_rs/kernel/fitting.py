"""One call of an engine's ``kernel_fit`` for an estimator: what goes in, and where the report goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.data import Examples
from perceptron_rs.common.parameters import draw_seed, n_threads
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.weights import class_weights, sample_weights, unvisited
from perceptron_rs.engines import Engine, Report, get_engine
from perceptron_rs.kernel.answers import answers
from perceptron_rs.kernel.budget import begin_on_budget, check_terms, fit_on_budget
from perceptron_rs.kernel.values import kernel_spec, matrix_of, rows_of_callable
from perceptron_rs.kernel.vectors import begun, continued
from perceptron_rs.linear.fitting import _publish_report

__all__ = ["begin", "learn"]

_MEGABYTE = 1 << 20


def begin(model: Any, data: Examples, classes: NDArray[Any]) -> None:
    """Start from the vector 0."""
    planes = n_planes(model, classes)
    model.classes_ = classes
    data.assert_finite(model)
    model._spec = kernel_spec(model, get_engine(model.engine), data.rows)
    columns = None if model.kernel == "precomputed" else model.n_features_in_
    model._vectors = begun(planes, columns)
    model._norm = np.zeros(planes)
    model.intercept_ = np.zeros(planes)
    model.n_seen_ = np.zeros(planes, dtype=np.int64)
    model._n_epochs = 0
    begin_on_budget(model, planes)


def learn(
    model: Any,
    data: Examples,
    labels: NDArray[np.uint32],
    sample_weight: Any,
    *,
    max_iter: int,
    tol: float | None,
    shuffle: bool,
) -> list[str]:
    """Run the engine once, publish what comes of it, and return why each class stopped."""
    data.assert_finite(model)
    engine, planes = get_engine(model.engine), len(model._norm)
    if planes != n_planes(model, model.classes_):
        raise ValueError(
            f"multi_class={model.multi_class!r} differs from that of the fit that this one goes on from"
        )
    check_terms(model)
    weights = sample_weights(sample_weight, labels)
    class_weight = class_weights(model.class_weight, model.classes_, labels, planes)
    idle = unvisited(weights, class_weight, labels, is_joint(model))
    observer = Observer(model, engine, len(labels) if idle is None else int((~idle).sum()), None)
    most = model.max_mistakes_per_example
    seed = draw_seed(model.random_state)
    if model.kernel == "precomputed" and data.rows.shape[0] != data.rows.shape[1]:
        raise ValueError(f"X must be a square matrix with kernel='precomputed', got shape {data.rows.shape}")
    arguments: dict[str, Any] = {
        "sample_weight": weights,
        "positive": positive_labels(planes),
        "class_weight": class_weight,
        "eta0": float(model.eta0),
        "tie": str(model.tie),
        "seed": seed if shuffle else None,
        "first_epoch": model._n_epochs if shuffle else 0,
        "max_iter": max_iter,
        "tol": tol,
        "n_iter_no_change": int(model.n_iter_no_change),
        "track_mistakes": bool(model.track_mistakes),
        "margin": float(model.margin),
        "max_mistakes_per_example": None if most is None else int(most),
        "joint": joint_update(model),
        "on_epoch": observer if observer.is_needed else None,
        "keep_on_interrupt": bool(model.keep_on_interrupt),
    }
    try:
        if model.budget is not None:
            report = fit_on_budget(model, engine, data, labels, seed, arguments)
        else:
            report = _fit(model, engine, data, labels, arguments)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if observer.interrupted:
        report["stopped"] = ["interrupt" if why == "callback" else why for why in report["stopped"]]
    model._seed = seed
    _publish_report(model, report)
    return report["stopped"]


def _fit(
    model: Any, engine: Engine, data: Examples, labels: NDArray[np.uint32], arguments: dict[str, Any]
) -> Report:
    """Call the engine, and put its vectors on the model; ``arguments`` are those of every fit."""
    report = engine.kernel_fit(
        data.rows,
        labels,
        kernel=model._spec,
        cache_bytes=min(int(float(model.cache_size) * _MEGABYTE), 2**62),
        state={
            "sums": _sums(model, engine, data),
            "intercept": np.asarray(model.intercept_, np.float64),
            "norm": model._norm,
            "seen": model.n_seen_,
        },
        fit_intercept=bool(model.fit_intercept),
        threads=n_threads(model),
        added_feature=float(model.added_feature),
        ask=rows_of_callable(model.kernel, matrix_of(data.stored, model.n_features_in_))
        if callable(model.kernel)
        else None,
        **arguments,
    )
    state = report["state"]
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
        return np.zeros((len(model._norm), data.rows.shape[0]))
    return np.ascontiguousarray(answers(model, engine, data, "sum").T)
