"""A short way to run the kernel perceptron of an engine on a budget, and the data that is worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine
from perceptron_rs.settings import Budget, KernelSpec
from tests.support import learn

from .support import rows_of

POLICIES = ("oldest", "random", "forgetron", "projectron")
LINEAR = KernelSpec("linear")
RBF = KernelSpec("rbf", gamma=0.5)

# x1 = (1, 0), plus: S = 0, a mistake. x2 = (0, 1), minus: S = 0, a mistake.
# x3 = (-1/2, 1), plus: S = K(x1, x3) - K(x2, x3) = -1/2 - 1, a mistake, and one too many for B = 2.
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 1.0]])
SIGNS = [1, 0, 1]


def nothing(planes: int = 1, width: int = 1) -> State:
    """Return the state of a run that has not begun."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "seen": np.zeros(planes, dtype=np.int64),
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def budget_run(engine: Engine, X: Any, labels: Any, planes: int = 1, **changes: Any) -> dict[str, Any]:
    X = X.astype(np.int32) if X.dtype == np.int64 else X
    arguments: dict[str, Any] = {
        "kernel": LINEAR,
        "budget": 2,
        "policy": "oldest",
        "policy_seed": 0,
        "distance": 0.0,
        "state": nothing(planes, planes if changes.get("joint") else 1),
        "stored": np.zeros((0, X.shape[1])),
        "positive": [1] if planes == 1 else range(planes),
        "eta0": 1.0,
        "track_mistakes": True,
    } | changes
    rows, stored = rows_of(engine, X), rows_of(engine, arguments.pop("stored"))
    return learn(engine, Budget, rows, labels, arguments.pop("state"), stored_rows=stored, **arguments)
