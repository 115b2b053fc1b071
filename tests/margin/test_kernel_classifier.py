"""The hard-margin separator in the space of a kernel, and joint margins there: by hand and by peers."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import perceptron_rs.margins.predictor as module
from perceptron_rs import (
    InseparableError,
    MaxMarginClassifier,
    joint_margin,
    kernel_matrix,
    max_margin,
    reproduce,
    verify,
)
from perceptron_rs.engines import get_engine
from perceptron_rs.testing import assert_parity

CORNERS = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
DIFFER = np.array([-1, 1, 1, -1])
SQUARE = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
CUBIC = {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0}
RBF = {"kernel": "rbf", "gamma": 2.0}
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS, SPECIES = IRIS[::3], np.array(["setosa", "versicolor", "virginica"])[SPECIES[::3]]
LEARNT = ("intercept_", "dual_coef_", "support_", "margin_interval_")


def same_bits(a, b):
    for name in LEARNT:
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MaxMarginClassifier(inseparable="warn", kernel="precomputed"),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_estimators_nan_inf": "it predicts on rows of another width: the check of these comes first"}
        if estimator.kernel == "precomputed"
        else {}
    ),
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_xor_by_hand(bias, engine_name):
    """Of the six features of the kernel, ``sqrt(2) x1 x2`` alone has a weight; all points support it."""
    model = MaxMarginClassifier(bias=bias, engine=engine_name, **SQUARE).fit(CORNERS, DIFFER)
    lower, upper = model.margin_interval_[0]
    assert Fraction(lower) ** 2 <= 2 <= Fraction(upper) ** 2
    assert upper - lower < 1e-14
    assert model.support_.tolist() == [0, 1, 2, 3]
    assert model.support_vectors_.tolist() == CORNERS.tolist()
    np.testing.assert_allclose(model.dual_coef_, DIFFER[np.newaxis] / 8, rtol=1e-14)
    assert model.decision_function(CORNERS) == pytest.approx(DIFFER)
    places = np.array([[2.0, 3], [0.5, -1], [-1, 7]])
    assert model.decision_function(places) == pytest.approx(-places[:, 0] * places[:, 1])
    assert model.predict(places).tolist() == [-1, 1, 1]
    verify(model.results_[0], kernel_matrix(CORNERS, **SQUARE), DIFFER == 1)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    "options", [{"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0}, RBF], ids=str
)
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_each_class_has_its_margin_and_its_certificate(options, bias):
    model = MaxMarginClassifier(bias=bias, **options).fit(IRIS, SPECIES)
    K, scores = kernel_matrix(IRIS, **options), model.decision_function(IRIS)
    one = bias == "augmented"
    for k, label in enumerate(model.classes_):
        own = label == SPECIES
        found = max_margin(IRIS, own, bias=bias, **options)
        assert model.results_[k].to_dict() == found.to_dict()
        verify(model.results_[k], K, own)
        lower, upper = model.margin_interval_[k]
        assert upper == found.upper
        assert found.lower * (1 - 1e-9) <= lower == model.margin_[k] <= upper
        # The nearest examples score 1, and the margin is one over the length of the weights.
        assert (np.where(own, 1, -1) * scores[:, k]).min() == pytest.approx(1, rel=1e-9)
        v = np.zeros(len(IRIS))
        v[model.support_] = model.dual_coef_[k]
        norm = np.sqrt(v @ K @ v + one * model.intercept_[k] ** 2)
        assert 1 / norm == pytest.approx(lower, rel=1e-9)
        np.testing.assert_allclose(scores[:, k], K @ v + model.intercept_[k], rtol=1e-9)
    assert model.predict(IRIS).tolist() == SPECIES.tolist()
    assert (model.dual_coef_ != 0).any(axis=0).all()
    assert bias != "none" or not model.intercept_.any()


@pytest.mark.parametrize("options", [SQUARE, RBF], ids=str)
def test_it_is_the_support_vector_machine(options):
    keep = SPECIES != "setosa"
    X, y = IRIS[keep] - IRIS.mean(axis=0), SPECIES[keep]
    if options is SQUARE:
        y = np.where((X[:, 0] > 0) == (X[:, 1] > 0), "a", "b")
        far = np.abs(X[:, 0] * X[:, 1]) > 0.02
        X, y = X[far], y[far]
    model, peer = MaxMarginClassifier(**options).fit(X, y), SVC(C=1e10, tol=1e-10, **options).fit(X, y)
    assert model.decision_function(X) == pytest.approx(peer.decision_function(X), rel=1e-4, abs=1e-4)
    assert set(model.support_) <= set(peer.support_)


def test_engines_storage_threads_and_blocks_have_the_same_bits(monkeypatch):
    X = np.round(IRIS * 10)
    expected = MaxMarginClassifier(**RBF | {"gamma": 0.02}).fit(X, SPECIES)
    scores = expected.decision_function(X).tobytes()
    for given, parameters in (
        (X, {"engine": "reference"}),
        (X.astype(np.uint8), {"n_jobs": 2}),
        (sparse.csr_matrix(X), {}),
        (sparse.csc_array(X.astype(np.float32)), {"n_jobs": 2}),
    ):
        model = MaxMarginClassifier(**RBF | {"gamma": 0.02} | parameters).fit(given, SPECIES)
        same_bits(model, expected)
        for rows in (X, sparse.csr_matrix(X), X.astype(np.int32)):
            assert model.decision_function(rows).tobytes() == scores
        assert (model.support_vectors_ != X[model.support_]).sum() == 0
    asked = []
    engine = get_engine("rust")
    matrix = engine.kernel_matrix

    def watched(rows, others, **options):
        asked.append(rows.shape[0])
        return matrix(rows, others, **options)

    monkeypatch.setattr(module, "_VALUES", 3 * len(expected.support_))
    monkeypatch.setattr(engine, "kernel_matrix", watched)
    assert expected.decision_function(X).tobytes() == scores
    assert expected.decision_function(sparse.csr_matrix(X)).tobytes() == scores
    assert asked == 2 * ([3] * 16 + [2])  # a few rows at a time


def test_parity_and_the_record():
    model = MaxMarginClassifier(kernel="poly", degree=2, coef0=1.0, gamma=0.1)
    X, y = np.round(IRIS * 10), SPECIES == "versicolor"
    assert_parity(model.set_params(inseparable="warn", max_steps=200), X, y)
    assert reproduce(MaxMarginClassifier(**RBF, audit=True).fit(IRIS, SPECIES), IRIS, SPECIES)


def test_precomputed_values():
    options = {"kernel": "poly", "degree": 2, "gamma": 0.25, "coef0": 1.0}
    K = kernel_matrix(IRIS, **options)
    model = MaxMarginClassifier(kernel="precomputed", inseparable="warn").fit(K, SPECIES)
    same_bits(model, MaxMarginClassifier(inseparable="warn", **options).fit(IRIS, SPECIES))
    expected = K[:, model.support_] @ model.dual_coef_.T + model.intercept_
    for given in (K, sparse.csr_matrix(K)):
        assert model.decision_function(given) == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert model.decision_function(given).tobytes() == model.decision_function(K).tobytes()
    assert model.__sklearn_tags__().input_tags.pairwise
    assert not MaxMarginClassifier().__sklearn_tags__().input_tags.pairwise
    with pytest.raises(AttributeError, match="only available with the kernels"):
        _ = model.support_vectors_
    with pytest.raises(ValueError, match="X must be a square matrix"):
        MaxMarginClassifier(kernel="precomputed").fit(K[:, 1:], SPECIES)


def test_classes_that_the_kernel_does_not_separate():
    X, y = np.array([[0.0], [1], [1], [3]]), np.array([0, 1, 0, 1])
    with pytest.raises(InseparableError, match="no plane separates the classes 0 and 1, as rows 1, 2 of X"):
        MaxMarginClassifier(kernel="rbf", gamma=1.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="the best hyperplane found is kept"):
        model = MaxMarginClassifier(kernel="rbf", gamma=1.0, inseparable="warn").fit(X, y)
    assert model.margin_.tolist() == [-np.inf]
    K = kernel_matrix(X, kernel="rbf", gamma=1.0)
    verify(model.results_[0], K, y == 1)
    # What is kept is the hyperplane of the result, which need not be 0 outside of the proof.
    found = model.results_[0]
    assert model.decision_function(X) == pytest.approx(K @ found.coef + found.intercept)


def test_another_kernel_leaves_nothing_of_the_fit_before():
    model = MaxMarginClassifier(**SQUARE)
    with pytest.raises(NotFittedError):
        _ = model.support_vectors_
    model.fit(CORNERS, DIFFER)
    line = np.array([1, 1, 2, 2])
    model.set_params(kernel="linear").fit(CORNERS, line)
    assert model.decision_function(CORNERS) == pytest.approx([-1, -1, 1, 1])
    with pytest.raises(AttributeError, match="only available"):
        _ = model.support_vectors_
    model.set_params(kernel="rbf").fit(CORNERS, DIFFER)
    assert not hasattr(model, "coef_")
    again = pickle.loads(pickle.dumps(model))
    assert again.decision_function(CORNERS).tobytes() == model.decision_function(CORNERS).tobytes()
    with pytest.raises(ValueError, match=r"kernel='linear', gamma=7.0 differs from the fit .*; .* fit again"):
        model.set_params(kernel="linear", gamma=7.0).decision_function(CORNERS)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"kernel": "sigmoid"}, "'kernel' parameter"),
        ({"gamma": 0.0}, "'gamma' parameter"),
        ({"gamma": float("inf")}, "'gamma' parameter"),
        ({"degree": 0}, "'degree' parameter"),
        ({"degree": 101}, "'degree' parameter"),
        ({"coef0": -1.0}, "'coef0' parameter"),
        ({"coef0": float("nan")}, "coef0"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, text):
    model = MaxMarginClassifier(**SQUARE).fit(CORNERS, DIFFER)
    before = model.dual_coef_
    with pytest.raises(ValueError, match=text):
        model.set_params(**parameters).fit(CORNERS, DIFFER)
    assert model.dual_coef_ is before


def test_no_other_format_has_kernels():
    model = MaxMarginClassifier(**SQUARE).fit(CORNERS, DIFFER)
    for export in (model.to_sklearn, model.to_onnx):
        with pytest.raises(ValueError, match="kernel='poly' cannot be exported"):
            export()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", ["augmented", "none"])
def test_joint_margins_are_those_of_the_features(bias, seed, engine_name):
    """The kernel of degree 1 has the features themselves, and one that is 1."""
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, (12, 3)).astype(float)
    y = (X @ random.normal(size=(3, 3))).argmax(axis=1)
    rows = joint_margin(np.hstack([X, np.ones((12, 1))]) if bias == "none" else X, y, bias=bias)
    options = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": float(bias == "none")}
    found = joint_margin(X, y, bias=bias, engine=engine_name, **options)
    assert found.result.status == rows.result.status
    verify(found.result, found.pairs, np.ones(len(found.pairs), dtype=int))
    if rows.result.status == "separable":
        assert found.result.lower == pytest.approx(rows.result.lower, rel=1e-7)
        scores = kernel_matrix(X, **options) @ found.coef.T + found.intercept
        v = found.result.coef
        expected = X @ rows.coef[:, :3].T + (rows.coef[:, 3] if bias == "none" else rows.intercept)
        length = np.linalg.norm(np.column_stack([rows.coef, rows.intercept]))
        np.testing.assert_allclose(scores / np.sqrt(v @ found.pairs @ v), expected / length, atol=1e-6)
        assert bias != "none" or not found.intercept.any()


def test_a_joint_margin_in_a_curved_space():
    """On a line, a class on both sides of another one needs a square."""
    X, y = np.array([[-3.0], [-1], [1], [3], [0]]), np.array(["out", "mid", "mid", "out", "in"])
    assert joint_margin(X, y).result.status == "non_separable"
    found = joint_margin(X, y, kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    assert found.result.status == "separable"
    scores = kernel_matrix(X, kernel="poly", degree=2, gamma=1.0, coef0=1.0) @ found.coef.T + found.intercept
    assert np.array(["in", "mid", "out"])[scores.argmax(axis=1)].tolist() == y.tolist()
    with pytest.raises(ValueError, match="kernel must be one of"):
        joint_margin(X, y, kernel="cosine")


def test_values_that_are_symmetric_up_to_rounding():
    K = kernel_matrix(IRIS, **RBF)
    other = K.copy()
    other[0, 1] += 2.0**-50
    other[2, 3] -= 2.0**-50
    model = MaxMarginClassifier(kernel="precomputed").fit(other, SPECIES)
    same_bits(model, MaxMarginClassifier(kernel="precomputed").fit((other + other.T) / 2, SPECIES))
    other[0, 1] += 1e-6
    with pytest.raises(ValueError, match="X must be symmetric"):
        MaxMarginClassifier(kernel="precomputed").fit(other, SPECIES)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_plane_of_the_search_is_kept(seed):
    """Without separation, the weights of the certificate are of a point at the origin, and no plane."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    X[0], y[0] = X[1], -y[1]
    found, K = max_margin(X, y, **SQUARE), kernel_matrix(X, **SQUARE)
    assert found.status in ("non_separable", "margin_at_most")
    verify(found, K, y)
    product = np.sqrt(2) * X[:, [0]] * X[:, [1]]
    features = np.hstack([X**2, product, np.sqrt(2) * X, np.ones((60, 1))])
    rows = max_margin(features, y)
    expected = features @ rows.coef + rows.intercept
    scores = K @ found.coef + found.intercept
    assert np.sign(scores).tolist() == np.sign(expected).tolist()
    assert set(np.sign(scores)) == {-1.0, 1.0}
