"""A handler that uses the estimator in the midst of a pass; a second signal while the first is handled."""

import copy
import pickle
import signal
import sys
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import SequencePerceptron
from tests.learners import LINEAR, ONLINE, PASSES
from tests.support import contents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")
FOREVER = 2**31 - 1  # epochs; the labels are drawn, so no epoch is clean

READERS = {
    "coef_": lambda model: model.coef_.tobytes(),
    "counts": lambda model: (model.n_seen_.tolist(), model.t_, model.n_mistakes_),
    "predict": lambda model: model.predict(SMALL).tobytes(),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)).coef_.tobytes(),
    "copy": lambda model: copy.deepcopy(model).intercept_.tobytes(),
}
SMALL = np.random.default_rng(1).standard_normal((30, 50))


@cache
def long_passes(sparse):
    """Return calls that learn for some tenths of a second, by a run or by one call of the engine."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((80_000, 50)), np.arange(80_000) % 30
    X = sp.csr_matrix(X) if sparse else X
    return {
        "fit": lambda model: model.fit(X, y),
        "partial_fit": lambda model: model.partial_fit(X, y),
        "unchecked": lambda model: model.partial_fit(X, y, check_input=False),
    }


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["fit", "partial_fit", "unchecked"])
@pytest.mark.parametrize("learner", PASSES)
def test_a_handler_reads_the_estimator_in_the_midst_of_a_pass(learner, name, sparse):
    """It sees all as it was before the call, and waits for nobody; the pass learns what it would learn."""
    learn = long_passes(sparse)[name]
    model = learner(max_iter=2, tol=None).partial_fit(SMALL, np.arange(30), classes=range(30))
    expected = learn(copy.deepcopy(model)).coef_.tobytes()
    before, seen = {reader: read(model) for reader, read in READERS.items()}, []

    def handler(number, frame):
        seen.append({reader: read(model) for reader, read in READERS.items()})

    previous = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
        learn(model)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    after = {reader: read(model) for reader, read in READERS.items()}
    assert after["coef_"] == expected
    assert before != after
    assert seen[:1] == [before], "the call was too short to be interrupted, or showed what it was learning"
    assert all(found in (before, after) for found in seen)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        *((learner, "fit") for learner in LINEAR),
        *((learner, name) for learner in ONLINE for name in ("partial_fit", "unchecked")),
        *((SequencePerceptron, name) for name in ("fit", "partial_fit")),
    ],
)
def test_a_second_ctrl_c_while_the_first_is_handled(learner, name):
    """Its handler runs within that of the first, where the estimator is looked at; nothing has changed."""
    model, calls = learner().fit(SMALL, np.arange(30) % 10), []
    scores = model.predict(SMALL)
    before = contents(model)

    def handler(number, frame):
        calls.append(number)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGPROF)
            calls.append(np.array_equal(model.predict(SMALL), scores))
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.005)
        with pytest.raises(KeyboardInterrupt):
            long_passes(sparse=False)[name](model.set_params(max_iter=FOREVER))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    assert calls == [signal.SIGPROF] * 2
    model.set_params(max_iter=learner().max_iter)
    assert contents(model) == before
    assert np.array_equal(model.predict(SMALL), scores)
