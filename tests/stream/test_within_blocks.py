"""Ctrl-C at any line of a run over blocks: what was learnt and what is told of it stay in step."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs.stream import run
from tests.learners import PASSES

#: Where blocks are learnt, and epochs counted.
PARTS = ("epoch", "_visit", "_learn", "_close")
rng = np.random.default_rng(3)
X = sp.random(30, 400, 0.02, "csr", random_state=rng)
Y = rng.integers(0, 3, 30)


def interrupted(model, number):
    """Fit, with Ctrl-C at a line of that number in the run; return whether there were so many lines."""
    lines = iter(range(number + 1))

    def trace(frame, event, _):
        if frame.f_code.co_filename != run.__file__ or frame.f_code.co_name not in PARTS:
            return None
        if event == "line" and next(lines, None) == number:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        model.fit_stream((X, Y), block_size=10)
    finally:
        sys.settrace(before)
    return next(lines, None) is None


@pytest.mark.filterwarnings("ignore:ctrl-c ended the fit")
@pytest.mark.parametrize("kind", PASSES)
def test_what_is_told_is_of_what_was_learnt(kind, engine_name):
    options = {"max_iter": 1, "tol": None, "engine": engine_name}
    learnt = set()
    for number in range(0, 10_000, 1 if engine_name == "rust" else 3):
        model = kind(keep_on_interrupt=True, **options)
        try:
            if not interrupted(model, number):
                break
        except KeyboardInterrupt:  # before the first block, or outside the loop
            assert not hasattr(model, "coef_")
            continue
        n = int(model.n_seen_[0])
        learnt.add(n)
        if n:
            whole = kind(**options).fit_stream((X[:n], Y[:n]), classes=model.classes_, block_size=10)
            assert whole.coef_.tobytes() == model.coef_.tobytes()
            assert whole.mistakes_per_epoch_.tolist() == model.mistakes_per_epoch_.tolist()
            assert whole.loss_curve_ == model.loss_curve_
    assert learnt >= {10, 20, 30}
