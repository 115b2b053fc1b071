"""Scores of rows under several planes, from weights in any order, against plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron


def by_rule_3(x, w):
    lanes = [0.0] * 8
    for j, (a, b) in enumerate(zip(w, x, strict=True)):
        lanes[j % 8] += a * b
    t = [lanes[i] + lanes[i + 4] for i in range(4)]
    return (t[0] + t[2]) + (t[1] + t[3])


@pytest.mark.parametrize("planes", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("n", [1, 2, 19])
def test_weights_are_read_in_any_order(trainer, planes, dtype, n):
    random, d = np.random.default_rng(planes), 45
    X = (random.normal(size=(n, d)) * 20).astype(dtype) * (random.random((n, d)) < 0.3)
    X = X.astype(dtype)
    b = random.normal(size=planes)
    for w in (random.normal(size=(planes, d)), random.integers(-9, 9, (planes, d)).astype(np.float64)):
        wanted = [
            [by_rule_3(x, plane) + c for plane, c in zip(w.tolist(), b, strict=True)] for x in X.tolist()
        ]
        wide = np.full((d, planes + 3), np.nan)
        wide[:, :planes] = w.T
        for coef in (w, np.asfortranarray(w), wide[:, :planes].T):
            for rows in (X, sp.csr_matrix(X)):
                for threads in (1, 2):
                    found = trainer.engine.scores(trainer.rows(rows), coef, b, threads=threads)
                    assert found.tolist() == wanted


@pytest.mark.parametrize("planes", [3, 30])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_prediction_is_the_first_largest_score(engine_name, planes, storage):
    X = np.random.default_rng(0).integers(-2, 3, (400, 9)).astype(np.float32)  # of which many are equal
    model = Perceptron(max_iter=1, tol=None, engine=engine_name).fit(
        storage(X), 2 * (np.arange(400) % planes)
    )
    scores = model.decision_function(X)
    assert (np.sort(scores)[:, -1] == np.sort(scores)[:, -2]).any()
    for n, n_jobs in [(400, 1), (400, 2), (1, 2)]:
        found = model.set_params(n_jobs=n_jobs).predict(storage(X[:n]))
        assert found.tolist() == (2 * scores.argmax(axis=1))[:n].tolist()


def test_scores_that_are_not_finite_and_those_of_a_subclass_predict_too(engine_name):
    class Reversed(Perceptron):
        def decision_function(self, X):
            return -super().decision_function(X)

    X, y = np.eye(3), [0, 1, 2]
    assert Reversed(max_iter=3, tol=None, engine=engine_name).fit(X, y).predict(X).tolist() != y
    model = Perceptron(max_iter=3, tol=None, engine=engine_name).fit(X, y)
    assert model.predict(X).tolist() == y
    X[1] = [1e308, -1e308, 1e308]
    model.fit(np.vstack([3 * np.eye(3), -3 * np.eye(3)]), [0, 1, 2, 1, 2, 0])
    scores = model.decision_function(X)
    assert np.isinf(scores).any()
    assert model.predict(X).tolist() == scores.argmax(axis=1).tolist()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)
