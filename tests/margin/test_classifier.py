"""The hard-margin separator as an estimator."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptron_rs import InseparableError, MaxMarginClassifier, margin, verify

BIASES = ("free", "augmented", "none")
IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = IRIS[:100], np.array(["setosa", "versicolor"])[SPECIES[:100]]
THREE = (
    np.array([[0, 1.0], [0, 3], [4, 0], [4, 1], [-4, -9], [-3, -8]]),
    np.array(["l", "l", "r", "r", "m", "m"]),
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([MaxMarginClassifier(inseparable="warn")])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_it_is_the_support_vector_machine(engine):
    model = MaxMarginClassifier(engine=engine, tol=1e-12).fit(X, Y)
    peer = SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, Y)
    assert model.coef_ == pytest.approx(peer.coef_, rel=1e-4)
    assert model.intercept_ == pytest.approx(peer.intercept_, rel=1e-4)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(peer.coef_), rel=1e-4)
    assert set(model.support_) <= set(peer.support_)
    assert model.score(X, Y) == 1


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("data", [(X, Y), THREE])
def test_the_attributes(bias, data):
    X, y = data
    model = MaxMarginClassifier(bias=bias, tol=1e-12).fit(X, y)
    K = 1 if len(model.classes_) == 2 else 3
    assert model.coef_.shape == (K, X.shape[1])
    assert model.intercept_.shape == (K,)
    assert model.dual_coef_.shape == (K, len(model.support_))
    assert model.margin_.shape == (K,)
    assert model.margin_interval_.shape == (K, 2)
    assert model.dual_coef_ @ X[model.support_] == pytest.approx(model.coef_, rel=1e-6, abs=1e-9)
    assert (model.dual_coef_ != 0).any(axis=0).all()
    scores = model.decision_function(X)
    for k in range(K):
        labels = y == model.classes_[k if K > 1 else 1]
        verify(model.results_[k], X, labels)
        own = np.where(labels, 1, -1) * (scores if K == 1 else scores[:, k])
        assert own.min() == pytest.approx(1, rel=1e-9)  # the nearest examples score 1 or -1
        lower, upper = model.margin_interval_[k]
        assert model.margin_[k] == lower <= upper <= lower * (1 + 1e-10)
        norm = np.linalg.norm(np.append(model.coef_[k], model.intercept_[k] if bias == "augmented" else 0))
        assert 1 / norm == pytest.approx(lower, rel=1e-9)
        if bias != "augmented":
            found = margin(X, labels, model.coef_[k], model.intercept_[k])
            assert found.lower == lower or model.results_[k].lower == lower
        if bias == "none":
            assert model.intercept_[k] == 0
    assert list(model.predict(X)) == list(y)


def test_both_engines_and_all_storage_types_learn_the_same_bits():
    digits, y = load_digits(return_X_y=True)
    rows = np.flatnonzero((y == 3) | (y == 8))
    digits, y = digits[rows], y[rows]
    expected = MaxMarginClassifier().fit(digits, y)
    for given in (
        digits.astype(np.uint8),
        digits.astype(np.float32),
        sp.csr_matrix(digits),
        sp.csc_array(digits),
    ):
        for parameters in ({}, {"n_jobs": 2}):
            found = MaxMarginClassifier(**parameters).fit(given, y)
            for name in ("coef_", "intercept_", "dual_coef_", "support_", "margin_interval_"):
                assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    small = MaxMarginClassifier().fit(X, Y)
    other = MaxMarginClassifier(engine="reference").fit(X, Y)
    for name in ("coef_", "intercept_", "dual_coef_", "support_", "margin_interval_"):
        assert getattr(small, name).tobytes() == getattr(other, name).tobytes(), name


def test_inseparable_classes_are_refused_with_the_proof():
    with pytest.raises(
        InseparableError, match=r"no plane separates class 1 and the rest, as rows "
    ) as caught:
        MaxMarginClassifier().fit(IRIS, SPECIES)
    assert caught.value.label == 1
    assert isinstance(caught.value, ValueError)
    assert caught.value.result.status == "non_separable"
    verify(caught.value.result, IRIS, SPECIES == 1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.result.status == "non_separable"


def test_inseparable_classes_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="the best hyperplane found is kept"):
        model = MaxMarginClassifier(inseparable="warn").fit(IRIS, SPECIES)
    assert model.margin_[0] > 0
    assert list(model.margin_[1:]) == [-np.inf] * 2
    assert model.margin_interval_.shape == (3, 2)
    assert not model.dual_coef_[1:].any()
    assert [result.status for result in model.results_] == ["separable", "non_separable", "non_separable"]
    with pytest.warns(ConvergenceWarning, match="no plane separates the classes"):
        model = MaxMarginClassifier(inseparable="warn").fit(IRIS[50:], SPECIES[50:])
    assert model.margin_ == -np.inf


def test_a_budget_that_is_too_small():
    A, y = load_breast_cancer(return_X_y=True)
    A = StandardScaler().fit_transform(A)
    with pytest.raises(InseparableError, match=r"was found within max_steps=0; raise it"):
        MaxMarginClassifier(max_steps=0).fit(A, y)
    assert MaxMarginClassifier().fit(A, y).margin_ > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("X", "y", "parameters", "text"),
    [
        ([[1.0], [2.0]], [1, 1], {}, "greater than one; got 1 class"),
        ([[0.0], [0.0]], [0, 1], {}, "X must not be all zeros"),
        ([[0.0], [0.0]], [0, 1], {"inseparable": "warn"}, "X must not be all zeros"),
        ([[1.0], [np.nan]], [0, 1], {}, "Input X contains NaN in row 1 .*, column 0"),
        ([[1.0], [2.0]], [0, 1], {"tol": 0.0}, "'tol' parameter"),
        ([[1.0], [2.0]], [0, 1], {"max_steps": -1}, "'max_steps' parameter"),
        ([[1.0], [2.0]], [0, 1], {"bias": "yes"}, "'bias' parameter"),
        ([[1.0], [2.0]], [0, 1], {"inseparable": "ignore"}, "'inseparable' parameter"),
        ([[1.0], [2.0]], [0.5, 1], {}, "Unknown label type: continuous"),
        ([[1.0], [2.0]], [0, 1, 1], {}, "inconsistent numbers of samples"),
        (np.empty((0, 2)), [], {}, "0 sample"),
    ],
)
def test_bad_input_leaves_the_estimator_as_it_was(X, y, parameters, text):
    model = MaxMarginClassifier().fit(*THREE)
    model.set_params(**parameters)
    before = copy.copy(vars(model))
    with pytest.raises(ValueError, match=text):
        model.fit(X, y)
    assert vars(model) == before


def test_prediction():
    with pytest.raises(NotFittedError):
        MaxMarginClassifier().predict(X)
    model = make_pipeline(StandardScaler(), MaxMarginClassifier()).fit(X, Y)
    assert model.score(X, Y) == 1
    again = pickle.loads(pickle.dumps(model))
    assert list(again.predict(X)) == list(Y)
    with pytest.raises(ValueError, match="NaN"):
        MaxMarginClassifier().fit(X, Y).predict(X * np.nan)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_scales(scale):
    plain = MaxMarginClassifier().fit(X, Y)
    model = MaxMarginClassifier().fit(X * scale, Y)
    assert model.margin_ == pytest.approx(plain.margin_ * scale, rel=1e-7)
    assert list(model.predict(X * scale)) == list(Y)
