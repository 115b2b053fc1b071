"""Shares of a vote, as `predict_proba` returns them: counted by hand, as ``predict`` says, equal bits."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
)

GRID = np.array(list(itertools.product((-1, 0, 1), repeat=2)), dtype=np.float64)
FEW = {"max_iter": 2, "tol": None, "shuffle": False}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("many", [False, True])
def test_shares_are_those_of_a_count_by_hand(n_classes, many):
    rng = np.random.default_rng(n_classes)
    X, y = rng.integers(-2, 3, (30, 2)), np.arange(30) % n_classes
    if many:
        y = rng.integers(0, 2, (30, n_classes))
    model = VotedPerceptron(**FEW).fit(X, y)
    planes = []
    for k in range(len(model.n_seen_)):
        for_, total = np.zeros(len(GRID)), 0
        for w, b, votes in model.vectors(class_index=k):
            for_, total = for_ + votes * (np.sign(GRID @ w + b) + 1) / 2, total + votes  # at 0 half for each
        planes.append([Fraction(count) / total for count in for_])
    rows = list(zip(*planes, strict=True))
    if n_classes == 2 and not many:
        expected = [[1 - p, p] for (p,) in rows]
    elif many:
        expected = rows
    else:
        expected = [[p / sum(row) if sum(row) else Fraction(1, 3) for p in row] for row in rows]
    found = model.predict_proba(GRID)
    for row, exact in zip(found.tolist(), expected, strict=True):
        assert all(abs(Fraction(a) - b) <= Fraction(1, 2**52) for a, b in zip(row, exact, strict=True))
    if many:
        assert ((found > 0.5) == model.predict(GRID)).all()


SETTINGS = [
    VotedPerceptron(**FEW),
    VotedPerceptron(**FEW, fit_intercept=False),
    KernelPerceptron("linear", **FEW),
    KernelPerceptron("linear", **FEW, multi_class="joint"),
]


@pytest.mark.parametrize("model", SETTINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_largest_share_is_that_of_the_predicted_class(model, n_classes):
    """All small problems: three points of a line, each with each label, ties included."""
    points = list(itertools.product((-1.0, 0.0, 1.0), repeat=3))
    ties = 0
    for xs, y in itertools.product(points[::2], itertools.product(range(n_classes), repeat=3)):
        if len(set(y)) < n_classes:
            continue
        model.fit(np.array(xs)[:, None], y)
        X = np.array([[-1.0], [0.0], [1.0]])
        found, predicted = model.predict_proba(X), model.predict(X)
        ties += np.count_nonzero(found[:, 0] == found[:, 1])
        assert model.classes_[found.argmax(axis=1)].tolist() == predicted.tolist()
        assert np.abs(found.sum(axis=1) - 1).max() <= n_classes * 2.0**-53
        assert ((found >= 0) & (found <= 1)).all()
    assert ties


@pytest.mark.parametrize("model", SETTINGS[1:], ids=repr)
@pytest.mark.parametrize("y", [[0, 1, 0], [0, 1, 2], [[1, 1], [0, 1], [1, 0]]])
def test_a_row_without_entries_gets_no_vote(engine_name, model, y):
    if np.ndim(y) == 2 and model.get_params().get("multi_class") == "joint":
        pytest.skip("many labels are learnt one by one")
    model = clone(model).set_params(engine=engine_name).fit([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], y)
    empty = np.zeros((1, 2))
    assert not model.decision_function(empty).any()
    n = 2 if np.ndim(y) == 2 else len(set(y))
    assert model.predict_proba(empty).tolist() == [[1 / n] * n]
    assert not model.predict(empty).any()  # the first class, or no label
    if model.get_params().get("multi_class") != "joint":
        assert (model.set_params(tie="positive").decision_function(empty) == 1).all()


@pytest.mark.parametrize("model", SETTINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_engines_have_the_same_bits(model, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % n_classes
    rust = model.set_params(engine="rust").fit(X, y).predict_proba(X)
    reference = model.set_params(engine="reference").fit(X, y).predict_proba(X)
    model.set_params(engine="rust")
    assert rust.tobytes() == reference.tobytes()


def test_rounding_hides_no_winner():
    """Shares so near that their sum makes them equal; the second one is larger."""
    scores = np.array([[-1.0 + 2.0**-60, -1.0 + 2.0**-53, -1.0], [0.0, 2.0**-53, 2.0**-54]])

    class Near(VotedPerceptron):
        def decision_function(self, X):
            return scores.copy()

    found = Near(**FEW).fit([[1.0], [0.0], [-1.0]], [0, 1, 2]).predict_proba([[0.0], [0.0]])
    assert found.argmax(axis=1).tolist() == scores.argmax(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (VotedPerceptron(prediction="last"), "predict_proba only with prediction='vote', got 'last'"),
        (KernelPerceptron(prediction="average"), "predict_proba only with prediction='vote', got 'average'"),
        (VotedPerceptron(tie="positive"), "predict_proba only with tie='mistake'"),
        (Perceptron(), "has predict_proba only after calibrate"),
        (AveragedPerceptron(), "has predict_proba only after calibrate"),
        (BudgetedKernelPerceptron(), "has predict_proba only after calibrate"),
    ],
)
def test_who_has_none(model, text):
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=text):
        _ = model.predict_proba
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 3)) + y[:, None]
    calibrated = CalibratedClassifierCV(model.set_params(max_iter=2, tol=None), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (40, 2)


def test_no_votes_are_shared_equally():
    model = VotedPerceptron(**FEW).fit([[1.0], [-1.0]], [0, 1])
    model.coef_ = [[1.0]]
    assert model.predict_proba([[3.0]]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("base", "options", "scores", "shares"),
    [
        (VotedPerceptron, {}, [-1, -1, -1], [1 / 3, 1 / 3, 1 / 3]),
        (VotedPerceptron, {}, [1, -1, -1], [1, 0, 0]),
        (VotedPerceptron, {}, [1, 0.5, -0.5], [0.5, 0.375, 0.125]),
        (KernelPerceptron, {"multi_class": "joint"}, [0.5, 0.375, 0.125], [0.5, 0.375, 0.125]),
        (KernelPerceptron, {"multi_class": "joint"}, [0, 0, 1], [0, 0, 1]),
    ],
)
def test_shares_of_scores(base, options, scores, shares):
    class Told(base):
        def decision_function(self, X):
            return np.array([scores] * len(X), dtype=np.float64)

    model = Told(**FEW, **options).fit([[1.0], [0.0], [-1.0]], [0, 1, 2])
    assert model.predict_proba([[0.0]] * 2).tolist() == [shares] * 2
