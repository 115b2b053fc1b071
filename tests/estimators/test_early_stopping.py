"""Early stopping, against a loop that fits, scores and compares after every epoch."""

from __future__ import annotations

import contextlib
import gc
import itertools
import weakref
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import BaggingClassifier
from tests.learners import LINEAR, PARTITIONED
from tests.validation import apportioned, validation_part

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from perceptron_rs.training.early_stopping import split

KERNEL = [partial(KernelPerceptron, gamma=0.001), partial(BudgetedKernelPerceptron, gamma=0.001, budget=30)]
LAYERS = partial(MultilayerPerceptron, (5,), learning_rate_init=0.02)
ALL = [*LINEAR, *KERNEL, LAYERS]
#: What predicts and what goes on, of a class that judges by itself; each has the scores of its own.
OF_A_CLASS = ("coef_", "last_coef_", "intercept_", "n_seen_", "survival_", "support_")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:100], y[:100]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_part_is_drawn_by_the_rule(engine, weighted):
    rng = np.random.default_rng(0)
    for seed, fraction in itertools.product(range(12), (0.01, 0.1, 0.3, 0.5, 0.75)):
        labels = rng.integers(0, rng.integers(2, 6), 60).astype(np.uint32)
        labels[rng.integers(0, 60)] = 7  # a class of one example is learnt from; classes 5 and 6 have none
        weights = rng.integers(0, 3, 60) if weighted else np.ones(60)
        found = split(engine, labels, np.flatnonzero(weights) if weighted else None, fraction, seed)
        assert found.tolist() == validation_part(labels, fraction, seed, weights)


@pytest.mark.parametrize("counts", [(1, 17, 1, 1), (5, 2, 1, 1, 1), (1, 1, 1, 1, 9)])
def test_a_class_of_one_example_keeps_it_whatever_others_have_given(engine, counts):
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.uint32)
    for m in range(1, len(labels) - len(counts) + 1):
        found = split(engine, labels, None, m / len(labels), 3)
        assert found.tolist() == validation_part(labels, m / len(labels), 3)
        assert set(np.delete(labels, found)) == set(labels)


def test_of_many_labels_one_example_is_enough_to_learn_from(engine):
    labels = np.array([[1], [2], [3], [0]], dtype=np.uint32)
    assert len(split(engine, labels, None, 0.75, 0)) == 3
    with pytest.raises(ValueError, match="sets aside 4 of 4 examples, which leaves none to learn from"):
        split(engine, labels, None, 0.8, 0)
    with pytest.raises(ValueError, match="sets aside 3 of 4 examples, which leaves less than one of each"):
        split(engine, np.array([0, 1, 1, 0], dtype=np.uint32), None, 0.75, 0)


def test_classes_have_their_shares():
    """The counts nearest to the shares, by trying all."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        counts = rng.integers(1, 6, 3).tolist()
        n = sum(counts)
        for m in range(1, n - 2):
            every = itertools.product(*(range(count) for count in counts))
            whole = [taken for taken in every if sum(taken) == m]
            distance = {t: sum((n * k - c * m) ** 2 for k, c in zip(t, counts, strict=True)) for t in whole}
            least = min(distance.values())
            assert tuple(apportioned(counts, m)) == max(t for t in whole if distance[t] == least)
            labels = np.repeat(np.arange(3), counts).astype(np.uint32)
            part = validation_part(labels, m / n, 0)
            if len(part) == m:  # m / n may be rounded up
                assert np.bincount(labels[part], minlength=3).tolist() == apportioned(counts, m)


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        *itertools.product(PARTITIONED, [{}, {"multi_class": "joint"}, {"n_partitions": 3}]),
        (Perceptron, {"penalty": "l2", "alpha": 0.01}),
        *itertools.product([VotedPerceptron], [{"prediction": kind} for kind in ("vote", "average", "last")]),
        # With another check, the run that goes on is counted where the loop ends its fit, but not here.
        *itertools.product([PocketPerceptron], [{"check": "epoch"}, {"check": "update"}]),
        *itertools.product(KERNEL, [{}, {"multi_class": "joint"}]),
        (KERNEL[0], {"prediction": "average", "normalize": True}),
        *itertools.product([LAYERS], [{}, {"alpha": 0.1, "batch_size": 4}]),
        *((KERNEL[1], {"budget_policy": policy}) for policy in ("random", "forgetron", "projectron")),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_epoch_is_kept(learner, options, weighted, digits):
    """What holds out and chooses stands above both engines."""
    X, y = digits[0], digits[1] % 3
    options = {"random_state": 4, "tol": 0.01} | options
    model = learner(early_stopping=True, n_iter_no_change=3, validation_fraction=0.25, max_iter=30, **options)
    weight = np.linspace(0, 2, len(y)) if weighted else np.ones(len(y))
    model.fit(X, y, sample_weight=weight if weighted else None)

    part = validation_part(y, 0.25, 4, weight)
    learnt_from = weight.copy()
    learnt_from[part] = 0
    n = 1 if "multi_class" in options or learner is LAYERS else 3
    best, idle, stop, kept = [-np.inf] * n, [0] * n, [None] * n, [None] * n
    for epochs in range(1, model.n_iter_ + 1):
        loop = learner(max_iter=epochs, **options | {"tol": None}).fit(X, y, sample_weight=learnt_from)
        scores = loop.decision_function(X[part])
        for k in range(n):
            if stop[k] is not None:
                continue
            right = scores.argmax(axis=1) == y[part] if n == 1 else (scores[:, k] > 0) == (y[part] == k)
            won = total = 0.0
            for hit, w in zip(right, weight[part], strict=True):
                won, total = won + w * hit, total + w
            accuracy = won / total
            assert model.validation_scores_[epochs - 1, k] == accuracy
            idle[k] = idle[k] + 1 if accuracy < best[k] + 0.01 else 0
            if accuracy > best[k]:
                best[k], kept[k] = accuracy, (epochs, loop)
            clean = loop.mistakes_per_epoch_[-1, k] == 0 and learner is not LAYERS
            if idle[k] == 3 or clean or epochs == 30:
                stop[k] = epochs
    assert getattr(model, "n_iter_per_class_", np.array([model.n_iter_])).tolist() == stop
    for k, (epochs, loop) in enumerate(kept):
        assert epochs <= stop[k]
        ours, other = (each.decision_function(X) for each in (model, loop))
        assert (ours if n == 1 else ours[:, k]).tobytes() == (other if n == 1 else other[:, k]).tobytes()
        for name in OF_A_CLASS if learner in LINEAR and n > 1 else ():
            if hasattr(model, name):
                ours, other = getattr(model, name)[k], getattr(loop, name)[k]
                assert np.asarray(ours).tobytes() == np.asarray(other).tobytes(), name
        if learner is not LAYERS:
            assert model.n_seen_[k] == loop.n_seen_[k] == epochs * np.count_nonzero(learnt_from)


@pytest.mark.parametrize("learner", ALL)
def test_training_goes_on_from_the_best_epoch(learner, digits, engine_name):
    X, y = digits[0][:, 18:24], digits[1] % 2  # which no plane separates
    options = {"engine": engine_name, "validation_fraction": 0.4, "tol": None}
    if learner in KERNEL:
        options["kernel"] = "linear"
    if learner is LAYERS:
        options["learning_rate_init"] = 0.5
    model = learner(early_stopping=True, max_iter=25, **options).fit(X, y)
    best = int(model.validation_scores_[:, 0].argmax()) + 1
    assert best < model.n_iter_
    upto = learner(early_stopping=True, max_iter=best, **options).fit(X, y)
    for each in (model, upto):
        each.set_params(early_stopping=False, warm_start=True, shuffle=False, max_iter=2).fit(X, y)
    assert model.decision_function(X).tobytes() == upto.decision_function(X).tobytes()
    assert getattr(model, "n_seen_", [0])[0] == getattr(upto, "n_seen_", [0])[0]


def test_the_best_epoch_is_not_the_last(engine_name):
    """Noisy labels: the last weights are worse than some before."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    options = {"early_stopping": True, "validation_fraction": 0.3, "max_iter": 20, "tol": None}
    model = Perceptron(engine=engine_name, **options).fit(X, y)
    part = validation_part(y, 0.3, 0)
    assert model.score(X[part], y[part]) == model.validation_scores_.max() > model.validation_scores_[-1, 0]


@pytest.mark.parametrize("learner", [*LINEAR, KernelPerceptron, BudgetedKernelPerceptron])
def test_an_activation_of_0_is_judged_as_predict_does(learner, engine_name):
    """After one epoch the part is judged as the model does; an example of zeros has the activation 0."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 3)), np.tile([0, 0, 1, 1], 10)
    X[1::2] = 0
    options = {"early_stopping": True, "validation_fraction": 0.5, "max_iter": 1, "tol": None}
    options |= {"fit_intercept": False} if learner in LINEAR else {"kernel": "linear"}
    scores = []
    for tie in ("mistake", "positive"):
        for column, labels in ((0, y), (1, np.where(X[:, 0] > 1, 2, y))):
            part = validation_part(labels, 0.5, 0)
            model = learner(tie=tie, engine=engine_name, **options).fit(X, labels)
            found = model.decision_function(X[part]).reshape(len(part), -1)[:, column]
            positive = found >= 0 if tie == "positive" else found > 0
            right = positive == (labels[part] == 1)
            assert model.validation_scores_[0, column] == np.count_nonzero(right) / len(part)
        scores.append(model.validation_scores_.tolist())
    assert scores[0] != scores[1]


@pytest.mark.parametrize("learner", ALL)
def test_tol_none_never_stops(learner, digits):
    X, y = np.concatenate([digits[0]] * 2), np.concatenate([digits[1], (digits[1] + 1) % 10])
    model = learner(early_stopping=True, tol=None, max_iter=12).fit(X, y)
    assert len(model.validation_scores_) == model.n_iter_ == 12


@pytest.mark.parametrize("learner", [learner for learner in ALL if learner is not PocketPerceptron])
def test_it_is_no_option_of_partial_fit(learner, digits, engine_name):
    model = learner(early_stopping=True, engine=engine_name)
    with pytest.raises(ValueError, match="early_stopping=True is not available with partial_fit"):
        model.partial_fit(*digits, classes=np.arange(10))


@pytest.mark.parametrize("learner", ALL)
def test_a_fraction_that_leaves_no_example_of_a_class(learner, digits, engine_name):
    model = learner(early_stopping=True, validation_fraction=0.95, engine=engine_name)
    with pytest.raises(ValueError, match=r"validation_fraction=0.95 sets aside 95 of 100 examples"):
        model.fit(*digits)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("learner", ALL)
@pytest.mark.parametrize("classes", [2, 3])
def test_examples_of_weight_0_are_not_there(learner, classes, digits, engine_name):
    """Also for what is counted, drawn or cut: the part, weights of classes, partitions, gamma."""
    X, y = digits[0][:60], digits[1][:60] % classes
    weights = np.random.default_rng(5).integers(0, 3, 60).astype(float)
    is_left = weights > 0
    options = {"early_stopping": True, "validation_fraction": 0.3, "class_weight": "balanced"}
    model = learner(max_iter=6, tol=None, engine=engine_name, **options)
    if learner in PARTITIONED:
        model.set_params(n_partitions=3)
    if learner in KERNEL:
        model.set_params(gamma="scale")
    whole = clone(model).fit(X, y, sample_weight=weights)
    few = clone(model).fit(X[is_left], y[is_left], sample_weight=weights[is_left])
    assert whole.validation_scores_.tolist() == few.validation_scores_.tolist()
    assert whole.decision_function(X).tobytes() == few.decision_function(X).tobytes()
    assert whole.mistakes_per_epoch_.tolist() == few.mistakes_per_epoch_.tolist()


@pytest.mark.parametrize("learner", LINEAR)
def test_weights_without_a_finite_sum(learner, digits, engine_name):
    model = learner(early_stopping=True, eta0=1e-300, engine=engine_name)
    with pytest.raises(ValueError, match="finite sum above 0, got inf"):
        model.fit(*digits, sample_weight=np.full(100, 1e308))
    with pytest.raises(ValueError, match=r"zero|nothing to learn"):
        model.fit(*digits, sample_weight=np.zeros(100))


@pytest.mark.parametrize("learner", ALL)
def test_a_nan_in_the_validation_part(learner, engine_name):
    X, y = np.ones((40, 2)), np.arange(40) % 2
    X[validation_part(y, 0.1, 0)[0], 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        learner(early_stopping=True, engine=engine_name).fit(X, y)


@pytest.mark.parametrize("learner", [*LINEAR, KernelPerceptron, BudgetedKernelPerceptron, LAYERS])
def test_bagging(learner):
    X, y = load_iris(return_X_y=True)
    for samples in (0.1, 1.0):  # of the few ones, some hold one example of a class
        bag = BaggingClassifier(learner(early_stopping=True), 20, max_samples=samples, random_state=0)
        assert bag.fit(X, y).score(X, y) > 0.6


def test_an_interrupted_epoch_has_a_score(monkeypatch, tmp_path):
    """Ctrl-C while the validation part is judged, or in the midst of an epoch."""
    from perceptron_rs import load
    from perceptron_rs.training.early_stopping import Validation

    rng, calls, measure = np.random.default_rng(0), [], Validation.measure

    def interrupted(self, state):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(self, state)

    monkeypatch.setattr(Validation, "measure", interrupted)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    model = Perceptron(max_iter=9, tol=None, early_stopping=True, keep_on_interrupt=True)
    with pytest.warns(UserWarning, match="ctrl-c ended the fit in epoch 3"):
        model.fit(X, y)
    assert model.validation_scores_.shape == (len(model.mistakes_per_epoch_), 3) == (3, 3)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, LAYERS])
def test_an_overflow_in_the_part_has_a_remedy(engine, engine_name, learner):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    part = split(engine, y.astype(np.uint32), None, 0.25, 0)
    X[part] = np.sign(X[part]) * 1e308
    changes = {"learning_rate_init": 0.5, "activation": "relu"} if learner is LAYERS else {"eta0": 100}
    model = learner(early_stopping=True, validation_fraction=0.25, random_state=0, engine=engine_name)
    model.set_params(**changes)
    with pytest.raises(
        ValueError, match="an activation of a validation example is not finite; scale"
    ) as info:
        model.fit(X, y)
    assert str(info.value).startswith("training overflowed: ")
    assert str(info.value).endswith(f"or lower {'learning_rate_init' if learner is LAYERS else 'eta0'}")


@pytest.mark.parametrize("learner", ALL)
@pytest.mark.parametrize("fails", [False, True])
def test_examples_are_freed_with_the_call(learner, fails):
    if fails and learner is LAYERS:
        pytest.skip("it has no callback that could fail")
    options = {"callback": lambda record: 1 / 0} if fails else {}
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
    model, examples = learner(early_stopping=True, max_iter=2, tol=None, **options), weakref.ref(X)
    gc.collect()
    gc.disable()  # which would find them, some calls later
    try:
        with contextlib.suppress(ZeroDivisionError):
            model.fit(X, y)
        del X
        assert examples() is None
    finally:
        gc.enable()
