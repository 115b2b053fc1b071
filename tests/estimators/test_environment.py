"""A floating-point mode that another library has left on changes no bit of an estimator."""

import platform
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners import PASSES

from perceptron_rs import Perceptron, _core
from perceptron_rs.engines import ENGINES

STANDARD = _core._STANDARD_FLOAT_CONTROL
MODES = {
    "x86_64": {"flush to zero": 0x8040, "round up": 0x4000, "round down": 0x2000, "toward zero": 0x6000},
    "aarch64": {"flush to zero": 1 << 24, "round up": 1 << 22, "round down": 2 << 22, "toward zero": 3 << 22},
}.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()), {})
STATUS_FLAGS = 0x3F  # of x86: what was rounded or overflowed since they were cleared


@contextmanager
def mode(name):
    previous = _core._swap_float_control(STANDARD | MODES[name])
    try:
        yield
        left = _core._swap_float_control(STANDARD)
    finally:
        _core._swap_float_control(previous)
    assert left & ~STATUS_FLAGS == STANDARD | MODES[name], "the mode was not put back"


def data(scale, form, n=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 9)) * scale * (rng.random((n, 9)) < 0.7)
    return form(X), rng.integers(0, 3, n), rng.random(n)


def everything(learner, engine, threads, X, y, weights):
    balanced = learner(engine=engine, n_jobs=threads, max_iter=2, eta0=0.1, class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two epochs are not enough
        balanced.fit(X, y, sample_weight=weights)
    pieces = learner(engine=engine, n_jobs=threads, eta0=1 / 3, class_weight={0: 0.1, 2: 1 / 7})
    for rows in np.split(np.arange(len(y)), [10, 60]):
        pieces.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weights[rows])
    for model in (balanced, pieces):
        yield from (model.coef_, model.intercept_, model.decision_function(X), model.mistakes_per_epoch_)
        yield from model.__getstate__()["_model"].values()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("scale", [1.0, 1e-308])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("learner", PASSES)
def test_no_bit_changes(learner, engine, scale, form):
    arguments = data(scale, form, 300 if engine == "rust" else 100)
    expected = [array.tobytes() for array in everything(learner, engine, 1, *arguments)]
    for name in MODES:
        for threads in (1, 2) if engine == "rust" else (1,):
            with mode(name):
                found = [array.tobytes() for array in everything(learner, engine, threads, *arguments)]
            assert found == expected, (name, threads)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODES)
def test_the_mode_is_put_back_after_an_error(engine, name):
    X, y, _ = data(1.0, np.asarray)
    with np.errstate(all="ignore"):
        cases = {"infinity|NaN": X * np.inf, "overflowed": X * 1e307, "inconsistent": X[:5]}
    for error, bad in cases.items():
        with mode(name), pytest.raises(ValueError, match=error):
            Perceptron(engine=engine).fit(bad, y)
