"""Joint decisions, noise tolerance, penalties and early stopping, as options of the estimators.

Which learner has which option is the table in test_combinations.py.
"""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import StratifiedShuffleSplit

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from perceptron_rs.testing import assert_parity

LEARNERS = [Perceptron, AveragedPerceptron]
ALL = [*LEARNERS, VotedPerceptron, PocketPerceptron]
JOINT = ["max", "uniform", "proportional"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.fixture(scope="module")
def few(digits):
    """Four classes, and few examples: a comparison of all ways runs the reference many times."""
    return digits[0][:40], digits[1][:40] % 4


@pytest.mark.parametrize("update", JOINT)
@pytest.mark.parametrize("learner", LEARNERS)
def test_joint(learner, update, digits, engine_name):
    X, y = digits
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


@pytest.mark.parametrize("learner", LEARNERS)
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
    by_class = Perceptron(multi_class="joint", class_weight=weights, engine=engine_name).fit(X, y)
    by_sample = Perceptron(multi_class="joint", engine=engine_name)
    by_sample.fit(X, y, sample_weight=[weights[label] for label in y])
    assert by_class.coef_.tobytes() == by_sample.coef_.tobytes()


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
@pytest.mark.parametrize("learner", LEARNERS)
def test_parity(learner, options, few):
    assert_parity(learner(max_iter=4, tol=None, **options), *few)


@pytest.mark.parametrize(
    "options",
    [
        {"margin_threshold": 30.0},
        {"added_feature": 2.5, "margin_threshold": 1.0},
        {"max_mistakes_per_example": 2, "tie": "positive"},
        {"early_stopping": True, "n_iter_no_change": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("prediction", ["vote", "average", "longest"])
def test_parity_of_the_voted(prediction, options, few):
    assert_parity(VotedPerceptron(max_iter=2, tol=None, prediction=prediction, **options), *few)


@pytest.mark.parametrize("check", ["run", "ratchet", "update", "epoch"])
def test_parity_of_the_pocket(check, few):
    for options in ({"tol": None}, {"early_stopping": True, "n_iter_no_change": 1}):
        assert_parity(PocketPerceptron(max_iter=4, check=check, **options), *few)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_parity_of_penalties(penalty, multi_class, few):
    assert_parity(
        Perceptron(max_iter=4, tol=None, penalty=penalty, alpha=0.01, multi_class=multi_class), *few
    )


def test_penalties_do_what_they_are_for(digits, engine_name):
    X, y = digits[0][:500], digits[1][:500]
    plain = Perceptron(max_iter=5, tol=None, engine=engine_name).fit(X, y)
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


@pytest.mark.parametrize(
    "options", [{"margin_threshold": 1.0}, {"added_feature": 0.5}, {"tie": "positive"}], ids=str
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_what_a_joint_decision_does_not_have(options, method, engine_name):
    (name,) = options
    model = Perceptron(multi_class="joint", engine=engine_name, **options)
    arguments = {"classes": [0, 1]} if method == "partial_fit" else {}
    with pytest.raises(ValueError, match=f"{name}=.* is not available with multi_class='joint'; set {name}="):
        getattr(model, method)([[1.0], [2.0]], [0, 1], **arguments)


@pytest.mark.parametrize("learner", [*LEARNERS, VotedPerceptron])
def test_contradictions_converge_with_an_added_feature(learner, engine_name):
    model = learner(added_feature=1.0, tol=None, engine=engine_name).fit([[1.0]] * 4, [0, 1, 0, 1])
    assert model.converged_


class TestEarlyStopping:
    """Against a loop that fits, scores and compares after every epoch."""

    @pytest.mark.parametrize(
        ("learner", "multi_class"),
        [
            *itertools.product(LEARNERS, ["ovr", "joint"]),
            (VotedPerceptron, "ovr"),
            # With another check, the run that goes on is counted where the loop ends its fit, but not here.
            (partial(PocketPerceptron, check="epoch"), "ovr"),
            (partial(PocketPerceptron, check="update"), "ovr"),
        ],
    )
    @pytest.mark.parametrize("weighted", [False, True])
    def test_against_a_loop(self, learner, multi_class, weighted, digits, engine_name):
        X, y = digits[0][:100], digits[1][:100] % 3
        options = {"engine": engine_name, "random_state": 4, "tol": 0.01}
        if multi_class == "joint":
            options["multi_class"] = multi_class
        model = learner(early_stopping=True, n_iter_no_change=3, validation_fraction=0.25, **options)
        weight = np.linspace(0, 2, len(y)) if weighted else np.ones(len(y))
        model.fit(X, y, sample_weight=weight if weighted else None)

        split = StratifiedShuffleSplit(test_size=0.25, random_state=4)
        part = np.sort(next(split.split(X, y))[1])
        learnt_from = weight.copy()
        learnt_from[part] = 0
        n = 1 if multi_class == "joint" else 3
        best, idle, stop = [-np.inf] * n, [0] * n, [None] * n
        for epochs in range(1, model.n_iter_ + 1):
            loop = learner(max_iter=epochs, **options | {"tol": None}).fit(X, y, sample_weight=learnt_from)
            scores = loop.decision_function(X[part])
            for k in range(n):
                if stop[k] is not None:
                    continue
                if multi_class == "joint":
                    right = scores.argmax(axis=1) == y[part]
                else:
                    right = (scores[:, k] > 0) == (y[part] == k)
                won = total = 0.0
                for hit, w in zip(right, weight[part], strict=True):
                    won, total = won + w * hit, total + w
                accuracy = won / total
                assert model.validation_scores_[epochs - 1, k] == accuracy
                idle[k] = idle[k] + 1 if accuracy < best[k] + 0.01 else 0
                best[k] = max(best[k], accuracy)
                if idle[k] == 3:
                    stop[k] = loop.coef_ if n == 1 else loop.coef_[k]
        for k in range(n):
            if stop[k] is not None:
                assert (model.coef_ if n == 1 else model.coef_[k]).tobytes() == stop[k].tobytes()
        assert any(weights is not None for weights in stop)

    @pytest.mark.parametrize("learner", ALL)
    def test_tol_none_never_stops(self, learner, digits, engine_name):
        model = learner(early_stopping=True, tol=None, max_iter=12, engine=engine_name).fit(*digits)
        assert len(model.validation_scores_) == model.n_iter_ == 12

    @pytest.mark.parametrize("learner", [*LEARNERS, VotedPerceptron])
    def test_it_is_no_option_of_partial_fit(self, learner, digits, engine_name):
        model = learner(early_stopping=True, engine=engine_name)
        with pytest.raises(ValueError, match="early_stopping should be False with partial_fit"):
            model.partial_fit(*digits, classes=np.arange(10))

    @pytest.mark.parametrize("learner", ALL)
    @pytest.mark.parametrize("fraction", [1e-9, 0.999])
    def test_too_few_examples(self, learner, digits, fraction, engine_name):
        model = learner(early_stopping=True, validation_fraction=fraction, engine=engine_name)
        with pytest.raises(ValueError, match="validation_fraction="):
            model.fit(*digits)
        assert not hasattr(model, "classes_")

    @pytest.mark.parametrize("learner", ALL)
    def test_weights_of_0_in_the_validation_part(self, learner, engine_name):
        X, y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
        held_out = next(StratifiedShuffleSplit(test_size=0.25, random_state=0).split(X, y))[1]
        records = []
        model = learner(
            early_stopping=True, validation_fraction=0.25, max_iter=2, tol=None, engine=engine_name
        )
        model.set_params(callback=records.append)
        weights = np.ones(40)
        weights[held_out[:4]] = 0
        model.fit(X, y, sample_weight=weights)
        assert (records[0].n_examples, model.n_seen_.tolist()) == (30, [60])
        for others, text in ((np.ones(40), "finite sum above 0, got 0"), (np.zeros(40), "nothing to learn")):
            others[held_out] = 1 - others[held_out]
            with pytest.raises(ValueError, match=text):
                clone(model).fit(X, y, sample_weight=others)
        with pytest.raises(ValueError, match="finite sum above 0, got inf"):
            clone(model).set_params(eta0=1e-300).fit(X, y, sample_weight=np.full(40, 1e308))

    @pytest.mark.parametrize("learner", ALL)
    def test_a_nan_in_the_validation_part(self, learner, engine_name):
        X, y = np.ones((40, 2)), np.arange(40) % 2
        X[next(StratifiedShuffleSplit(test_size=0.1, random_state=0).split(X, y))[1][0], 1] = np.nan
        with pytest.raises(ValueError, match="Input X contains NaN"):
            learner(early_stopping=True, engine=engine_name).fit(X, y)
