"""The averaged estimator: which attribute holds what, and when the average is computed."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, Perceptron

SHARED = {"shuffle": False, "tol": None, "max_iter": 3}


def data(classes=2, n=40):
    rng = np.random.default_rng(4)
    X = rng.integers(-4, 5, (n, 3)).astype(np.float64)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def explicit_average(X, y, epochs):
    """Return the average of (w, b) over the start and every example, in exact arithmetic."""
    w = [Fraction(0)] * (X.shape[1] + 1)
    total, count = list(w), 1
    for _ in range(epochs):
        for row, label in zip(X.astype(int).tolist(), y.tolist(), strict=True):
            sign, x = (1 if label else -1), [*row, 1]
            if sign * sum(a * b for a, b in zip(w, x, strict=True)) <= 0:
                w = [a + sign * b for a, b in zip(w, x, strict=True)]
            total = [a + b for a, b in zip(total, w, strict=True)]
            count += 1
    return [float(value / count) for value in total]


def test_is_the_explicit_average(engine_name):
    X, y = data()
    model = AveragedPerceptron(engine=engine_name, **SHARED).fit(X, y)
    assert [*model.coef_[0], *model.intercept_] == explicit_average(X, y, 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_last_weights_are_the_perceptrons(engine_name, classes):
    X, y = data(classes)
    averaged = AveragedPerceptron(engine=engine_name, **SHARED).fit(X, y)
    plain = Perceptron(engine=engine_name, **SHARED).fit(X, y)
    assert averaged.last_coef_.tobytes() == plain.coef_.tobytes()
    assert averaged.last_intercept_.tobytes() == plain.intercept_.tobytes()
    np.testing.assert_array_equal(averaged.mistakes_per_epoch_, plain.mistakes_per_epoch_)
    assert averaged.coef_.shape == plain.coef_.shape
    scores = averaged.decision_function(X)
    np.testing.assert_allclose(scores, (X @ averaged.coef_.T + averaged.intercept_).reshape(scores.shape))


def test_average_is_computed_once_and_dropped_by_the_next_call(engine_name):
    X, y = data()
    model = AveragedPerceptron(engine=engine_name, **SHARED)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")
    model.fit(X, y)
    before = dict(vars(model))
    first = model.coef_
    if engine_name == "rust":
        assert model.coef_.__array_interface__["data"] == first.__array_interface__["data"]
    assert {k: id(v) for k, v in vars(model).items()} == {k: id(v) for k, v in before.items()}
    held = first.tobytes()
    model.partial_fit(X[:10], y[:10])
    assert first.tobytes() == held != model.coef_.tobytes()
    assert model.n_seen_[0] == 3 * len(y) + 10


@pytest.mark.parametrize("read_first", [False, True])
def test_pickle_keeps_everything(engine_name, read_first):
    X, y = data(3)
    model = AveragedPerceptron(engine=engine_name, **SHARED).fit(X, y)
    expected = model.coef_.copy() if read_first else None
    copy = pickle.loads(pickle.dumps(model))
    if expected is None:
        expected = model.coef_
    assert copy.coef_.tobytes() == expected.tobytes()
    assert copy.partial_fit(X, y).coef_.tobytes() == model.partial_fit(X, y).coef_.tobytes()


def test_batches_equal_one_pass(engine_name):
    X, y = data(3)
    X = X / 3
    whole = AveragedPerceptron(engine=engine_name, shuffle=False, tol=None, max_iter=1).fit(X, y)
    batches = AveragedPerceptron(engine=engine_name)
    for rows in np.array_split(np.arange(len(y)), 7):
        batches.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        assert batches.n_iter_ == 1
    assert batches.coef_.tobytes() == whole.coef_.tobytes()
    assert batches.intercept_.tobytes() == whole.intercept_.tobytes()
