"""Scores of rows under several planes, from weights in any order, against plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp


def by_rule_3(x, w):
    lanes = [0.0] * 8
    for j, (a, b) in enumerate(zip(w, x, strict=True)):
        lanes[j % 8] += a * b
    t = [lanes[i] + lanes[i + 4] for i in range(4)]
    return (t[0] + t[2]) + (t[1] + t[3])


@pytest.mark.parametrize("planes", [1, 2, 5, 12])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("n", [1, 2, 9])
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
