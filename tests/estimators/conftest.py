"""How bad input is tried: the error, the estimator, the arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs.training.driver import noted_calls

N, D = 12, 4
GOOD = np.arange(N * D, dtype=np.float64).reshape(N, D) % 7 - 3
Y = np.arange(N) % 3


def frozen_bits(value):
    """Return something that is equal only if the value, and all within it, has the same bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else repr(value)
    if sp.issparse(value):
        return {name: frozen_bits(part) for name, part in vars(value).items()}
    if isinstance(value, dict):
        return {name: frozen_bits(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [frozen_bits(part) for part in value]
    if isinstance(value, np.random.RandomState):
        return frozen_bits(value.get_state())
    return repr(value)


@pytest.fixture(name="frozen", scope="session")
def fixture_frozen():
    return frozen_bits


def attempt_bad(learner, engine, method, error, pattern, argument, X=GOOD, y=Y, parameters=None, **extra):
    """Call the method with bad input, and check the error, the estimator and the arguments."""
    model = learner(engine=engine, tol=None, max_iter=2, warm_start=method == "warm fit")
    model.set_params(random_state=np.random.RandomState(3))
    if method not in ("cold fit", "first partial_fit"):
        model.fit(GOOD, Y)
    model.set_params(**(parameters or {}))
    if method == "first partial_fit":
        extra.setdefault("classes", [0, 1, 2])
    before, arguments = frozen_bits(model.__getstate__()), frozen_bits([X, y, extra])
    call = model.partial_fit if "partial" in method else model.fit
    with pytest.raises(error) as caught:
        call(X, y, **extra)
    text = str(caught.value)
    assert re.search(pattern, text, re.IGNORECASE), text
    assert re.search(rf"\b{argument}", text), text
    assert frozen_bits(model.__getstate__()) == before
    assert frozen_bits([X, y, extra]) == arguments


@pytest.fixture(name="attempt", scope="session")
def fixture_attempt():
    return attempt_bad


@pytest.fixture
def runs():
    """Return a list of the runs of linear learners that have been made: a pass needs none."""
    with noted_calls() as calls:
        yield calls
