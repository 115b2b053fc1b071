"""The bounds on mistakes: valid for every run of our learner, and sharp where they can be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron, max_margin, mistake_bounds
from perceptron_rs.margins.exact.bounds import norm_squared, novikoff, round_down, round_up

from .oracle import truth


def separable_problem(rng):
    """Return random whole-number rows that a plane (through the origin, or not) separates, and signs."""
    while True:
        n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        size = int(rng.choice([1, 3, 10, 50]))
        X = rng.integers(-size, size + 1, (n, d))
        w, b = rng.integers(-3, 4, d), int(rng.integers(-3, 4)) * int(rng.integers(0, 2))
        scores = X @ w + b
        X, scores = X[scores != 0], scores[scores != 0]
        if len(X) and (scores > 0).any() and (scores < 0).any():
            return X, np.sign(scores), b == 0


def learn(X, y, *, intercept, tie, seed, epochs=200):
    model = Perceptron(
        fit_intercept=intercept,
        tie=tie,
        shuffle=seed is not None,
        random_state=seed or 0,
        max_iter=epochs,
        tol=None,
    )
    return model.fit(X, y)


def test_no_run_makes_more_mistakes():
    rng = np.random.default_rng(11)
    closest = 0.0
    for number in range(700):
        X, y, through_origin = separable_problem(rng)
        for bias in ("free", "augmented", "none") if through_origin else ("free", "augmented"):
            result = max_margin(X, y, bias=bias)
            assert result.status == "separable"
            assert result.best_mistake_bound <= result.mistake_bound < math.inf
            tie = ("mistake", "positive")[number % 2]
            seed = None if number % 3 == 0 else number
            model = learn(X, y, intercept=bias != "none", tie=tie, seed=seed)
            assert model.n_mistakes_ <= result.mistake_bound, (number, bias)
            closest = max(closest, model.n_mistakes_ / result.mistake_bound)
    assert closest > 0.5


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_the_bound_is_reached(engine_name, n):
    """Unit vectors: each is a mistake once, and the bound is their number."""
    X, y = np.eye(n), np.ones(n)
    y[n // 2 :] = -1
    if n == 1:
        X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    result = max_margin(X, y, bias="none", engine=engine_name)
    assert result.mistake_bound == pytest.approx(n, rel=1e-7)
    model = learn(X, y, intercept=False, tie="mistake", seed=None)
    assert model.n_mistakes_ == n >= result.mistake_bound / 2


def test_the_augmented_bound_is_the_smallest():
    rng = np.random.default_rng(3)
    for _ in range(100):
        X, y, _ = separable_problem(rng)
        bounds = {bias: max_margin(X, y, bias=bias).mistake_bound for bias in ("free", "augmented")}
        assert bounds["augmented"] <= bounds["free"] * (1 + 1e-7)
        found = mistake_bounds(X, y).block_novikoff
        assert found == pytest.approx(bounds["augmented"], rel=1e-7)


def test_the_formula_in_fractions():
    """(R^2 + 1) / gamma^2, and without an intercept R^2 / gamma^2, from the exact margin."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        X, y, through_origin = separable_problem(rng)
        longest = max(sum(v * v for v in row) for row in X.tolist())
        for bias, extra in (("augmented", 1), ("none", 0)):
            if bias == "none" and not through_origin:
                continue
            exact = (longest + extra) / truth(X.tolist(), y.tolist(), bias).square
            result = max_margin(X, y, bias=bias)
            assert Fraction(result.best_mistake_bound) <= exact * (1 + Fraction(1, 10**12))
            assert exact <= Fraction(result.mistake_bound) <= exact * (1 + Fraction(1, 10**7))


def one_pass(X, y, w, b, gammas):
    """Freund and Schapire's bound at each gamma, in plain floats."""
    rows = np.column_stack([X, np.ones(len(X))]) if b is not None else X
    direction = np.array([*w, b] if b is not None else w, dtype=float)
    distances = y * (rows @ direction) / np.linalg.norm(direction)
    lacking = np.maximum(0, np.subtract.outer(gammas, distances))
    return ((np.linalg.norm(rows, axis=1).max() + np.linalg.norm(lacking, axis=1)) / gammas) ** 2


def test_one_pass_over_any_data():
    """In any order, and for a direction of any quality."""
    rng = np.random.default_rng(12)
    for number in range(600):
        n, d = int(rng.integers(2, 25)), int(rng.integers(1, 4))
        X = rng.integers(-5, 6, (n, d))
        w, b = rng.integers(-3, 4, d), int(rng.integers(-3, 4))
        if not w.any():
            w[0] = 1
        y = np.where(rng.random(n) < 0.2, -1, 1) * np.where(X @ w + b > 0, 1, -1)
        if len(set(y.tolist())) < 2 or not X.any():
            continue
        for intercept in (True, False):
            bounds = mistake_bounds(
                X, y, w, b if intercept else None, bias="augmented" if intercept else "none"
            )
            model = learn(X, y, intercept=intercept, tie="mistake", seed=number, epochs=1)
            assert model.n_mistakes_ <= bounds.freund_schapire
            assert bounds.freund_schapire <= bounds.block_novikoff


def test_the_best_gamma_is_found():
    rng = np.random.default_rng(13)
    for number in range(150):
        n, d = int(rng.integers(1, 25)), int(rng.integers(1, 4))
        X = rng.integers(-5, 6, (n, d))
        X[0, 0] = 7
        y = rng.choice([-1, 1], n, p=[0.2, 0.8]) * np.where(X[:, 0] > 0, 1, -1)
        w, b = [3] + [1] * (d - 1), (2 if number % 2 else None)
        bounds = mistake_bounds(X, y, w, b, bias="none" if b is None else "augmented")
        grid = one_pass(X, y, w, b, np.geomspace(1e-3, 1e6, 4000))
        at_gamma = one_pass(X, y, w, b, np.array([bounds.gamma]))[0]
        assert at_gamma * (1 - 1e-12) <= bounds.freund_schapire <= at_gamma * (1 + 1e-12)
        assert bounds.freund_schapire <= min(grid) * (1 + 1e-9)


def test_a_known_bound():
    """Rows 3, 4 and -5, the direction 1: R = 5 and the margin is 3."""
    X, y = np.array([[3], [4], [-5]]), np.array([1, 1, -1])
    bounds = mistake_bounds(X, y, [2], bias="none")
    assert bounds.radius == pytest.approx(5, rel=1e-14)
    assert bounds.block_novikoff == pytest.approx(25 / 9, rel=1e-14)
    assert bounds.block_novikoff >= 25 / 9
    assert mistake_bounds(X, -y, [2], bias="none").block_novikoff == math.inf
    assert mistake_bounds(X, y, [2], 0, bias="augmented").block_novikoff == pytest.approx(26 / 9, rel=1e-14)
    assert mistake_bounds(X[:2], [1, 1], [0], 3).block_novikoff == pytest.approx(17, rel=1e-14)
    assert mistake_bounds(X[:2], [1, 1], [0], -3).block_novikoff == math.inf
    assert mistake_bounds([[0.0]], [1], [1], bias="none").block_novikoff == math.inf


def test_storage_and_engines_agree():
    rng = np.random.default_rng(14)
    X = rng.integers(-5, 6, (50, 6)).astype(np.int8)
    y = rng.integers(0, 2, 50)
    expected = mistake_bounds(X, y, [1, 2, 0, -1, 0, 1], 1)
    for given in (X.astype(float), sp.csr_matrix(X), np.asfortranarray(X)):
        for engine in ("rust", "reference"):
            assert mistake_bounds(given, y, [[1, 2, 0, -1, 0, 1]], [1], engine=engine) == expected


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e150, 1e300])
def test_scales(scale):
    X, y = np.array([[3, 1], [4, -1], [-5, 0], [1, -2]]) * scale, np.array([1, 1, -1, -1])
    plain = mistake_bounds(X / scale, y, [1, 1], bias="none")
    found = mistake_bounds(X, y, [1, 1], bias="none")
    assert found.freund_schapire >= plain.freund_schapire * (1 - 1e-12)
    if scale < 1e300:  # a larger gamma would be better there, but is out of range
        assert found.freund_schapire == pytest.approx(plain.freund_schapire, rel=1e-12)
    assert found.radius == pytest.approx(plain.radius * scale, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"intercept": 1.0}, "intercept was passed without coef"),
        ({"bias": "both"}, r"bias must be one of \('free', 'augmented', 'none'\), got 'both'"),
        ({"coef": [0, 0]}, "coef must not be all zeros"),
        ({"coef": [1, np.nan]}, "coef must be finite, got nan"),
        ({"coef": [1]}, r"coef has the shape \(1,\), but X has 2 columns"),
        (
            {"coef": [1, 1], "intercept": 2.0, "bias": "none"},
            "intercept must be 0 or None for bias='none', got 2.0",
        ),
        ({"coef": [1, 1], "intercept": [1, 2]}, "intercept must be one number"),
        ({"y": [0, 1, 2]}, "coef must be given with 3 classes"),
        (
            {"X": [[1, 2], [3, np.nan], [0, 0]], "coef": [1, 1]},
            "Input X contains NaN in row 1 .*, column 1",
        ),
    ],
)
def test_bad_input(changes, text):
    arguments = {"X": [[1, 2], [3, 4], [-1, 0]], "y": [1, 1, 0], **changes}
    with pytest.raises(ValueError, match=text):
        mistake_bounds(**arguments)


def test_roundings():
    third = Fraction(1, 3)
    assert Fraction(round_down(third)) < third < Fraction(round_up(third))
    assert round_up(third) == math.nextafter(round_down(third), 1)
    assert round_up(Fraction(3)) == round_down(Fraction(3)) == 3.0
    assert round_up(Fraction(10) ** 400) == math.inf
    assert round_down(Fraction(10) ** 400) == 1.7976931348623157e308
    values = np.array([0.1, -0.7, 1e-200, 1.0])
    exact = sum(Fraction(v) ** 2 for v in values.tolist())
    low, high = norm_squared(values, 0)
    assert low <= exact <= high <= exact * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(
    ("bias", "expected"),
    [("none", Fraction(9, 4)), ("augmented", Fraction(10, 4)), ("free", Fraction(10, 4) * Fraction(5, 4))],
)
def test_the_formula_for_each_kind_of_bias(bias, expected):
    bound, best = novikoff(3.0, 2.0, 2.0, np.array([2.0, 0.0]), 1.0, bias)
    assert Fraction(best) <= expected <= Fraction(bound)
    assert bound - best < 1e-14 * bound
