"""Who reads a model within a short pass, as a handler or a finaliser does, gets an answer; none is lost."""

import contextlib
import copy
import pickle
import subprocess
import sys
from itertools import cycle, product

import ml_dtypes
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.learners import PASSES

B = np.random.default_rng(0).integers(-4, 5, (8, 4)).astype(float)
Y = np.arange(8) % 2
TYPES = ["float64", "float32", "float16", ml_dtypes.bfloat16, "int8", "int64", "bool", "object", ">f8"]
ROWS = [
    *(B.astype(dtype) for dtype in TYPES),
    np.repeat(B, 2, axis=1)[:, ::2],
    *(csr_matrix(B).astype(dtype) for dtype in ("float64", "float32", "int64")),
]
CALLS = {
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "unchecked": lambda model, X, y: model.partial_fit(X, y, check_input=False),
    "weighted": lambda model, X, y: model.partial_fit(X, y, sample_weight=[1] * 8, check_input=False),
    "predict_then_learn": lambda model, X, y: model.predict_then_learn(X, y),
    "audit": lambda model, X, y: model.partial_fit(X, y),
}
READERS = {
    "coef_": lambda model: model.coef_,
    "predict": lambda model: model.predict(B),
    "pickle": pickle.dumps,
    "copy": copy.deepcopy,
    "partial_fit": lambda model: model.partial_fit(B, Y, check_input=False),
}


def read_within(model, call, reader):
    """Make a call, and read at each function of Python in it; return how many got an answer."""
    inside, answered = [], []

    def look(frame, event, _):
        if event == "call" and not inside:
            inside.append(True)
            try:
                reader(model)
                answered.append(True)
            except (RuntimeError, ValueError):  # it learns, within the call
                pass
            finally:
                inside.clear()

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(answered)


def child(learner):
    for (name, X), reader in zip(product(CALLS, ROWS), cycle(READERS), strict=False):
        labels = Y.astype(str) if reader == "copy" else Y
        model = learner(audit=name == "audit").partial_fit(B, labels, classes=np.unique(labels))
        made = 0

        def pass_(call=CALLS[name], model=model, X=X, labels=labels):
            nonlocal made
            with contextlib.suppress(TypeError, ValueError):  # rows that an unchecked call does not convert
                call(model, X, labels)
                made += 1

        times = read_within(model, pass_, READERS[reader]) * (reader == "partial_fit")
        assert made or name in ("unchecked", "weighted"), (name, reader, X.dtype)
        assert model.n_seen_[0] == 8 * (1 + made + times), (name, reader, X.dtype, model.n_seen_, times)


@pytest.mark.parametrize("learner", PASSES)
def test_who_reads_within_a_pass_gets_an_answer(learner):
    """In a process of its own, that a reader who waits for itself does not let the tests wait."""
    script = f"from {__name__} import PASSES, child; child(PASSES[{PASSES.index(learner)}])"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=600)
