"""A floating-point mode left on by somebody else changes no bit, and is put back."""

import platform
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from perceptron_rs import _core
from perceptron_rs.float_mode import standard

STANDARD = _core._STANDARD_FLOAT_CONTROL
MODES = {
    "x86_64": {
        "flush to zero": STANDARD | 0x8000,
        "denormals are zero": STANDARD | 0x0040,
        "round up": STANDARD | 0x4000,
        "round down": STANDARD | 0x2000,
        "toward zero, both flushes": STANDARD | 0xE040,
    },
    "aarch64": {
        "flush to zero": STANDARD | 1 << 24,
        "round up": STANDARD | 1 << 22,
        "round down": STANDARD | 2 << 22,
    },
}.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()), {})
MODES["standard"] = STANDARD
STATUS_FLAGS = 0x3F  # of x86: what was rounded or overflowed since they were cleared


@contextmanager
def mode(control):
    previous = _core._swap_float_control(control)
    try:
        yield
    finally:
        _core._swap_float_control(previous)


@pytest.mark.parametrize("name", MODES)
def test_no_bit_changes(trainer, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 17)) * 10.0 ** rng.integers(-5, 5, (40, 17))
    X[:20] *= 1e-308
    labels = rng.integers(0, 2, 40)
    start = trainer.start(17, coef=rng.standard_normal(17) * 1e-10)

    x = np.append(X[30] / 7, [-744.0, -709.0])

    def everything():
        report = trainer.fit(X, labels, state=start, eta0=0.1, max_iter=3)
        average = trainer.engine.average(report["state"])
        scores = trainer.scores(X, report["state"]["coef"], report["state"]["intercept"])
        tiny = trainer.scores(X[:20], np.full(17, 1e-3), 0.0)
        shift = trainer.engine.updates_until_right(X[30], 1, -X[30] / 3, None, step=0.1)
        values = [trainer.engine.elementary(np.abs(x), function="log")]
        values += [trainer.engine.elementary(x, function=name) for name in ("exp", "logistic", "tanh")]
        return *report["state"].values(), report["losses"], *average, *values, scores, tiny, shift

    expected = everything()
    assert (np.abs(expected[-2]) < sys.float_info.min).any(), "no denormal number is involved"
    with mode(MODES[name]):
        answers = everything()
        after = _core._swap_float_control(STANDARD)
    for answer, wanted in zip(answers, expected, strict=True):
        assert np.asarray(answer).tobytes() == np.asarray(wanted).tobytes()
    assert after & ~STATUS_FLAGS == MODES[name] & ~STATUS_FLAGS, "the mode was not put back"


@pytest.mark.parametrize("name", MODES)
def test_the_modes_do_something(name):
    """Otherwise the test above would show nothing."""
    x, w = np.array([1e-308, 1.0 + 2.0**-52]), np.array([1e-3, 1.0 / 3.0])
    expected = (x * w, x / 3, -x * w)
    with mode(MODES[name]):
        in_mode = (x * w, x / 3, -x * w)
    changed = any(a.tobytes() != b.tobytes() for a, b in zip(in_mode, expected, strict=True))
    assert changed == (name != "standard")


def test_the_mode_is_put_back_after_an_error():
    control = next(iter(MODES.values()))
    with mode(control):
        with pytest.raises(KeyError), standard():
            raise KeyError
        after = _core._swap_float_control(control)
    assert after & ~STATUS_FLAGS == control & ~STATUS_FLAGS
