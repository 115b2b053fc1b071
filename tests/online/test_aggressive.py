"""Passive-aggressive steps: against fractions, exact or rounded once an operation, and scikit-learn."""

from __future__ import annotations

import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.support import contents, of_core

from perceptron_rs import AveragedPerceptron, Perceptron

RULES = ("pa1", "pa2")
FORMS = [np.asarray, sp.csr_matrix, lambda X: X.astype(np.int16), lambda X: sp.csr_matrix(X.astype(np.int8))]


def exact(value):
    return value


def rounded(value):
    """Return the nearest float64, as a fraction."""
    return Fraction(float(value))


class Oracle:
    """The paper's algorithm on whole numbers; ``keep`` is what becomes of the result of each operation."""

    def __init__(self, keep, d, planes, rule, C, joint=False):
        self.keep, self.rule, self.C, self.joint = keep, rule, Fraction(C), joint
        self.w, self.b = [[Fraction(0)] * d for _ in range(planes)], [Fraction(0)] * planes
        self.mistakes, self.losses = [], []

    def dot(self, x, w):
        lanes = [Fraction(0)] * 8
        for j, (p, q) in enumerate(zip(x, w, strict=True)):
            lanes[j % 8] = self.keep(lanes[j % 8] + self.keep(p * q))
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [self.keep(lanes[i] + lanes[i + half]) for i in range(half)]
        return lanes[0]

    def tau(self, loss, square):
        if self.rule == "pa2":
            return self.keep(loss / self.keep(square + self.keep(1 / (2 * self.C))))
        return min(self.C, self.keep(loss / square)) if square else Fraction(0)

    def move(self, k, c, x):
        self.w[k] = [self.keep(w + self.keep(c * p)) for w, p in zip(self.w[k], x, strict=True)]
        self.b[k] = self.keep(self.b[k] + c)

    def epoch(self, X, labels, s):
        made, total = [0] * (1 if self.joint else len(self.w)), [Fraction(0)] * len(self.w)
        for x, label, weight in zip(X, labels, s, strict=True):
            if not weight:
                continue
            scores = [self.keep(self.dot(x, w) + b) for w, b in zip(self.w, self.b, strict=True)]
            if self.joint:
                other = max((k for k in range(len(scores)) if k != label), key=lambda k: (scores[k], -k))
                margins = {label: self.keep(scores[label] - scores[other])}
            else:
                signs = [1 if label == k + (len(scores) == 1) else -1 for k in range(len(scores))]
                margins = {k: sign * a for k, (sign, a) in enumerate(zip(signs, scores, strict=True))}
            for k, m in margins.items():
                loss = self.keep(max(Fraction(0), 1 - m))
                decision = 0 if self.joint else k
                total[decision] = self.keep(total[decision] + loss)
                square = self.dot(x, x) * (2 if self.joint else 1)
                if loss == 0 or (tau := self.tau(loss, square)) == 0:
                    continue
                made[decision] += 1
                c = self.keep(tau * weight)
                self.move(k, c if self.joint else c * signs[k], x)
                if self.joint:
                    self.move(other, -c, x)
        self.mistakes.append(made)
        self.losses.append(total)


@st.composite
def problems(draw, most=3):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 10))
    row = st.lists(st.integers(-most, most), min_size=d, max_size=d)
    classes = draw(st.integers(2, 3))
    return {
        "X": [[0] * d, *draw(st.lists(row, min_size=n, max_size=n))],
        "labels": [*range(classes), *draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))][
            : n + 1
        ],
        "weight": [1, 1, *draw(st.lists(st.integers(0, 3), min_size=n - 1, max_size=n - 1))],
        "rule": draw(st.sampled_from(RULES)),
        "C": draw(st.sampled_from([0.01, 0.125, 0.3, 1.0, 7.0, 1e6])),
        "joint": draw(st.booleans()),
        "epochs": draw(st.integers(1, 4)),
    }


@given(problem=problems())
@pytest.mark.parametrize("form", FORMS)
def test_each_operation_is_rounded_once(engine_name, form, problem):
    X, labels, s = problem["X"], problem["labels"], problem["weight"]
    classes, joint = sorted(set(labels)), problem["joint"]
    labels = [classes.index(label) for label in labels]
    planes = 1 if len(classes) == 2 and not joint else len(classes)
    oracle = Oracle(rounded, len(X[0]), planes, problem["rule"], problem["C"], joint)
    for _ in range(problem["epochs"]):
        oracle.epoch(X, labels, s)
    options = {
        "step": problem["rule"],
        "C": problem["C"],
        "engine": engine_name,
        "shuffle": False,
        "tol": None,
    }
    options["multi_class"] = "joint" if joint else "ovr"
    model = Perceptron(max_iter=problem["epochs"], **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(form(np.array(X, dtype=np.float64)), labels, sample_weight=s)
    # A plane without a mistake ends; it has none later, either.
    assert model.coef_.tolist() == [[float(w) for w in plane] for plane in oracle.w]
    assert model.intercept_.tolist() == [float(b) for b in oracle.b]
    assert model.mistakes_per_epoch_.tolist() == oracle.mistakes[: model.n_iter_]
    if planes == 1 or joint:
        visited = sum(weight > 0 for weight in s)
        means = [float(Fraction(float(total[0])) / visited) for total in oracle.losses]
        assert model.loss_curve_ == means[: model.n_iter_]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("C", [0.125, 1.0])
def test_nothing_is_rounded_where_the_norms_are_powers_of_two(engine_name, rule, C):
    """Four entries of 1 or -1: norms of 4, and 4 + 1/(2C) of 8 with C = 1/8; losses are dyadic."""
    if rule == "pa2" and C == 1.0:
        C = 0.125
    rng = np.random.default_rng(2)
    X = np.zeros((14, 11))
    for row in X:
        row[rng.choice(11, 4, replace=False)] = rng.choice([-1, 1], 4)
    labels = rng.integers(0, 2, 14)
    oracle = Oracle(exact, 11, 1, rule, C)
    oracle.epoch(X.astype(int).tolist(), labels.tolist(), [1] * 14)
    model = Perceptron(step=rule, C=C, engine=engine_name).partial_fit(X, labels, classes=[0, 1])
    assert [Fraction(w) for w in model.coef_[0].tolist()] == oracle.w[0]
    assert Fraction(float(model.intercept_[0])) == oracle.b[0]
    assert oracle.mistakes == [[model.n_mistakes_]]
    assert model.n_mistakes_ > 8


def peer(rule, C, **options):
    """Return the estimator of scikit-learn that makes the same steps."""
    from sklearn import linear_model

    if hasattr(linear_model, "PassiveAggressiveClassifier"):
        loss = {"pa1": "hinge", "pa2": "squared_hinge"}[rule]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return linear_model.PassiveAggressiveClassifier(C=C, loss=loss, **options)
    return linear_model.SGDClassifier(learning_rate=rule, eta0=C, loss="hinge", penalty=None, **options)


@pytest.mark.filterwarnings("ignore:Maximum number of iteration", "ignore::FutureWarning")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_scikit_learn_makes_the_same_steps(engine_name, rule, C, classes):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(120, 6))
    X[5] = 0
    y = np.argmax(X[:, :classes] + rng.normal(size=(120, classes)), axis=1)
    options = {"max_iter": 3, "tol": None, "shuffle": False, "class_weight": {0: 0.5, 1: 2.0}}
    theirs = peer(rule, C, **options).fit(X, y)
    ours = Perceptron(step=rule, C=C, engine=engine_name, **options).fit(X, y)
    if classes == 2:  # the negatives of a plane of several classes weigh 1, as there
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_pa1_takes_the_nearest_weights_without_loss(engine_name, fit_intercept):
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, w = rng.normal(size=5), rng.normal(size=5)
        model = Perceptron(step="pa1", C=1e9, fit_intercept=fit_intercept, engine=engine_name)
        model.coef_, model.classes_ = w[np.newaxis], np.array([0, 1])
        model.intercept_, model.n_features_in_ = np.zeros(1), 5
        model.partial_fit([x], [1])
        moved = model.coef_[0] - w
        if w @ x >= 1:
            assert not moved.any()
            assert model.n_mistakes_ == 0
            continue
        assert model.coef_[0] @ x == pytest.approx(1)
        assert moved == pytest.approx((moved @ x) / (x @ x) * x)  # along x: the nearest ones
        tau = moved @ x / (x @ x)
        assert model.intercept_[0] == pytest.approx(tau if fit_intercept else 0)


def test_updates_are_mistakes_of_a_margin_below_1(engine_name):
    """As with a margin_threshold; an example with a margin of exactly 1 has no loss."""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), [1, 0, 1]
    for tie in ("mistake", "positive"):
        options = {"fit_intercept": False, "shuffle": False, "tol": None, "engine": engine_name, "tie": tie}
        model = Perceptron(step="pa1", max_iter=5, track_mistakes=True, **options).fit(X, y)
        assert model.coef_.tolist() == [[1.0, -1.0]]
        assert model.mistakes_per_epoch_.tolist() == [[2], [0]]
        assert model.converged_
        assert model.mistakes_per_example_.tolist() == [[1], [1], [0]]
        assert model.loss_curve_ == [2 / 3, 0.0]
    short = Perceptron(step="pa1", C=0.25, max_iter=2, max_mistakes_per_example=1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        short.fit(X, y)
    assert short.coef_.tolist() == [[0.5, -0.25]]  # once each, although there is still a loss
    assert short.loss_curve_ == [(1 + 1 + 0.75) / 3, (0.5 + 0.75 + 0.5) / 3]
    assert short.converged_


def test_rows_of_zeros(engine_name):
    X, y = np.zeros((3, 2)), [0, 1, 1]
    first = Perceptron(step="pa1", engine=engine_name).fit(X, y)
    assert (first.intercept_.tolist(), first.n_mistakes_, first.loss_curve_) == ([0.0], 0, [1.0])
    assert first.converged_
    assert first.n_seen_.tolist() == [3]
    second = Perceptron(step="pa2", C=0.25, shuffle=False, engine=engine_name).partial_fit(
        X, y, classes=[0, 1]
    )
    # The loss divided by 1 / (2C) = 2: 1/2 down, 3/4 up, 3/8 up.
    assert second.intercept_.tolist() == [0.625]
    assert second.n_mistakes_ == 3


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron])
def test_calls_storage_threads_and_engines_change_no_bit(kind):
    rng = np.random.default_rng(5)
    X = rng.integers(-4, 5, (90, 9)).astype(np.float64)
    X[rng.random(X.shape) < 0.4] = 0
    y = rng.integers(0, 3, 90)
    for options in ({"step": "pa1", "C": 0.1}, {"step": "pa2", "multi_class": "joint"}):
        whole = kind(**options).partial_fit(X, y, classes=[0, 1, 2])
        others = [
            kind(engine="reference", **options).partial_fit(X, y, classes=[0, 1, 2]),
            kind(n_jobs=3, **options).partial_fit(sp.csr_matrix(X.astype(np.int8)), y, classes=[0, 1, 2]),
            kind(max_iter=1, shuffle=False, tol=None, **options).fit(X.astype(np.float32), y),
            kind(max_iter=1, shuffle=False, tol=None, **options).fit_stream(
                [(X[:40], y[:40]), (X[40:], y[40:])], classes=[0, 1, 2]
            ),
        ]
        batches = kind(**options)
        for rows in np.array_split(np.arange(90), 11):
            batches.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        one_by_one = kind(**options).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
        for i in range(1, 90):
            one_by_one.partial_fit(X[i : i + 1], y[i : i + 1], check_input=False)
        wide = sp.csr_matrix((X[X != 0], np.nonzero(X)), shape=(90, 9))
        wide = sp.csr_matrix((wide.data, wide.indices * 8000, wide.indptr), shape=(90, 72000))
        narrow = kind(**options)
        for rows in np.array_split(np.arange(90), 30):
            narrow.partial_fit(wide[rows], y[rows], classes=[0, 1, 2])
        spread = kind(engine="reference", **options).partial_fit(wide, y, classes=[0, 1, 2])
        assert narrow.coef_.tobytes() == spread.coef_.tobytes()
        for other in (*others, batches, one_by_one):
            assert other.coef_.tobytes() == whole.coef_.tobytes()
            assert other.intercept_.tobytes() == whole.intercept_.tobytes()


def test_other_steps_in_the_middle_of_passes():
    """A pass knows the parameters that it was made of."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    models = [Perceptron(engine=engine).partial_fit(X, y, classes=[0, 1]) for engine in ("rust", "reference")]
    for options in ({"step": "pa1"}, {"C": 0.01}, {"step": "pa2"}, {"C": 3.0}, {"step": "constant"}):
        for model in models:
            model.set_params(**options)
            before = model.coef_.tobytes()
            for i in range(40):
                model.partial_fit(X[i : i + 1], y[i : i + 1], check_input=False)
            assert model.coef_.tobytes() != before
        assert models[0].coef_.tobytes() == models[1].coef_.tobytes(), options


REFUSED = [
    ({"eta0": 0.5}, "eta0=0.5 is not available with step='pa1'; set eta0=1 or step='constant'"),
    ({"penalty": "l2"}, "penalty='l2' is not available with step='pa1'; set penalty=None or step='constant'"),
    ({"margin_threshold": 0.5}, "margin_threshold=0.5 is not available with step='pa1'"),
    ({"added_feature": 0.5}, "added_feature=0.5 is not available with step='pa1'"),
    (
        {"multi_class": "joint", "joint_update": "uniform"},
        "joint_update='uniform' is not available with step='pa1'",
    ),
    ({"C": 0.0}, "The 'C' parameter of Perceptron must be a float in the range"),
    ({"C": math.inf}, "The 'C' parameter of Perceptron must be a float in the range"),
    ({"C": math.nan}, "The 'C' parameter of Perceptron must be a float in the range"),
    ({"step": "pa3"}, "The 'step' parameter of Perceptron must be a str among"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_what_has_no_meaning_is_refused(options, text):
    X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 2]
    model = Perceptron(step="pa1").fit(X, y)
    before = contents(model)
    with pytest.raises(ValueError, match=re.escape(text)):
        model.set_params(**options).fit(X, y)
    with pytest.raises(ValueError, match=re.escape(text)):
        model.partial_fit(X, y)
    after = contents(model)
    assert {name: str(value) for name, value in before.items() if name not in ("step", *options)} == {
        name: str(value) for name, value in after.items() if name not in ("step", *options)
    }


@of_core
def test_the_core_refuses_it_too(trainer):
    for options, text in (
        ({"step": "pa3"}, "step must be one of"),
        ({"step": "pa1", "C": 0.0}, "C must be finite and above 0, got 0"),
        ({"step": "pa1", "penalty": (0.1, 0.0)}, "penalty None"),
        ({"step": "pa1", "margin_threshold": 1.0}, "margin_threshold and added_feature must be 0"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            trainer.fit(np.ones((2, 1)), [0, 1], learner="perceptron", **options)


def test_large_numbers(engine_name):
    """A norm or a step that is not finite ends the fit, and the error names what can be changed."""
    y, options = [1, 0], {"engine": engine_name, "shuffle": False}
    for rule in RULES:
        with pytest.raises(ValueError, match=r"scale the features or lower C$"):
            Perceptron(step=rule, **options).fit(np.array([[1e200], [1.0]]), y)
        with pytest.raises(ValueError, match=r"scale the features or lower C$"):
            Perceptron(step=rule, **options).partial_fit(np.array([[1e200], [1.0]]), y, classes=[0, 1])
        tiny = Perceptron(step=rule, **options).partial_fit(np.array([[1e-200], [1.0]]), y, classes=[0, 1])
        assert np.isfinite(tiny.coef_).all()
    with pytest.raises(ValueError, match=r"not finite"):
        Perceptron(step="pa2", C=1e300, **options).partial_fit(
            np.array([[1e-160], [1e200]]), y, classes=[0, 1]
        )


def test_to_sklearn_goes_on_with_the_same_steps():
    pytest.importorskip("sklearn", minversion="1.8")
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    for kind in (Perceptron, AveragedPerceptron):
        model = kind(step="pa1", C=0.3, shuffle=False).partial_fit(X[:30], y[:30], classes=[0, 1, 2])
        theirs = model.to_sklearn()
        assert (theirs.predict(X) == model.predict(X)).all()
        theirs.partial_fit(X[30:], y[30:])
        model.partial_fit(X[30:], y[30:])
        ours = model.last_coef_ if kind is AveragedPerceptron else model.coef_
        np.testing.assert_allclose(getattr(theirs, "_standard_coef", theirs.coef_), ours)
