"""The loops of the lessons have the bits of both engines."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, KernelPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from perceptron_rs.datasets import make_noisy, make_separable, xor
from perceptron_rs.reference import lessons
from perceptron_rs.reference.lessons.perceptron import perceptron as first

EPOCHS = 7
TEXTBOOK = {"shuffle": False, "tol": None, "max_iter": EPOCHS}
SIX = np.array([[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]), np.array([-1, 1, 1, -1, -1, 1])
DATA = {
    "six points": SIX,
    "xor": xor(),
    "separable": make_separable(60, 11, margin=0.05, seed=3),
    "noisy": make_noisy(60, 9, flipped=0.2, seed=1),
    "far apart": (make_noisy(40, 3, seed=2)[0] * [1e-9, 1.0, 3e7], make_noisy(40, 3, seed=2)[1]),
}
both = pytest.mark.parametrize("engine", ["rust", "reference"])
all_data = pytest.mark.parametrize(("X", "y"), DATA.values(), ids=DATA)


@both
@all_data
def test_perceptron(X, y, engine):
    w, b = lessons.perceptron(X, y, EPOCHS)
    model = Perceptron(**TEXTBOOK, engine=engine).fit(X, y)
    assert (w.tobytes(), b) == (model.coef_[0].tobytes(), model.intercept_[0])


@both
@all_data
def test_averaged(X, y, engine):
    w, b = lessons.averaged_perceptron(X, y, EPOCHS)
    model = AveragedPerceptron(**TEXTBOOK, engine=engine).fit(X, y)
    assert (w.tobytes(), b) == (model.coef_[0].tobytes(), model.intercept_[0])


@both
@all_data
def test_voted(X, y, engine):
    vectors = lessons.voted_perceptron(X, y, EPOCHS)
    model = VotedPerceptron(**TEXTBOOK, engine=engine).fit(X, y)
    theirs = list(model.vectors())
    assert [(w.tobytes(), b, c) for w, b, c in vectors] == [(w.tobytes(), b, c) for w, b, c in theirs]
    assert [c for *_, c in vectors] == model.survival_[0].tolist()
    votes = [lessons.vote(vectors, x) for x in X]
    assert (np.array(votes) / sum(c for *_, c in vectors)).tolist() == model.decision_function(X).tolist()


@both
@all_data
def test_pocket(X, y, engine):
    w, b, wrong = lessons.pocket_perceptron(X, y, EPOCHS)
    model = PocketPerceptron(**TEXTBOOK, check="update", average=False, engine=engine).fit(X, y)
    assert (w.tobytes(), b, wrong) == (
        model.coef_[0].tobytes(),
        model.intercept_[0],
        model.pocket_errors_[0],
    )


@both
@pytest.mark.parametrize("degree", [1, 2, 3])
@all_data
def test_kernel(X, y, degree, engine):
    K = lessons.polynomial(degree)
    log = lessons.kernel_perceptron(X, y, K, EPOCHS)
    model = KernelPerceptron(
        "poly", degree=degree, gamma=1.0, coef0=1.0, prediction="last", **TEXTBOOK, engine=engine
    ).fit(X, y)
    found = np.array([lessons.kernel_activation(X, y, K, log, x) for x in X])
    assert found.tobytes() == model.decision_function(X).tobytes()
    alpha = np.bincount(log, minlength=len(y))
    assert alpha[model.support_].tolist() == model.mistakes_per_support_.ravel().tolist()
    assert alpha.sum() == len(log) == model.n_mistakes_


def test_they_are_as_long_as_on_a_slide():
    """The first lesson is ten lines and its result; each of the others about thirty, with the loop in it."""
    (function,) = ast.parse(inspect.getsource(first)).body
    assert function.end_lineno - function.body[1].lineno <= 11
    for path in Path(lessons.__file__).parent.glob("*.py"):
        if path.name not in ("__init__.py", "dot.py"):
            text = path.read_text(encoding="utf-8")
            assert len(text[text.index("\ndef ") :].splitlines()) <= 45, path
            assert "for _ in range(max_iter):" in text, path
