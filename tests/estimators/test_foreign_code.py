"""Callbacks, kernels and searches of others have a floating-point mode of their own, and change no bit."""

import itertools
import platform
import warnings

import numpy as np
import pytest

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    _core,
)

STANDARD = _core._STANDARD_FLOAT_CONTROL
MODES = {
    "x86_64": {"flush to zero": 0x8040, "round up": 0x4000, "toward zero": 0x6000},
    "aarch64": {"flush to zero": 1 << 24, "round up": 1 << 22, "toward zero": 3 << 22},
}.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()), {})
STATUS_FLAGS = 0x3F  # of x86: what was rounded or overflowed since they were cleared

RANDOM = np.random.default_rng(0)
TINY = RANDOM.standard_normal((80, 5)) * np.where(RANDOM.random((80, 1)) < 0.5, 1.0, 1e-308)
WHOLE = RANDOM.integers(-3, 4, (80, 5)) * 1.0  # a kernel of these has the same bits in every mode
LABELS = RANDOM.integers(0, 3, 80)


class Guest:
    """Wraps code of others: notes the mode that each call finds, and leaves another on."""

    def __init__(self, answer, leaves):
        self.answer, self.leaves, self.found = answer, leaves, []

    def __call__(self, *told, **named):
        answer = self.answer(*told, **named)
        self.found.append(_core._swap_float_control(self.leaves) & ~STATUS_FLAGS)
        return answer


def nothing(*_):
    return None


def online(learner, **parameters):
    def run(guest, engine):
        model = learner(max_iter=4, tol=None, eta0=0.1, engine=engine, callback=guest(nothing), **parameters)
        model.fit(TINY, LABELS)
        return model, model.decision_function(TINY)

    return run


def kernel(guest, engine):
    model = KernelPerceptron("rbf", max_iter=4, eta0=0.1, engine=engine, callback=guest(nothing))
    model.fit(WHOLE, LABELS)
    return model, model.decision_function(WHOLE)


def callable_kernel(guest, engine):
    model = KernelPerceptron(guest(lambda A, B: A @ B.T + 1), max_iter=4, eta0=0.1, engine=engine)
    model.set_params(prediction="average").fit(WHOLE, LABELS)
    return model, model.decision_function(WHOLE)


def chain(guest, engine):
    model = SequencePerceptron(max_iter=4, eta0=0.1, engine=engine, callback=guest(nothing))
    model.fit(TINY, LABELS, lengths=[40, 1, 39])
    return model, model.predict(TINY, lengths=[80])


def structures(guest, engine):
    """Three classes of five symbols; the search looks numbers up and computes nothing."""
    model = StructuredPerceptron(
        guest(lambda x, y: {3 * x + y: 0.7}),
        guest(lambda x, w: int(np.argmax(w[3 * x : 3 * x + 3]))),
        loss=guest(lambda y, z: abs(y - z)),
        n_features=15,
        eta0=0.1,
        engine=engine,
    )
    model.fit(np.arange(80) % 5, LABELS)
    return model, model.coef_


def scikit_learn(guest, engine):
    pytest.importorskip("sklearn.callback", reason="callbacks of scikit-learn from its version 1.9 on")
    model = AveragedPerceptron(max_iter=4, tol=None, eta0=0.1, engine=engine)
    told = guest(nothing)

    class Watch:
        def setup(self, estimator, context):
            told()

        teardown = setup

        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
            told()

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            if context.task_name == "epoch":
                averages.append(fitted_estimator.coef_.copy())
            told()

    averages = []
    model.set_callbacks(Watch()).fit(TINY, LABELS)
    return [averages, model.coef_, model.intercept_]


RUNS = {
    "perceptron": online(Perceptron),
    "averaged, early stopping": online(AveragedPerceptron, early_stopping=True),
    "pocket, early stopping": online(PocketPerceptron, early_stopping=True),
    "voted": online(VotedPerceptron),
    "kernel": kernel,
    "callable kernel": callable_kernel,
    "chain": chain,
    "structures": structures,
    "callbacks of scikit-learn": scikit_learn,
}


def bits(value):
    """Bytes of what was learnt, without what a caller gave."""
    if isinstance(value, dict):
        return {name: bits(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(v) for v in value]
    if callable(value):
        return type(value).__name__
    if hasattr(value, "get_params"):  # the record of calls names the guests themselves
        left_out = {*value.get_params(), "_calls"}
        return {name: bits(v) for name, v in value.__getstate__().items() if name not in left_out}
    return np.asarray(value).tobytes() if isinstance(value, (np.ndarray, float)) else repr(value)


def outcome(run, engine, leaves, callers):
    """Return the bits of a run, the modes that its guests found, and that in force in the end."""
    guests = []

    def guest(answer):
        guests.append(Guest(answer, leaves))
        return guests[-1]

    before = _core._swap_float_control(callers)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few epochs are not enough
            found = RUNS[run](guest, engine)
        after = _core._swap_float_control(STANDARD)
    finally:
        _core._swap_float_control(before)
    return bits(found), [guest.found for guest in guests], after & ~STATUS_FLAGS


@pytest.mark.parametrize(
    ("engine_name", "run", "name"),
    [
        *(("rust", run, name) for run in RUNS for name in MODES),
        # One function surrounds all that the reference computes: there modes take turns.
        *(("reference", run, name) for run, name in zip(RUNS, itertools.cycle(MODES)) if MODES),
    ],
)
def test_they_have_a_mode_of_their_own(run, engine_name, name):
    expected, quiet, _ = outcome(run, engine_name, STANDARD, STANDARD)
    assert all(len(found) > 2 for found in quiet), "they are hardly called"
    leaves = STANDARD | MODES[name]
    for callers in (STANDARD, leaves):
        found, modes, after = outcome(run, engine_name, leaves, callers)
        assert found == expected
        assert [len(found) for found in modes] == [len(found) for found in quiet]
        # The first call of all finds the caller's mode, the others what was left on.
        first, *others = sorted((mode for found in modes for mode in found), key=callers.__ne__)
        assert first == callers
        assert set(others) == {leaves}
        assert after == leaves, "what was left on is the caller's"
