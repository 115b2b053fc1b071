"""Losses, their curve over the epochs, and the settings of scikit-learn that minimise the same losses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    hinge_loss,
    load,
    perceptron_loss,
    trace,
)


def drawn(classes=2, n=60, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(-5, 6, (n, 4)).astype(float), random.integers(0, classes, n)


@pytest.mark.parametrize("wrong", [0.1, 10])
def test_a_wrong_example_costs_what_it_is_off_by(wrong):
    assert perceptron_loss([1], [-wrong]) == perceptron_loss([0], [wrong]) == wrong
    assert perceptron_loss(["a", "b"], [wrong, wrong]) == wrong / 2
    assert hinge_loss([1], [-wrong]) == hinge_loss([-1], [wrong]) == 1 + wrong


@pytest.mark.parametrize("labels", [[0, 1], [-1, 0], ["a", "b"]])
def test_labels_say_which_class_is_positive(labels):
    """Also where ``y_true`` has one of them."""
    low, high = labels
    for y, score, loss in ((low, -2.0, 0.0), (low, 2.0, 3.0), (high, 2.0, 0.0), (high, -2.0, 3.0)):
        assert (
            hinge_loss([y], [score], labels=labels) == hinge_loss([y], [score], labels=labels[::-1]) == loss
        )


def test_a_right_example_costs_nothing():
    assert perceptron_loss([1, 0], [0.1, -10]) == 0
    assert hinge_loss([1, 0], [1, -10]) == 0
    assert hinge_loss([1], [0.75]) == 0.25


def test_two_classes_with_a_score_each():
    assert perceptron_loss([0, 1], [[1, 4], [0, 5]]) == (3 + 0) / 2
    with pytest.raises(ValueError, match="a column for each of 1 labels, got 1"):
        perceptron_loss([0], [[1.0]])


def test_several_classes():
    scores = [[3.0, 1, 2], [0, 5, 1], [2, 2, 2]]
    assert perceptron_loss([2, 0, 1], scores) == (1 + 5 + 0) / 3
    assert perceptron_loss([2, 0, 1], scores, sample_weight=[1, 0, 0]) == 1
    assert perceptron_loss([2, 0], scores[:2], labels=[0, 1, 2]) == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_the_hinge_loss_is_that_of_scikit_learn(classes):
    random = np.random.default_rng(classes)
    y = random.integers(0, classes, 50)
    scores = random.normal(size=50 if classes == 2 else (50, classes))
    weight = random.uniform(size=50)
    for given in (None, weight):
        expected = metrics.hinge_loss(y, scores, sample_weight=given)
        assert hinge_loss(y, scores, sample_weight=given) == pytest.approx(expected)


def test_refusals():
    for y, scores in (([1, 0], [1]), ([], []), ([[1]], [1])):
        with pytest.raises(ValueError, match="a label and a score"):
            perceptron_loss(y, scores)
    with pytest.raises(ValueError, match="pred_decision must be finite"):
        perceptron_loss([1], [np.nan])
    with pytest.raises(ValueError, match="a column for each of 2 labels, got 3"):
        perceptron_loss([0, 1], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a column for each of 1 labels, got 1"):
        perceptron_loss([1, 1], np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"y_true must hold labels of \[0, 1\]"):
        perceptron_loss([2], [1.0], labels=[0, 1])
    with pytest.raises(ValueError, match="labels must be two"):
        perceptron_loss([0], [1.0], labels=[0, 1, 2])
    with pytest.raises(ValueError, match="y_true must hold at most two labels for one score"):
        perceptron_loss([0, 1, 2], [1.0, 1, 1])


MASK = [True, False]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([b"a", b"a"], [1, 1]), "y_true must hold class labels, got bytes"),
        (([None, None], [1, 1]), "Input y_true contains NaN: the label in row 0"),
        (([np.nan, 1], [1, 1]), "Input y_true contains NaN"),
        (([0.5, 1], [1, 1]), "y_true: Unknown label type: continuous: found 0.5"),
        ((np.ma.MaskedArray([0, 1], MASK), [1, 1]), "y_true is a masked array"),
        (([0, 1], np.ma.MaskedArray([1, 1], MASK)), "pred_decision is a masked array"),
        (([0, 1], ["1", "1"]), "pred_decision must hold real numbers"),
        (([0, 1], [1j, 1]), "pred_decision has the dtype complex128"),
        (([0, 1], [1, 1], [b"0", b"1"]), "labels must hold class labels, got bytes"),
        (([0, 1], [1, 1], None, [1]), "sample_weight"),
        (([0, 1], [1, 1], None, [0, 0]), "sample_weight"),
        (([0, 1], [1, 1], None, [2, -1]), "sample_weight must be finite and >= 0, got -1"),
        (([0, 1], [1, 1], None, [np.nan, 1]), "sample_weight must be finite and >= 0, got nan"),
        (([0, 1], [1, 1], None, np.ma.MaskedArray([1, 1], MASK)), "sample_weight is a masked array"),
    ],
)
def test_refusals_name_the_argument(arguments, text):
    y, scores, labels, weight = (*arguments, None, None)[:4]
    for loss in (perceptron_loss, hinge_loss):
        with pytest.raises((TypeError, ValueError), match=text):
            loss(y, scores, labels=labels, sample_weight=weight)


LEARNERS = [
    Perceptron(),
    Perceptron(margin_threshold=2, eta0=0.5),
    Perceptron(multi_class="joint"),
    AveragedPerceptron(),
    PocketPerceptron(),
    VotedPerceptron(),
    KernelPerceptron(kernel="poly", degree=2, gamma=1.0),
    BudgetedKernelPerceptron(kernel="linear", budget=1000),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_the_curve_is_the_mean_loss_before_each_update(model, classes, tmp_path):
    X, y = drawn(classes)
    model = clone(model).set_params(max_iter=4, tol=None, random_state=2)
    records = []
    steps = list(trace(model, X, y, every="example"))
    model.set_params(callback=records.append).fit(X, y)
    joint = model.get_params()["multi_class"] == "joint" if "multi_class" in model.get_params() else False
    sums = np.zeros(4)
    if joint:
        by_example = {}
        for step in steps:
            by_example.setdefault((step.epoch, step.row), []).append((step.y, step.activation))
        for (epoch, _), found in by_example.items():
            (own,) = [a for y, a in found if y == 1]
            sums[epoch] += max(0, max(a for y, a in found if y < 0) - own)
        parts = 1
    else:
        for step in steps:
            sums[step.epoch] += max(0, -step.y * step.activation)
        parts = 1 if classes == 2 else 3
    assert model.loss_curve_ == pytest.approx(sums / 60 / parts)
    assert model.loss_curve_ == [record.loss for record in records]
    model.set_params(callback=None)
    model.save(tmp_path / "model")
    found = load(tmp_path / "model")
    assert found.loss_curve_ == model.loss_curve_
    if hasattr(found, "partial_fit"):
        assert not hasattr(found.partial_fit(X, y), "loss_curve_")


def test_a_short_pass_has_no_curve_either():
    X, y = drawn()
    model = Perceptron(tol=None, max_iter=2).fit(X, y)
    model.partial_fit(X[:1], y[:1], check_input=False)
    assert not hasattr(model, "loss_curve_")


STOCHASTIC = {"learning_rate": "constant", "penalty": None, "shuffle": False, "tol": None, "max_iter": 5}
#: Loss, our estimator, options of the peer that minimises the loss, and the factor of the peer's weights.
TABLE = [
    ("perceptron", Perceptron(), {"eta0": 1}, 1),
    ("perceptron", Perceptron(eta0=0.25), {"eta0": 0.25}, 1),
    ("perceptron", Perceptron(fit_intercept=False), {"eta0": 1, "fit_intercept": False}, 1),
    ("perceptron", AveragedPerceptron(), {"eta0": 1, "average": True}, 300 / 301),
    ("hinge", Perceptron(margin_threshold=1), {"eta0": 1}, 1),
    ("hinge", Perceptron(margin_threshold=1, eta0=0.5), {"eta0": 0.5}, 1),
]


@pytest.mark.parametrize(("loss", "model", "options", "scale"), TABLE, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_stochastic_gradient_descent_makes_the_same_updates(loss, model, options, scale, classes, seed):
    X, y = drawn(classes, seed=seed)
    model = clone(model).set_params(max_iter=5, tol=None, shuffle=False).fit(X, y)
    peer = SGDClassifier(loss=loss, **STOCHASTIC | options).fit(X, y)
    assert model.n_mistakes_ > 50
    if scale == 1:  # whole numbers, or halves and quarters of them: no rounding
        assert model.coef_.tolist() == peer.coef_.tolist()
        assert model.intercept_.tolist() == peer.intercept_.tolist()
    else:  # our average has one more vector: the initial one, which is 0
        np.testing.assert_allclose(model.coef_, peer.coef_ * scale, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, peer.intercept_ * scale, rtol=1e-12, atol=1e-12)


def test_a_rate_only_scales_and_a_power_of_two_does_so_exactly():
    X, y = drawn(seed=5)
    X = X + 0.1  # sums round
    one = Perceptron(max_iter=20, tol=None).fit(X, y)
    for eta0 in (0.5, 2.0**-20, 8.0):
        other = clone(one).set_params(eta0=eta0).fit(X, y)
        assert other.coef_.tolist() == (one.coef_ * eta0).tolist()
        assert other.n_mistakes_ == one.n_mistakes_
    # 0.1 rounds: an activation of 0, which is a mistake, may become a small number that is none.
    whole = drawn(seed=5)
    counts = {
        eta0: Perceptron(eta0=eta0, max_iter=50, tol=None).fit(*whole).n_mistakes_ for eta0 in (1.0, 0.1)
    }
    assert counts[1.0] != counts[0.1]


def test_scores_of_small_integers_do_not_wrap():
    scores = np.array([200, 100], dtype=np.uint8)  # -200 is 56 in this type
    assert hinge_loss([0, 1], scores) == 201 / 2
    assert perceptron_loss([0, 1], scores) == 200 / 2
