"""Each end of the interval is true of the numbers that are returned, checked in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from perceptron_rs.engines import get_engine
from perceptron_rs.reference.margin.certificate import norm_ends

from .problems import gap, planted, separate

BIASES = ("free", "augmented", "none")


def exact(row):
    return [Fraction(float(value)) for value in row]


def check(X, y, bias, solution):
    """Assert what the two ends claim."""
    rows, signs = [exact(row) for row in X], [1 if label else -1 for label in y]
    w, b = exact(solution["coef"]), Fraction(solution["intercept"])
    if solution["lower"] > 0:
        square = sum(value * value for value in w) + (b * b if bias == "augmented" else 0)
        lower = Fraction(solution["lower"])
        for row, sign in zip(rows, signs, strict=True):
            score = sign * (sum(p * q for p, q in zip(row, w, strict=True)) + b)
            assert score > 0
            assert score * score >= lower * lower * square
    groups = [{1}, {-1}] if bias == "free" else [{1, -1}]
    weights = [Fraction(int(k), 2**53) for k in solution["dual_weights"]]
    assert all(weight > 0 for weight in weights)
    assert list(solution["support"]) == sorted(set(solution["support"].tolist()))
    own = [signs[i] for i in solution["support"]]
    for group in groups:
        assert sum(weight for weight, sign in zip(weights, own, strict=True) if sign in group) == 1
    if solution["upper"] > 0:
        v = [Fraction(0)] * (X.shape[1] + (bias == "augmented"))
        for i, weight in zip(solution["support"], weights, strict=True):
            row = [*rows[i], Fraction(1)] if bias == "augmented" else rows[i]
            v = [total + weight * signs[i] * value for total, value in zip(v, row, strict=True)]
        assert sum(value * value for value in v) <= (Fraction(solution["upper"]) * len(groups)) ** 2
    radius = Fraction(solution["radius"])
    assert all(sum(value * value for value in row) <= radius * radius for row in rows)


@given(st.integers(0, 2**32 - 1), st.sampled_from(BIASES), st.sampled_from([1e-12, 1e-3, 0.5]))
def test_both_ends_are_true(engine, seed, bias, tol):
    X, y = planted(25, 4, 0.05, seed)
    X = X * 10.0 ** np.random.default_rng(seed).integers(-3, 4)
    solution = separate(engine, X, y, bias=bias, tol=tol)
    assert solution["status"] == ("one_class" if bias == "free" and len(set(y)) == 1 else "separable")
    if solution["status"] == "separable":
        check(X, y, bias, solution)
        assert gap(solution) <= max(tol, 1e-11)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("max_steps", [0, 1, 2, 7])
def test_they_are_true_after_any_budget(engine, bias, max_steps):
    X, y = planted(40, 3, 0.01)
    solution = separate(engine, X, y, bias=bias, max_steps=max_steps)
    assert solution["work"]["passes"] + solution["work"]["majors"] <= max_steps
    check(X, y, bias, solution)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("scale", [1e300, 1e-300, 2.0**-1060])
def test_they_are_true_at_the_ends_of_the_range(engine, bias, scale):
    X, y = planted(20, 3, 0.1)
    X = X * scale
    solution = separate(engine, X, y, bias=bias)
    check(X, y, bias, solution)
    if scale > 1e-310 or bias != "augmented":
        assert solution["status"] == "separable"


def test_one_huge_feature(engine):
    X, y = planted(20, 3, 0.1)
    X[:, 0] *= 1e300
    solution = separate(engine, X, y)
    assert solution["status"] == "separable"
    check(X, y, "free", solution)


@pytest.mark.parametrize("bias", ["free", "augmented"])
def test_data_far_from_the_origin(engine, bias):
    X, y = planted(60, 3, 0.2)
    solution = separate(engine, X + 1e6, y, bias=bias)
    assert solution["status"] == "separable"
    check(X + 1e6, y, bias, solution)


@pytest.mark.parametrize("bias", BIASES)
def test_columns_of_different_scales(engine, bias):
    X, y = planted(60, 5, 0.2)
    X = X * 10.0 ** np.array([-6, -3, 0, 3, 6])
    solution = separate(engine, X, y, bias=bias)
    assert solution["status"] == "separable"
    check(X, y, bias, solution)


# The reference takes seconds.
@pytest.mark.parametrize(
    ("name", "exponent"),
    [*(("rust", exponent) for exponent in range(2, 9)), ("reference", 3), ("reference", 6)],
)
def test_small_margins(name, exponent):
    # Two clouds at distance 2 x margin whose inner faces are full of rows.
    rng = np.random.default_rng(exponent)
    margin = 10.0**-exponent
    X = rng.normal(size=(200, 6))
    y = np.arange(200) % 2 == 0
    X[:, 0] = np.where(y, 1.0, -1.0) * (margin + np.where(rng.random(200) < 0.5, 0.0, rng.random(200)))
    solution = separate(get_engine(name), X, y, tol=1e-12)
    assert solution["status"] == "separable"
    assert solution["lower"] >= margin * (1 - 1e-9)
    assert gap(solution) <= 1e-7


def test_real_data(engine):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    solution = separate(engine, X, y)
    assert solution["status"] == "separable"
    assert gap(solution) <= 1e-11
    check(X, y, "free", solution)


@pytest.mark.parametrize("one", range(3))
def test_iris(engine, one):
    X, labels = load_iris(return_X_y=True)
    solution = separate(engine, X, labels == one)
    assert solution["status"] == ("separable" if one == 0 else "non_separable")
    check(X, labels == one, "free", solution)
    if one == 0:
        assert gap(solution) <= 1e-10


@given(st.lists(st.floats(-1.0, 1.0), max_size=12), st.floats(-1e100, 1e100))
def test_the_ends_of_a_norm_enclose_it(w, b):
    low, high = norm_ends(np.array(w), b)
    square = sum((Fraction(value) ** 2 for value in w), Fraction(b) ** 2)
    assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
    if square > 2.0**-900:
        assert high <= low * (1 + 2.0**-49)


def test_a_certified_lower_end_that_is_too_large_is_noticed(engine):
    X, y = planted(25, 4, 0.05)
    solution = separate(engine, X, y)
    for name, factor in (("lower", 1 + 1e-9), ("upper", 1 - 1e-9), ("radius", 1 - 1e-9)):
        wrong = dict(solution)
        wrong[name] = solution[name] * factor
        with pytest.raises(AssertionError):
            check(X, y, "free", wrong)
