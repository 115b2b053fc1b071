"""Joint decisions, noise tolerance and penalties, as options of the estimators.

Which learner has which option is the table in test_combinations.py.
"""

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Perceptron as Peer
from tests.learners import PASSES

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
)
from perceptron_rs.parameters.groups import group_of
from perceptron_rs.registry import REGISTRY
from perceptron_rs.testing import assert_parity

JOINT = ["max", "uniform", "proportional"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.fixture(scope="module")
def few(digits):
    """Four classes, and few examples: a comparison of all ways runs the reference many times."""
    return digits[0][:16], digits[1][:16] % 4


@pytest.fixture(scope="module")
def fractions(few):
    """The same in sixteenths, which no type of integers holds: so there are half as many ways."""
    return few[0] / 16, few[1]


@pytest.mark.parametrize("update", JOINT)
@pytest.mark.parametrize("learner", PASSES)
def test_joint(learner, update, digits, engine_name):
    X, y = digits if engine_name == "rust" else (digits[0][:100], digits[1][:100])
    model = learner(multi_class="joint", joint_update=update, engine=engine_name, max_iter=20, tol=None).fit(
        X, y
    )
    assert model.coef_.shape == (10, 64)
    assert model.score(X, y) > 0.97
    assert model.mistakes_per_epoch_.shape == (model.n_iter_, 1)
    assert model.n_iter_per_class_.shape == (1,)
    scores = X @ model.coef_.T + model.intercept_
    assert np.allclose(model.decision_function(X), scores)
    assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("learner", PASSES)
def test_joint_with_two_classes(learner, engine_name):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    one = learner(max_iter=9, tol=None, engine=engine_name).fit(X, y)
    two = clone(one).set_params(multi_class="joint").fit(X, y)
    assert two.coef_.shape == (2, 4)
    assert two.coef_[1].tobytes() == one.coef_[0].tobytes()
    assert two.decision_function(X).shape == (50 + 50,)
    assert np.array_equal(two.predict(X), one.predict(X))
    assert two.decision_function(X).tobytes() == (2 * one.decision_function(X)).tobytes()


def test_class_weights_of_a_joint_decision_are_those_of_the_true_class(engine_name):
    X, y = load_iris(return_X_y=True)
    weights = {0: 1.0, 1: 3.0, 2: 0.0}
    for learner in (Perceptron, AveragedPerceptron, KernelPerceptron):
        options = {"multi_class": "joint", "engine": engine_name, "max_iter": 4, "tol": None}
        by_class = learner(class_weight=weights, **options).fit(X, y)
        by_sample = learner(**options).fit(X, y, sample_weight=[weights[label] for label in y])
        assert by_class.decision_function(X).tobytes() == by_sample.decision_function(X).tobytes()
        assert by_class.mistakes_per_epoch_.tolist() == by_sample.mistakes_per_epoch_.tolist()
        # An example whose class weighs nothing is as if it were not there.
        assert by_class.n_seen_.tolist() == by_sample.n_seen_.tolist() == [100 * by_class.n_iter_] * 3


@pytest.mark.parametrize(
    "options",
    [
        {"multi_class": "joint"},
        {"multi_class": "joint", "joint_update": "proportional", "eta0": 0.1},
        {"margin_threshold": 30.0},
        {"added_feature": 2.5, "margin_threshold": 1.0},
        {"max_mistakes_per_example": 2, "tie": "positive"},
    ],
    ids=str,
)
@pytest.mark.parametrize("learner", PASSES)
def test_parity(learner, options, few, fractions):
    whole = {"multi_class", "max_mistakes_per_example"} & {
        *options
    }  # of integers there are twice as many ways
    assert_parity(learner(max_iter=4, tol=None, **options), *(few if whole else fractions), batch_sizes=(7,))


@pytest.mark.parametrize(
    ("prediction", "options"),
    [
        ("vote", {"margin_threshold": 2.0}),
        ("average", {"added_feature": 2.5, "margin_threshold": 1.0}),
        ("longest", {"max_mistakes_per_example": 2, "tie": "positive"}),
        # What is held out is predicted.
        *((name, {"early_stopping": True, "n_iter_no_change": 1}) for name in ("vote", "average", "longest")),
    ],
    ids=str,
)
def test_parity_of_the_voted(prediction, options, fractions):
    model = VotedPerceptron(max_iter=2, tol=None, prediction=prediction, **options)
    assert_parity(model, *fractions, batch_sizes=(7,))


@pytest.mark.parametrize("check", ["run", "ratchet", "update", "epoch"])
def test_parity_of_the_pocket(check, fractions):
    for options in ({"tol": None}, {"early_stopping": True, "n_iter_no_change": 1}):
        assert_parity(PocketPerceptron(max_iter=4, check=check, **options), *fractions, batch_sizes=(7,))


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_parity_of_penalties(penalty, multi_class, fractions):
    model = Perceptron(max_iter=4, tol=None, penalty=penalty, alpha=0.01, multi_class=multi_class)
    assert_parity(model, *fractions, batch_sizes=(7,))


def test_penalties_do_what_they_are_for(digits):
    X, y = digits[0][:150], digits[1][:150]
    plain = Perceptron(max_iter=5, tol=None).fit(X, y)
    l1 = clone(plain).set_params(penalty="l1", alpha=0.2).fit(X, y)
    l2 = clone(plain).set_params(penalty="l2", alpha=0.2).fit(X, y)
    assert (l1.coef_ == 0).mean() > 0.3 > (plain.coef_ == 0).mean()
    assert np.abs(l2.coef_).sum() < np.abs(plain.coef_).sum() / 2
    mixed = clone(plain).set_params(penalty="elasticnet", alpha=0.2)
    for ratio, same in ((0.0, l2), (1.0, l1)):
        assert mixed.set_params(l1_ratio=ratio).fit(X, y).coef_.tobytes() == same.coef_.tobytes()
    nothing = clone(plain).set_params(penalty="l2", alpha=0.0).fit(X, y)
    assert nothing.coef_.tobytes() == plain.coef_.tobytes()


def test_l2_is_close_to_the_peer(digits):
    """One pass in the given order: scikit-learn shrinks just before an update, we just after it."""
    X, y = digits
    ours = Perceptron(penalty="l2", alpha=1e-3, max_iter=1, tol=None, shuffle=False).fit(X, y == 3)
    peer = Peer(penalty="l2", alpha=1e-3, max_iter=1, tol=None, shuffle=False).fit(X, y == 3)
    angle = (ours.coef_ * peer.coef_).sum() / np.sqrt((ours.coef_**2).sum() * (peer.coef_**2).sum())
    assert angle > 0.95


def test_what_is_pending_between_batches(digits, engine_name):
    """``coef_`` is settled; going on is from what is pending; a change of strength settles."""
    X, y = digits
    model = Perceptron(penalty="l2", alpha=0.05, engine=engine_name)
    first = clone(model).partial_fit(X[:100], y[:100], classes=np.arange(10))
    whole = clone(model).set_params(max_iter=1, tol=None, shuffle=False)
    assert first.coef_.tobytes() == clone(whole).fit(X[:100], y[:100]).coef_.tobytes()
    assert first.decision_function(X[:5]).tobytes() == (
        clone(whole).fit(X[:100], y[:100]).decision_function(X[:5]).tobytes()
    )
    first.partial_fit(X[100:], y[100:])
    assert first.coef_.tobytes() == whole.fit(X, y).coef_.tobytes()
    coef = first.coef_.copy()
    first.set_params(alpha=0.01).partial_fit(sp.csr_array((1, 64)), y[:1])
    assert np.abs(first.coef_ - coef * (1 - 0.01)).max() < 1e-12
    first.set_params(penalty=None).partial_fit(sp.csr_array((1, 64)), y[:1])
    assert not hasattr(first, "_pending_coef")


#: Values other than the default of parameters that exclude others, and of those.
OTHER = {
    "multi_class": "joint",
    "step": "pa1",
    "n_partitions": 2,
    "joint_update": "uniform",
    "tie": "positive",
    "margin_threshold": 0.5,
    "added_feature": 0.5,
    "eta0": 0.5,
    "penalty": "l2",
    "max_mistakes_per_example": 3,
    "hash_columns": 4,
    "min_count": 2,
    "update": "early",
    "decode": "viterbi",
}
EXCLUSIONS = [
    (entry.kind, parameter.name, name)
    for entry in REGISTRY.values()
    for parameter in fields(group_of(entry.kind))
    for name in parameter.metadata["excludes"]
    if name in {other.name for other in fields(group_of(entry.kind))}
]


@pytest.mark.parametrize(("learner", "name", "other"), EXCLUSIONS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_what_parameters_exclude_is_refused(learner, name, other, method):
    if (name, method) == ("n_partitions", "partial_fit"):
        return  # which is refused as such
    needed = {"multi_class": "joint"} if other == "joint_update" else {}
    model = learner(**{name: OTHER[name], other: OTHER[other]} | needed)
    X, y = [[1.0], [2.0]], [0, 1]
    if learner is SequencePerceptron:
        X, y = [[["a"], ["b"]]], [["A", "B"]]
    arguments = {"classes": [0, 1]} if method == "partial_fit" and learner is not SequencePerceptron else {}
    said = (
        rf"{other}={OTHER[other]!r} is not available with {name}={OTHER[name]!r}.*; set {other}=.* or {name}="
    )
    with pytest.raises(ValueError, match=said):
        getattr(model, method)(X, y, **arguments)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("learner", [*PASSES, VotedPerceptron])
def test_contradictions_converge_with_an_added_feature(learner, engine_name):
    model = learner(added_feature=1.0, tol=None, engine=engine_name).fit([[1.0]] * 4, [0, 1, 0, 1])
    assert model.converged_
