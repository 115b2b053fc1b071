"""Bounds on mistakes for settings beyond the plain perceptron: no run breaks them, and some reach them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perceptron_rs import Perceptron, VotedPerceptron, mistake_bounds

EVERY = settings(max_examples=40, deadline=None)
WHOLE = st.integers(-5, 5)
ONE_COLUMN = np.array([[1], [-1], [2]]), np.array([0, 1, 0]), np.array([[-1]]), np.array([0])


@st.composite
def problems(draw, classes=2):
    """Whole-number rows, labels by a direction with some flipped, and the direction."""
    n, d = draw(st.integers(3, 14)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(WHOLE, min_size=d, max_size=d), min_size=n, max_size=n)))
    rows = 1 if classes == 2 else classes
    direction = np.array(draw(st.lists(WHOLE, min_size=rows * (d + 1), max_size=rows * (d + 1))))
    direction = direction.reshape(rows, d + 1)
    direction[0, 0] += not direction.any()
    scores = X @ direction[:, :-1].T + direction[:, -1]
    y = (scores[:, 0] > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    wrong = draw(st.lists(st.integers(0, n - 1), max_size=2))
    y[wrong] = (y[wrong] + 1) % classes
    y[:classes] = np.arange(classes)  # every class is there
    return X, y, direction[:, :-1], direction[:, -1]


def learn(X, y, seed, *, start=(None, None), **parameters):
    model = Perceptron(random_state=seed, tol=None, **{"max_iter": 60, **parameters})
    return model.fit(X, y, coef_init=start[0], intercept_init=start[1])


@EVERY
@given(problem=problems(), threshold=st.sampled_from([0.5, 1, 7]), eta0=st.sampled_from([0.5, 1, 4]))
def test_a_margin_threshold(problem, threshold, eta0):
    X, y, w, b = problem
    own = {"margin_threshold": threshold, "eta0": eta0}
    bounds = mistake_bounds(X, y, w, b, **own)
    assert learn(X, y, 1, **own).n_mistakes_ <= bounds.block_novikoff
    assert learn(X, y, 2, max_iter=1, **own).n_mistakes_ <= bounds.freund_schapire <= bounds.block_novikoff
    plain = mistake_bounds(X, y, w, b)
    factor = 1 + 2 * threshold / eta0 / plain.radius**2
    assert bounds.block_novikoff == pytest.approx(plain.block_novikoff * factor)


@EVERY
@given(problem=problems(), data=st.data(), eta0=st.sampled_from([0.5, 1, 4]))
def test_start_weights(problem, data, eta0):
    X, y, w, b = problem
    start = np.array(data.draw(st.lists(st.integers(-20, 20), min_size=w.size + 1, max_size=w.size + 1)))
    own = {"eta0": eta0, "coef_init": start[:-1], "intercept_init": start[-1]}
    bounds = mistake_bounds(X, y, w, b, **own)
    for seed in range(2):
        model = learn(X, y, seed, start=(start[np.newaxis, :-1], start[-1:]), eta0=eta0)
        assert model.n_mistakes_ <= bounds.block_novikoff
        model = learn(X, y, seed, start=(start[np.newaxis, :-1], start[-1:]), eta0=eta0, max_iter=1)
        assert model.n_mistakes_ <= bounds.freund_schapire
    plain = mistake_bounds(X, y, w, b).block_novikoff
    if math.isfinite(plain):  # the quadratic inequality, in floats
        u = np.append(w, b) / np.linalg.norm(np.append(w, b))
        gamma = (np.where(y, 1, -1) * (np.column_stack([X, np.ones(len(X))]) @ u)).min()
        growth, v = (X**2).sum(axis=1).max() + 1, start / eta0
        at = bounds.block_novikoff
        if at > 0:
            assert v @ u + at * gamma == pytest.approx(math.sqrt(v @ v + at * growth), rel=1e-6, abs=1e-6)


@EVERY
@example(problem=ONE_COLUMN, delta=0.5, threshold=0)
@given(problem=problems(), delta=st.sampled_from([0.5, 1, 3, 10]), threshold=st.sampled_from([0, 2]))
def test_an_added_feature_on_any_data(problem, delta, threshold):
    X, y, w, b = problem
    own = {"added_feature": delta, "margin_threshold": threshold}
    bounds = mistake_bounds(X, y, w, b, **own)
    assert math.isfinite(bounds.block_novikoff)
    model = learn(X, y, 3, max_iter=20_000, **own)
    assert model.converged_
    assert model.n_mistakes_ <= bounds.block_novikoff
    # It is the least over gamma, of a formula that any gamma makes a bound.
    rows = np.column_stack([X, np.ones(len(X))])
    m = np.where(y, 1, -1) * (rows @ np.append(w, b)) / np.linalg.norm(np.append(w, b))
    gammas = np.geomspace(1e-4, 1e7, 12_000)
    lacking = (np.maximum(0, np.subtract.outer(gammas, m)) ** 2).sum(axis=1)
    growth = (rows**2).sum(axis=1).max() + delta**2 + 2 * threshold
    grid = growth * (1 + lacking / delta**2) / gammas**2
    assert grid.min() * (1 - 1e-4) <= bounds.block_novikoff <= grid.min() * (1 + 1e-9)


@EVERY
@given(
    problem=problems(classes=3), update=st.sampled_from(["max", "uniform", "proportional"]), data=st.data()
)
def test_joint_decisions(problem, update, data):
    X, y, w, b = problem
    bounds = mistake_bounds(X, y, w, b)
    own = {"multi_class": "joint", "joint_update": update}
    for seed in range(2):
        assert learn(X, y, seed, **own).n_mistakes_ <= bounds.block_novikoff
        assert learn(X, y, seed, max_iter=1, **own).n_mistakes_ <= bounds.freund_schapire
    start = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=w.size + 3, max_size=w.size + 3)))
    start = start[3:].reshape(w.shape), start[:3]
    bounds = mistake_bounds(X, y, w, b, coef_init=start[0], intercept_init=start[1])
    assert learn(X, y, 4, start=start, **own).n_mistakes_ <= bounds.block_novikoff
    assert learn(X, y, 4, start=start, max_iter=1, **own).n_mistakes_ <= bounds.freund_schapire


def test_a_joint_bound_by_hand():
    """Unit vectors, one a class: U has 2/3 and -1/3, its squared norm is 2, the margin 1 / sqrt(2)."""
    direction = np.eye(3) - 1 / 3
    bounds = mistake_bounds(np.eye(3), [0, 1, 2], direction, bias="none")
    assert bounds.block_novikoff == pytest.approx(4)
    assert bounds.radius == pytest.approx(1)
    assert bounds.freund_schapire == pytest.approx(4)
    assert learn(np.eye(3), [0, 1, 2], 0, multi_class="joint", fit_intercept=False).n_mistakes_ == 3


def test_rows_of_zeros_reach_the_bound_with_an_added_feature():
    """Each is a mistake once, and then right by its own feature."""
    X, y = np.zeros((7, 1)), [0, 1, 1, 0, 1, 0, 0]
    bounds = mistake_bounds(X, y, [1.0], bias="none", added_feature=3)
    model = learn(X, y, 0, fit_intercept=False, added_feature=3)
    assert model.n_mistakes_ == 7 <= bounds.block_novikoff <= 7 * (1 + 1e-9)


@pytest.mark.parametrize("threshold", [0, 1, 10])
def test_unit_vectors_reach_half_of_the_bound_of_a_threshold(threshold):
    """Each is updated until its weight is above the threshold."""
    X, y = np.eye(4), np.array([1, -1, 1, -1])
    bounds = mistake_bounds(X, y, y, bias="none", margin_threshold=threshold)
    model = learn(X, y, 0, fit_intercept=False, margin_threshold=threshold)
    assert model.n_mistakes_ == 4 * (threshold + 1) >= bounds.block_novikoff / 2
    assert bounds.block_novikoff == pytest.approx(4 * (2 * threshold + 1))


def test_good_start_weights_leave_no_mistake():
    X, y = np.array([[3.0, 1], [-2, -2]]), [1, 0]
    for size in (1.0, 100.0):
        bounds = mistake_bounds(X, y, [1, 1], bias="none", coef_init=[size, size])
        plain = mistake_bounds(X, y, [1, 1], bias="none")
        assert bounds.block_novikoff < plain.block_novikoff
    assert bounds.block_novikoff < 1
    against = mistake_bounds(X, y, [1, 1], bias="none", coef_init=[-100, -100])
    assert against.block_novikoff > plain.block_novikoff
    model = learn(X, y, 0, start=([[-100.0, -100.0]], [0.0]), fit_intercept=False, max_iter=1000)
    assert plain.block_novikoff < model.n_mistakes_ <= against.block_novikoff


def test_the_random_vector_errs_as_often_as_the_next_prediction():
    """In fractions, over all samples of four examples from a distribution on three places."""
    places = [((1, 0), 0), ((0, 1), 1), ((1, 1), 1)]
    T = 3
    error, online, mistakes = Fraction(0), Fraction(0), Fraction(0)
    for sample in itertools.product(places, repeat=T + 1):
        X, y = np.array([x for x, _ in sample], dtype=float), np.array([label for _, label in sample])
        model = VotedPerceptron(tie="positive").partial_fit(X[:T], y[:T], classes=[0, 1])
        x, label = sample[T]
        for w, b, votes in model.vectors():
            error += Fraction(votes, T) * (int(w @ x + b >= 0) != label)
        full = VotedPerceptron(tie="positive").partial_fit(X, y, classes=[0, 1])
        mistakes += full.n_mistakes_
        after = [(w, b) for w, b, votes in full.vectors() for _ in range(votes)]  # each example
        for (w, b), (x, label) in zip(after, sample[1:], strict=False):
            online += Fraction(int((w @ x + b >= 0) != label), T)
    assert error == online <= mistakes / T
    bounds = mistake_bounds(X, y, [0.0, 1.0])
    assert bounds.n_examples == 4
    assert bounds.random_error == min(1, bounds.freund_schapire / 3)


def test_refusals():
    X, y = np.eye(3), [0, 1, 2]
    with pytest.raises(ValueError, match="coef must be given with 3 classes"):
        mistake_bounds(X, y)
    with pytest.raises(
        ValueError, match=r"coef has the shape \(3,\), but 3 classes and 3 columns need \(3, 3\)"
    ):
        mistake_bounds(X, y, [1, 2, 3])
    with pytest.raises(ValueError, match="must be 0 with more than two classes"):
        mistake_bounds(X, y, np.eye(3), added_feature=1)
    with pytest.raises(ValueError, match="margin_threshold must be finite and at least 0, got -1"):
        mistake_bounds(X, [0, 1, 1], margin_threshold=-1)
    with pytest.raises(ValueError, match="eta0 must be finite and above 0, got 0"):
        mistake_bounds(X, [0, 1, 1], eta0=0)
    with pytest.raises(TypeError, match="added_feature must be a real number"):
        mistake_bounds(X, [0, 1, 1], added_feature="1")
    with pytest.raises(ValueError, match="coef_init has the shape"):
        mistake_bounds(X, [0, 1, 1], coef_init=[1])
    with pytest.raises(ValueError, match="intercept_init must be 0"):
        mistake_bounds(X, [0, 1, 1], bias="none", intercept_init=1)
