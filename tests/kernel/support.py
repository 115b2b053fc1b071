"""A short way to run the kernel perceptron of an engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine
from perceptron_rs.settings import Kernel, KernelSpec
from tests.support import learn, rows_of

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


def kernel_run(engine: Engine, X: Any, labels: Any, planes: int = 1, **changes: Any) -> dict[str, Any]:
    n = X.shape[0]
    start = {
        "sums": np.zeros((planes, n)),
        "intercept": np.zeros(planes),
        "norm": np.zeros(planes),
        "seen": np.zeros(planes, dtype=np.int64),
    }
    arguments: dict[str, Any] = {
        "kernel": SQUARE,
        "cache_bytes": 1 << 20,
        "state": start,
        "positive": [1] if planes == 1 else range(planes),
        "eta0": 1.0,
        "fit_intercept": False,
        "track_mistakes": True,
    } | changes
    return learn(engine, Kernel, rows_of(engine, X), labels, arguments.pop("state"), **arguments)


def vectors(report: dict[str, Any], *, fit_intercept: bool = False, drawn: int = 0) -> State:
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
    arguments: dict[str, Any] = {"kernel": SQUARE, "answers": ANSWERS, "tie": "mistake", "threads": 1}
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
