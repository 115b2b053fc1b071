"""Margins in the space of a kernel: by hand, against explicit features, and in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from perceptron_rs import (
    KernelPerceptron,
    VerificationError,
    hull_weights,
    is_separable,
    kernel_matrix,
    max_margin,
    verify,
)
from perceptron_rs.datasets import xor

CORNERS = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
DIFFER = np.array([-1, 1, 1, -1])
SQUARE = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}


def fields(result):
    return {name: getattr(result, name) for name in ("status", "lower", "upper", "radius", "intercept")} | {
        "coef": result.coef.tobytes(),
        "support": result.support.tolist(),
        "weights": result.dual_weights.tolist(),
    }


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_xor_under_a_polynomial_of_degree_2(bias):
    """The product x1 x2 has the weight sqrt(2) in this space, so the margin is sqrt(2)."""
    result = max_margin(CORNERS, DIFFER, bias=bias, **SQUARE)
    assert result.status == "separable"
    assert Fraction(result.lower) ** 2 <= 2 <= Fraction(result.upper) ** 2
    assert result.gap < 1e-14
    assert result.radius == 3
    assert result.support.tolist() == [0, 1, 2, 3]
    K = kernel_matrix(CORNERS, **SQUARE)
    verify(result, K, DIFFER)
    assert is_separable(CORNERS, DIFFER, **SQUARE)
    assert is_separable(CORNERS, DIFFER) is False
    scores = K @ result.coef + result.intercept
    assert np.sign(scores).tolist() == DIFFER.tolist()
    assert "kernel: poly" in str(result)
    assert result.to_dict()["kernel"]["degree"] == 2


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_inner_products_alone_say_what_the_rows_say(bias, seed, engine_name):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, (10, 1 + seed % 4)).astype(float)
    y = np.where(X @ random.normal(size=X.shape[1]) + (bias != "none") * 0.5 > 0, 1, -1)
    y[0] = -y[0] if seed % 3 == 0 else y[0]
    if abs(y.sum()) == len(y):
        y[1] = -y[1]
    rows = max_margin(X, y, bias=bias)
    K = X @ X.T
    result = max_margin(K, y, bias=bias, kernel="precomputed", engine=engine_name)
    assert result.status == rows.status
    verify(result, K, y)
    if rows.status == "separable":
        assert result.lower <= rows.upper
        assert rows.lower <= result.upper
        assert result.gap < 1e-7
        assert result.mistake_bound == pytest.approx(rows.mistake_bound, rel=1e-6)
        with pytest.raises(VerificationError):
            verify(replace(result, lower=result.upper * 1.01, upper=result.upper * 1.1), K, y)
        with pytest.raises(VerificationError, match="do not prove upper"):
            verify(replace(result, lower=result.lower * 0.5, upper=result.lower * 0.9), K, y)
    else:
        shares = hull_weights(result, K, y)
        v = [Fraction(int(y[i])) * share for i, share in zip(result.support, shares, strict=True)]
        points = [[Fraction(value) for value in X[i].tolist()] for i in result.support]
        assert all(sum(c * x[j] for c, x in zip(v, points, strict=True)) == 0 for j in range(X.shape[1]))


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_it_is_the_hard_margin_machine(kernel, bias):
    random = np.random.default_rng(5)
    X, y = random.normal(size=(40, 3)), np.where(random.uniform(size=40) < 0.5, 1, 0)
    options = {"kernel": kernel, "gamma": 0.8, "coef0": 1.0, "degree": 4}
    result = max_margin(X, y, bias=bias, **options)
    assert result.status == "separable"
    K = kernel_matrix(X, **options)
    verify(result, K, y)
    assert result.gap < 1e-7
    if bias == "free":
        peer = SVC(C=1e12, tol=1e-10, **options).fit(X, y)
        norm = math.sqrt(peer.dual_coef_[0] @ K[np.ix_(peer.support_, peer.support_)] @ peer.dual_coef_[0])
        assert 1 / norm == pytest.approx(result.lower, rel=1e-3)
    else:
        model = KernelPerceptron(tol=None, max_iter=10_000, prediction="last", **options).fit(X, y)
        assert model.converged_
        assert model.n_mistakes_ <= result.mistake_bound


@pytest.mark.parametrize("options", [SQUARE, {"kernel": "rbf"}, {"kernel": "rbf", "gamma": "auto"}], ids=str)
def test_engines_and_storage_agree(options):
    random = np.random.default_rng(1)
    X, y = random.integers(0, 3, (25, 4)), random.integers(0, 2, 25)
    found = fields(max_margin(X, y, **options))
    assert found == fields(max_margin(X.astype(np.float32), y, engine="reference", **options))
    assert found == fields(max_margin(sparse.csr_matrix(X), y, n_jobs=2, **options))


def test_xor_stays_inseparable_where_the_kernel_is_linear_in_disguise():
    X, y = xor()
    result = max_margin(X, y, kernel="poly", degree=1, gamma=1.0)
    assert result.status == "non_separable"
    assert (
        hull_weights(result, kernel_matrix(X, kernel="poly", degree=1, gamma=1.0), y) == [Fraction(1, 2)] * 4
    )


def test_one_class():
    result = max_margin([[1.0], [2]], [1, 1], kernel="rbf")
    assert (result.status, result.lower) == ("one_class", math.inf)
    assert max_margin([[1.0], [2]], [1, 1], kernel="rbf", bias="none").status == "separable"


def test_refusals():
    with pytest.raises(ValueError, match="kernel must be one of"):
        max_margin(CORNERS, DIFFER, kernel="sigmoid")
    for gamma in (0, 10**400):
        with pytest.raises(ValueError, match="gamma must be"):
            max_margin(CORNERS, DIFFER, kernel="rbf", gamma=gamma)
    with pytest.raises(ValueError, match="degree must be"):
        max_margin(CORNERS, DIFFER, kernel="poly", degree=1.5)
    for coef0 in (-1, 10**400):
        with pytest.raises(ValueError, match="coef0 must be"):
            max_margin(CORNERS, DIFFER, kernel="poly", coef0=coef0)
    with pytest.raises(ValueError, match="X must be a square matrix"):
        max_margin(CORNERS, DIFFER, kernel="precomputed")
    with pytest.raises(ValueError, match="X must be symmetric"):
        max_margin(np.triu(np.ones((4, 4))), DIFFER, kernel="precomputed")
    with pytest.raises(ValueError, match="Input X contains NaN"):
        max_margin([[np.nan], [1.0]], [0, 1], kernel="rbf")
    with pytest.raises(ValueError, match="a kernel value is not finite"):
        max_margin([[1e200], [1.0]], [0, 1], **SQUARE)
