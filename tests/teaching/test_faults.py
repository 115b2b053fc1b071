"""What lectures print wrong, computed: each test is named in docs/course/lectures.csv, by the passage."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import (
    AveragedPerceptron,
    Perceptron,
    is_separable,
    margin,
    max_margin,
    mistake_bounds,
    perceptron_loss,
    proof,
    trace,
)
from perceptron_rs.datasets import lecture, make_separable
from perceptron_rs.reference.lessons import perceptron

ROOT = Path(__file__).parents[2]
SIX = lecture("six_points")
NO_INTERCEPT = {"fit_intercept": False, "shuffle": False, "tol": None}


def passages() -> list[dict[str, str]]:
    with (ROOT / "docs" / "course" / "lectures.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_faulty_passage_has_a_test_and_each_test_a_passage():
    named = {row["test"] for row in passages() if row["right"]}
    here = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert named == here - {"each_faulty_passage_has_a_test_and_each_test_a_passage"}
    assert len(named) >= 15


def test_no_w_0():
    """Line 5 and line 7 run from d = 1: what is returned is as long as x, and b."""
    w, b = perceptron(SIX.X, SIX.y, 1)
    assert w.shape == (2,)
    assert np.isscalar(b)


def averages(counter: bool, first: int = 1) -> tuple[list[Fraction], list[Fraction]]:
    """Return the average of an epoch of the six points by a cached sum, and the naive one."""
    w, u, c = [Fraction(0)] * 2, [Fraction(0)] * 2, first
    total, vectors = list(w), 1
    for x, y in zip(SIX.X.astype(int).tolist(), SIX.y.tolist(), strict=True):
        if y * sum(a * b for a, b in zip(w, x, strict=True)) <= 0:
            w = [a + y * b for a, b in zip(w, x, strict=True)]
            u = [a + (c if counter else 1) * y * b for a, b in zip(u, x, strict=True)]
        c += 1
        total, vectors = [a + b for a, b in zip(total, w, strict=True)], vectors + 1
    return [a - b / c for a, b in zip(w, u, strict=True)], [a / vectors for a in total]


def test_the_cached_sum_needs_the_counter():
    right, naive = averages(counter=True)
    printed, _ = averages(counter=False)
    assert right == naive == [Fraction(12, 7), Fraction(-4, 7)] != printed
    model = AveragedPerceptron(**NO_INTERCEPT | {"max_iter": 1}).fit(SIX.X, SIX.y)
    np.testing.assert_allclose(model.coef_[0], [float(a) for a in right])


def test_the_counter_starts_at_one():
    right, naive = averages(counter=True, first=1)
    others = [averages(counter=True, first=first)[0] for first in (0, 2)]
    assert right == naive
    assert naive not in others


def test_the_first_inequality_can_be_an_equality():
    u = np.array([1.0, 0.0])
    gamma = min(SIX.y * (SIX.X @ u))
    steps = [*trace(Perceptron(**NO_INTERCEPT), SIX.X, SIX.y)]
    assert [step.w @ u for step in steps] == [k * gamma for k in (1, 2, 3)] == [1, 2, 3]
    np.testing.assert_allclose(max_margin(SIX.X, SIX.y, bias="none").coef[1], 0, atol=1e-12)  # u is the best


def test_the_margin_is_a_distance_only_after_division():
    x, w = np.array([3.0, 4.0]), np.array([3.0, 4.0])
    apart = np.stack([x, -x]), [1, -1]
    assert math.isclose(margin(*apart, w, 0.0, normalize=False).lower, 25)
    assert math.isclose(margin(*apart, w, 0.0).lower, np.linalg.norm(x))


def test_the_supremum_is_infinite():
    found = [margin(SIX.X, SIX.y, [10.0**k, 0.0], 0.0, normalize=False).lower for k in range(8)]
    np.testing.assert_allclose(found, [10.0**k for k in range(8)])
    divided = [margin(SIX.X, SIX.y, [10.0**k, 0.0], 0.0).lower for k in range(8)]
    np.testing.assert_allclose(divided, 1)


def test_supremum_and_maximum():
    """A maximum of the divided margin is attained; without a separator both are minus infinity."""
    largest = max_margin(SIX.X, SIX.y)
    attained = margin(SIX.X, SIX.y, largest.coef, largest.intercept)
    assert attained.lower <= largest.upper
    assert math.isclose(attained.lower, largest.upper, rel_tol=1e-6)
    points = lecture("four_points")
    for w in np.random.default_rng(0).normal(size=(50, 3)):
        assert margin(points.X, points.y, w[:2], w[2]).upper == -math.inf
    assert max_margin(points.X, points.y).lower == -math.inf


def test_an_update_moves_by_the_square_of_the_length():
    x = np.array([[3.0, 4.0]])
    before = np.array([[-100.0, 0.0]])
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None)
    after = model.fit(np.concatenate([x, [[0.0, 0.0]]]), [1, 1 - 2], coef_init=before).coef_
    moved = float(((after - before) @ x[0])[0])
    assert moved == np.linalg.norm(x) ** 2 == 25 != np.linalg.norm(x)


def test_the_intercept_is_counted_once():
    x, y, w, b = np.array([3.0, 4.0]), 1, np.array([-9.0, 1.0]), -2.0
    w_new, b_new = w + y * x, b + y
    assert w_new @ x + b_new == w @ x + b + y * (x @ x + 1) != w @ x + b_new + y * (x @ x + 1)


def test_the_bound_is_on_mistakes():
    bound = mistake_bounds(SIX.X, SIX.y, bias="none").block_novikoff
    model = Perceptron(**NO_INTERCEPT).fit(SIX.X, SIX.y)
    assert model.n_mistakes_ <= bound < model.n_seen_[0]  # of examples, which are the iterations of the loop
    # Many copies of an example that is right add iterations, and no mistake.
    X, y = np.concatenate([SIX.X, [SIX.X[-1]] * 1000]), np.concatenate([SIX.y, [SIX.y[-1]] * 1000])
    more = Perceptron(**NO_INTERCEPT).fit(X, y)
    assert (more.n_mistakes_, more.n_seen_[0]) == (model.n_mistakes_, model.n_seen_[0] + 2000)


def test_the_norm_is_not_the_bound():
    found = proof(trace(Perceptron(**NO_INTERCEPT), SIX.X, SIX.y))
    largest = max_margin(SIX.X, SIX.y, bias="none")
    u = largest.coef / np.linalg.norm(largest.coef)
    assert math.isclose(u @ u, 1)
    assert u @ u < len(found.progress) <= found.bound


def test_the_hamming_distance_counts_differences():
    a, b = np.array([0, 1, 2, 3]), np.array([0, 1, 2, 9])
    printed, right = np.sum(a == b), np.sum(a != b)
    assert (printed, right) == (3, 1)
    assert np.sum(a != a) == 0  # a distance of a point from itself
    one_hot = np.concatenate([a[:, None] == range(10), b[:, None] == range(10)], axis=1).astype(int)
    assert (one_hot[:, :10] * one_hot[:, 10:]).sum() == printed == len(a) - right


def test_the_constant_is_x_0():
    x, w, b = np.array([5.0, 7.0]), np.array([2.0, 3.0]), -1.0
    theta = np.array([b, *w])
    assert theta @ [1.0, *x] == w @ x + b
    assert theta @ [x[0], 1.0, x[1]] != w @ x + b  # with the 1 as the first feature


def test_the_weights_are_orthogonal_to_differences():
    w, b = np.array([2.0, 3.0]), 6.0
    x, z = np.array([0.0, -2.0]), np.array([-3.0, 0.0])
    assert w @ x + b == w @ z + b == 0
    assert w @ x == w @ z == -b != 0
    assert w @ (x - z) == 0


def test_an_update_on_a_negative_lowers_the_activation():
    x, w = np.array([3.0, 4.0]), np.array([1.0, 1.0])
    assert (w - x) @ x < w @ x


def test_the_loss_is_zero_at_zero():
    assert perceptron_loss([1], [0.0]) == 0
    steps = trace(Perceptron(shuffle=False, tol=None), [[1.0], [-1.0]], [1, -1])
    (first, *_) = steps
    assert first.activation == 0
    assert first.mistake


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_minus_four_is_a_mistake(engine):
    points = lecture("four_points")
    model = points.estimator.set_params(engine=engine).fit(points.X, points.y)
    assert (*model.coef_[0], *model.intercept_) == (0, -1, 0) != points.printed_weights
    assert -1 * (np.array([1, 1]) @ [1, 2] + 1) == -4
    assert (
        np.mean(points.X[points.y == 1], axis=0).tolist()
        == np.mean(points.X[points.y == -1], axis=0).tolist()
    )
    assert not is_separable(points.X, points.y)


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_minus_one_is_a_mistake(engine):
    points = lecture("xor")
    model = points.estimator.set_params(engine=engine).fit(points.X, points.y)
    assert (*model.coef_[0], *model.intercept_) == (-1, -1, -1) != points.printed_weights
    # As printed, the second epoch would have no update, and so would be the last.
    w, b = np.array(points.printed_weights[:2]), points.printed_weights[2]
    printed = [i for i, (x, y) in enumerate(zip(points.X, points.y, strict=True)) if y * (w @ x + b) <= 0]
    assert printed == [2, 3]  # which it calls correctly classified
    assert not Perceptron(tol=None, max_iter=500).fit(points.X, points.y).converged_


def test_the_learning_rate_only_scales():
    X, y = make_separable(100, 3, margin=0.02, seed=5)
    runs = [Perceptron(eta0=eta0, tol=None).fit(X, y) for eta0 in (1.0, 2.0**-20, 1024.0)]
    for run in runs[1:]:
        assert (run.coef_ / run.eta0).tobytes() == runs[0].coef_.tobytes()
        assert run.mistakes_per_epoch_.tolist() == runs[0].mistakes_per_epoch_.tolist()
    # Whole numbers leave nothing to round, so any rate makes the same mistakes.
    counts = [Perceptron(eta0=eta0, **NO_INTERCEPT).fit(SIX.X, SIX.y).n_mistakes_ for eta0 in (1, 0.1, 0.003)]
    assert len(set(counts)) == 1
