"""What all tests share: both engines, and a short way to train with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

from perceptron_rs.engines import ENGINES, Engine, Report, Rows, State, get_engine


@pytest.fixture(scope="session", params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def engine(engine_name: str) -> Engine:
    return get_engine(engine_name)


@dataclass(frozen=True)
class Trainer:
    """An engine with defaults: one plane, zero start, unit weights, fixed order, one epoch."""

    engine: Engine

    def rows(self, X: Any) -> Rows:
        if sp.issparse(X):
            return self.engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
        return self.engine.dense_rows(np.ascontiguousarray(X))

    def start(self, d: int, planes: int = 1, **changes: Any) -> State:
        state: State = {
            "coef": np.zeros((planes, d)),
            "intercept": np.zeros(planes),
            "seen": np.zeros(planes, dtype=np.int64),
            "coef_u": np.zeros((planes, d)),
            "intercept_u": np.zeros(planes),
        }
        for name, values in changes.items():
            state[name] = np.array(values, dtype=state[name].dtype).reshape(state[name].shape)
        return state

    def fit(self, X: Any, labels: Any, **changes: Any) -> Report:
        positive = np.array(changes.pop("positive", [1]), dtype=np.uint32)
        sample_weight = changes.pop("sample_weight", None)
        if sample_weight is not None:
            sample_weight = np.array(sample_weight, dtype=np.float64)
        arguments: dict[str, Any] = {
            "learner": "averaged",
            "state": self.start(X.shape[1], len(positive)),
            "class_weight": np.ones((len(positive), 2)),
            "eta0": 1.0,
            "tie": "mistake",
            "fit_intercept": True,
            "seed": None,
            "first_epoch": 0,
            "max_iter": 1,
            "tol": None,
            "n_iter_no_change": 5,
            "track_mistakes": False,
            "threads": 1,
            "margin": 0.0,
            "added_feature": 0.0,
            "max_mistakes_per_example": None,
            "joint": None,
            "penalty": None,
            "settle": True,
            "check": "run",
            "record": False,
            "on_epoch": None,
            "with_state": False,
            "keep_on_interrupt": False,
        }
        assert set(changes) <= set(arguments), changes
        arguments |= changes
        arguments["class_weight"] = np.array(arguments["class_weight"], dtype=np.float64)
        labels = np.array(labels, dtype=np.uint32)
        return self.engine.fit(self.rows(X), labels, sample_weight, positive=positive, **arguments)

    def scores(self, X: Any, coef: Any, intercept: Any) -> Any:
        coef = np.array(coef, dtype=np.float64, ndmin=2)
        intercept = np.array(intercept, dtype=np.float64, ndmin=1)
        return self.engine.scores(self.rows(X), coef, intercept, threads=1)


@pytest.fixture(scope="session")
def trainer(engine: Engine) -> Trainer:
    return Trainer(engine)


settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
