"""What all tests share: both engines, and a short way to train with them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

from perceptron_rs.engines import ENGINES, Engine, Rows, State, get_engine
from perceptron_rs.settings import Linear
from tests.support import learn

# Some tests raise Ctrl-C, which a job that a script has put into the background ignores.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """What is collected stays: to look for garbage among it would take a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Leave out what Hypothesis has called when garbage is collected: what a signal raises there is lost."""
    gc.callbacks[:] = [call for call in gc.callbacks if not call.__module__.startswith("hypothesis")]


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

    def fit(self, X: Any, labels: Any, **changes: Any) -> dict[str, Any]:
        arguments = {"learner": "averaged", "eta0": 1.0} | changes
        state = arguments.pop("state", None)
        if state is None:
            state = self.start(X.shape[1], len(arguments.get("positive", [1])))
        return learn(self.engine, Linear, self.rows(X), labels, state, **arguments)

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


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_outlast_a_power_cut():
    """A thousand models are saved; a third of the time of such a test is a wait for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """A process of tests draws more figures than matplotlib lets stay open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
