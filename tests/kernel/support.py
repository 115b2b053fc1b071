"""A short way to run the kernel perceptron of an engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_rs.engines import Engine, KernelSpec, Report, Rows, State

SQUARE = KernelSpec("poly", gamma=1.0, coef0=1.0, degree=2)
ANSWERS = (
    "sum",
    "last",
    "average",
    "vote",
    "joint vote",
    "drawn",
    "normalised last",
    "normalised average",
    "normalised drawn",
)


def rows_of(engine: Engine, X: Any) -> Rows:
    if sp.issparse(X):
        return engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    return engine.dense_rows(np.ascontiguousarray(X))


def kernel_run(engine: Engine, X: Any, labels: Any, planes: int = 1, **changes: Any) -> Report:
    n = X.shape[0]
    arguments: dict[str, Any] = {
        "kernel": SQUARE,
        "cache_bytes": 1 << 20,
        "state": {
            "sums": np.zeros((planes, n)),
            "intercept": np.zeros(planes),
            "norm": np.zeros(planes),
            "seen": np.zeros(planes, dtype=np.int64),
        },
        "positive": np.array([1] if planes == 1 else range(planes), dtype=np.uint32),
        "class_weight": np.ones((planes, 2)),
        "eta0": 1.0,
        "tie": "mistake",
        "fit_intercept": False,
        "seed": None,
        "first_epoch": 0,
        "max_iter": 1,
        "tol": None,
        "n_iter_no_change": 5,
        "track_mistakes": True,
        "threads": 1,
    }
    sample_weight = changes.pop("sample_weight", None)
    assert set(changes) <= {*arguments, "margin", "added_feature", "max_mistakes_per_example", "joint"}
    labels = np.array(labels, dtype=np.uint32)
    return engine.kernel_fit(rows_of(engine, X), labels, sample_weight, **(arguments | changes))


def vectors(report: Report, *, fit_intercept: bool = False, drawn: int = 0) -> State:
    """Return what a run from nothing has learnt, as ``kernel_scores`` takes it."""
    state = dict(report["state"])
    first, seen = state["log_start"][:-1], state["seen"]
    logs = np.split(state["log_t"], state["log_start"][1:-1])
    counts = [np.diff([1, *log, last + 1]) for log, last in zip(logs, seen, strict=True)]
    return state | {
        "log_bias": state["log_step"] * float(fit_intercept),
        "log_count": np.concatenate(counts).astype(np.int64),
        "log_norm": np.insert(state["log_norm"], first, 0.0),
        "intercept": np.zeros(len(first)),
        "drawn": np.full(len(first), drawn, dtype=np.int64),
    }


def scores(engine: Engine, X: Any, stored: Any, state: State, **changes: Any) -> Any:
    arguments: dict[str, Any] = {"kernel": SQUARE, "answers": ANSWERS, "threads": 1}
    return engine.kernel_scores(rows_of(engine, X), rows_of(engine, stored), state, **(arguments | changes))


def assert_same(a: Any, b: Any, name: str = "") -> None:
    """Compare bytes."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key, value in a.items():
            assert_same(value, b[key], f"{name}/{key}")
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), name
        assert a.tobytes() == b.tobytes(), name
    else:
        assert a == b, name
