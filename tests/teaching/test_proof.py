"""The inequalities of the convergence theorem, on real runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, KernelPerceptron, Perceptron, max_margin, proof, trace
from perceptron_rs.datasets import make_separable


def separable(seed, d=3):
    """Return points in the ball of radius 5, at least 0.2 away from a plane."""
    random = np.random.default_rng(seed)
    u = np.append(random.normal(size=d), 0.3)
    u /= np.linalg.norm(u)
    X = random.uniform(-2, 2, size=(60, d))
    distance = X @ u[:-1] + u[-1]
    return X[abs(distance) > 0.2], (distance > 0)[abs(distance) > 0.2].astype(int), u


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("eta0", [1.0, 0.3])
def test_the_inequalities_hold_on_every_run(seed, eta0):
    X, y, u = separable(seed)
    model = AveragedPerceptron(eta0=eta0, tol=None, max_iter=10_000, random_state=seed)
    found = proof(trace(model, X, y))
    assert found.holds
    assert len(found.progress) == model.fit(X, y).n_mistakes_ <= found.bound
    # Its direction separates the points at least as well as the one they were drawn with.
    rows = np.column_stack([X, np.ones(len(X))])
    assert found.margin >= (np.where(y, 1, -1) * (rows @ u)).min() * (1 - 1e-7)
    assert found.radius == pytest.approx(np.linalg.norm(rows, axis=1).max())
    assert found.bound == pytest.approx((found.radius / found.margin) ** 2)
    assert np.all(np.diff(found.progress) >= found.margin * (1 - 1e-9))
    assert np.all(np.diff(found.squares) <= found.radius**2 * (1 + 1e-9))


def test_without_an_intercept():
    X, y = np.array([[3.0, 1], [1, 3], [-2, -2]]), [1, 1, 0]
    found = proof(trace(Perceptron(fit_intercept=False, shuffle=False, tol=None), X, y))
    assert found.radius == pytest.approx(np.sqrt(10))
    assert found.margin == pytest.approx(4 / np.sqrt(2), rel=1e-6)  # along (1, 1), by hand
    assert str(found).endswith("1 updates, at most (R / gamma)^2 = 1.25")


def test_a_broken_run_is_seen():
    X, y, _ = separable(0)
    found = proof(trace(Perceptron(tol=None, random_state=0), X, y))
    assert found.holds
    assert not replace(found, squares=found.squares + found.most[-1]).holds


def test_refusals():
    X, y, _ = separable(0)
    with pytest.raises(ValueError, match="classes must be linearly separable, but are non_separable"):
        proof(trace(Perceptron(max_iter=3, tol=None), [[0], [1], [2]], [0, 1, 0]))
    with pytest.raises(ValueError, match=r"updates of one length, got steps from 1 to 2"):
        proof(trace(Perceptron(class_weight={0: 1, 1: 2}, tol=None), X, y))
    with pytest.raises(ValueError, match="steps of one length, got step='pa1'"):
        proof(trace(Perceptron(step="pa1", tol=None), [[1], [-1]], [1, 0]))
    with pytest.raises(ValueError, match="plain updates"):
        proof(trace(Perceptron(penalty="l2", max_iter=3, tol=None), X, y))
    with pytest.raises(ValueError, match="trace must start from zero"):
        proof(trace(Perceptron(tol=None), X, y, coef_init=[0, 1, 0]))
    with pytest.raises(ValueError, match="trace must start from zero"):
        proof(trace(Perceptron(tol=None), X, y, intercept_init=1, every="example"))
    with pytest.raises(ValueError, match="trace must be of a linear learner"):
        proof(trace(KernelPerceptron(kernel="linear", max_iter=3), X, y))
    with pytest.raises(ValueError, match="two classes and one hyperplane, got 3 classes"):
        proof(trace(Perceptron(max_iter=3, tol=None), X, np.arange(len(X)) % 3))


def test_each_claim_is_looked_at():
    X, y = make_separable(40, 3, margin=0.1)
    found = proof(trace(Perceptron(tol=None), X, y))
    k = np.arange(1, len(found.progress) + 1)
    assert found.least.tolist() == (k * found.margin).tolist()
    assert found.margin == max_margin(X, y, bias="augmented").lower
    assert found.holds
    assert not replace(found, least=found.progress * 1.01).holds
    assert not replace(found, most=found.squares * 0.99).holds
    assert not replace(found, bound=len(k) - 0.5).holds
