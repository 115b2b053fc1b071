"""Margins of several classes at once: by hand, against one hyperplane, and in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from perceptron_rs import Perceptron, joint_margin, max_margin, mistake_bounds, verify


@pytest.mark.parametrize("classes", [3, 4])
def test_unit_vectors(classes):
    """The best weights are 1 for the own class and -1 / (K - 1) elsewhere, up to their length."""
    found = joint_margin(np.eye(classes), np.arange(classes), bias="none")
    expected = np.eye(classes) - 1 / classes
    np.testing.assert_allclose(found.coef / np.linalg.norm(found.coef), expected / np.linalg.norm(expected))
    assert found.result.lower == pytest.approx(1 / np.sqrt(classes - 1))
    assert found.result.mistake_bound == pytest.approx(2 * (classes - 1))
    assert found.intercept.tolist() == [0] * classes


@pytest.mark.parametrize("bias", ["augmented", "none"])
def test_two_classes_are_one_hyperplane(bias):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    y = np.where(X @ [1, 2, -1] > 0, "yes", "no")
    single, pair = max_margin(X, y, bias=bias), joint_margin(X, y, bias=bias)
    assert pair.result.lower == pytest.approx(single.lower * np.sqrt(2))
    assert pair.result.mistake_bound == pytest.approx(single.mistake_bound)
    np.testing.assert_allclose(pair.coef[0], -pair.coef[1])
    np.testing.assert_allclose(pair.intercept[0], -pair.intercept[1])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", ["augmented", "none"])
def test_the_weights_have_the_margin_and_no_run_breaks_the_bound(bias, seed, engine_name):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, (25, 3)).astype(float)
    W, c = random.normal(size=(3, 3)), random.normal(size=3) * (bias == "augmented")
    scores = X @ W.T + c
    top = np.sort(scores, axis=1)
    keep = top[:, -1] - top[:, -2] > 0.3
    X, y = X[keep], scores[keep].argmax(axis=1)
    found = joint_margin(sparse.csr_matrix(X), y, bias=bias, engine=engine_name)
    verify(found.result, found.pairs, np.ones(found.pairs.shape[0], dtype=int))
    scores = X @ found.coef.T + found.intercept
    own = scores[np.arange(len(y)), y].copy()
    scores[np.arange(len(y)), y] = -np.inf
    norm = np.sqrt((found.coef**2).sum() + (found.intercept**2).sum())
    assert (own - scores.max(axis=1)).min() / norm == pytest.approx(found.result.lower)
    bounds = mistake_bounds(X, y, found.coef, found.intercept, bias=bias)
    assert bounds.block_novikoff == pytest.approx(found.result.mistake_bound)
    for update in ("max", "uniform", "proportional"):
        model = Perceptron(
            multi_class="joint", joint_update=update, fit_intercept=bias != "none", tol=None, max_iter=100_000
        ).fit(X, y)
        assert model.converged_
        assert model.n_mistakes_ <= found.result.mistake_bound


def test_classes_that_no_weights_separate():
    found = joint_margin([[0.0], [1], [2], [1]], [0, 1, 2, 0])
    assert found.result.status == "non_separable"
    verify(found.result, found.pairs, np.ones(8, dtype=int))
    # One class lies between the others: joint weights separate what one hyperplane for each class does not.
    X, y = [[-1.0], [0], [1]], np.arange(3)
    assert joint_margin(X, y).result.status == "separable"
    assert max_margin(X, y == 1).status == "non_separable"


def test_refusals():
    with pytest.raises(ValueError, match="y must hold at least two classes, got 1 alone"):
        joint_margin([[1.0], [2]], [1, 1])
    with pytest.raises(ValueError, match="bias must be one of"):
        joint_margin([[1.0], [2]], [0, 1], bias="free")
    with pytest.raises(ValueError, match="Input X contains infinity"):
        joint_margin([[1.0], [np.inf]], [0, 1])
