"""Calibrated classifiers: beside scikit-learn's, with equal bits everywhere, and gone when they learn on."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import onnxruntime
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.frozen import FrozenEstimator

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    digest,
    load,
    load_predictor,
    reproduce,
)

FEW = {"max_iter": 3, "tol": None}
MODELS = [
    Perceptron(**FEW),
    AveragedPerceptron(**FEW),
    AveragedPerceptron(**FEW, multi_class="joint"),
    PocketPerceptron(**FEW),
    VotedPerceptron(**FEW),
    VotedPerceptron(**FEW, prediction="average", tie="positive"),
    KernelPerceptron("rbf", **FEW),
    KernelPerceptron("rbf", **FEW, prediction="last", normalize=True),
    BudgetedKernelPerceptron("rbf", **FEW, budget=30),
    MultilayerPerceptron(5, **FEW, learning_rate_init=0.1),
]
METHODS = ["temperature", "sigmoid"]


def data(n_classes):
    X, y = (load_breast_cancer if n_classes == 2 else load_digits)(return_X_y=True)
    X = (X / X.max(axis=0).clip(1))[y < n_classes][::2]
    y = y[y < n_classes][::2]
    rng = np.random.default_rng(n_classes)
    wrong = rng.random(len(y)) < 0.1
    return X, np.where(wrong, rng.integers(0, n_classes, len(y)), y)


DATA = {n: data(n) for n in (2, 4)}


def fitted(model, n_classes=4, method="temperature", **options):
    X, y = DATA[n_classes]
    model = copy.deepcopy(model).fit(X[::2], y[::2])
    return model.calibrate(X[1::2], y[1::2], method=method, **options), X, y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_probabilities_are_those_of_scikit_learn(model, method, n_classes, weighted):
    w = np.random.default_rng(1).integers(0, 4, len(DATA[n_classes][1][1::2])) if weighted else None
    model, X, y = fitted(model, n_classes, method, sample_weight=w)
    oracle = CalibratedClassifierCV(FrozenEstimator(model), method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions that do not route weights
        oracle.fit(X[1::2], y[1::2], sample_weight=w)
    np.testing.assert_allclose(model.predict_proba(X), oracle.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e7, 1e200])
def test_a_temperature_is_found_whatever_the_size_of_scores(size):
    model, X, y = fitted(AveragedPerceptron(**FEW))
    scores = model.decision_function(X[1::2])
    t = np.searchsorted(model.classes_, y[1::2])

    def loss(beta):
        return -log_softmax(beta * scores, axis=1)[np.arange(len(t)), t].sum()

    best = minimize_scalar(loss, bounds=(0, 1000), options={"xatol": 1e-12}).x
    model.coef_, model.intercept_ = model.coef_ * size, model.intercept_ * size
    model.calibrate(X[1::2], y[1::2])
    assert model.calibration_.slope[0] * size == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_all_who_hold_the_model_answer_with_the_same_bits(model, method, n_classes):
    model, X, y = fitted(model, n_classes, method)
    expected, logs = model.predict_proba(X), model.predict_log_proba(X)
    np.testing.assert_allclose(logs, np.log(expected), rtol=1e-15)
    np.testing.assert_allclose(expected.sum(axis=1), 1, rtol=1e-15)
    if method == "temperature":
        assert (model.classes_[np.argmax(expected, axis=1)] == model.predict(X)).all()
    again = copy.deepcopy(model).set_params(engine="reference")
    again.calibrate(X[1::2], y[1::2], method=method)
    content = model.save()
    predictor = load_predictor(content)
    others = [
        again,
        copy.copy(model),
        load(content),
        predictor,
        load_predictor(content, engine="reference"),
        *(pickle.loads(pickle.dumps(other)) for other in (model, predictor)),
    ]
    for other in others:
        assert other.predict_proba(X).tobytes() == expected.tobytes(), other
        assert other.predict_log_proba(X).tobytes() == logs.tobytes(), other
    one_by_one = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(20)])
    assert one_by_one.tobytes() == expected[:20].tobytes()
    assert load(content).save() == content
    assert len({digest(other) for other in (model, load(content), again)}) == 1
    assert repr(load(content).calibration_) == repr(model.calibration_)


def test_a_digest_covers_the_calibration():
    model, X, y = fitted(AveragedPerceptron(**FEW))
    digests = {digest(model)}
    for method in METHODS:
        digests.add(digest(model.calibrate(X[1:200:2], y[1:200:2], method=method)))
    digests.add(digest(model.fit(X[::2], y[::2])))
    assert len(digests) == 4


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_onnx_has_the_probabilities(method, n_classes, multi_class):
    model, X, _ = fitted(AveragedPerceptron(**FEW, multi_class=multi_class), n_classes, method)
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    label, _, probabilities = session.run(None, {"X": X})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=1e-12, atol=1e-14)
    assert (label == model.predict(X)).all()
    with pytest.warns(UserWarning, match="the calibration stays behind"):
        assert not hasattr(model.to_sklearn(), "calibration_")


def test_a_network_gives_calibrated_probabilities_in_place_of_its_own():
    model, X, y = fitted(MultilayerPerceptron(5, **FEW, learning_rate_init=0.1))
    calibrated = model.predict_proba(X)
    own = model.fit(X[::2], y[::2]).predict_proba(X)
    assert not np.array_equal(own, calibrated)

    def loss(p):
        return -np.log(p[np.arange(len(y))[1::2], y[1::2]]).sum()

    assert loss(calibrated) < loss(own)


def test_many_labels_have_a_probability_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = (X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(int)
    model = AveragedPerceptron(**FEW).fit(X[::2], Y[::2]).calibrate(X[1::2], Y[1::2], method="sigmoid")
    scores, found = model.decision_function(X), model.predict_proba(X)
    for k in range(3):
        one = AveragedPerceptron(**FEW).fit(X[::2], Y[::2, k])
        assert one.decision_function(X).tobytes() == scores[:, k].tobytes()
        one.calibrate(X[1::2], Y[1::2, k], method="sigmoid")
        assert one.predict_proba(X)[:, 1].tobytes() == found[:, k].tobytes()
    assert load_predictor(model.save()).predict_proba(X).tobytes() == found.tobytes()
    with pytest.raises(ValueError, match=r"method='temperature' is of one class .*; set method='sigmoid'"):
        model.calibrate(X[1::2], Y[1::2])


def test_probabilities_are_there_after_a_calibration_alone():
    X, y = DATA[4]
    for model in (Perceptron(), Perceptron().fit(X, y), load_predictor(Perceptron().fit(X, y).save())):
        for name in ("predict_proba", "predict_log_proba", "calibration_"):
            assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=r"only after calibrate, .*; call calibrate with examples"):
        Perceptron().fit(X, y).predict_proba(X)
    assert VotedPerceptron(**FEW, prediction="last").fit(X, y).calibrate(X, y).predict_proba(X).shape == (
        len(X),
        4,
    )


LEARNING = {
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "one row": lambda model, X, y: model.partial_fit(X[:1], y[:1]),
    "unchecked": lambda model, X, y: model.partial_fit(X[:1], y[:1], check_input=False),
    "predict_then_learn": lambda model, X, y: model.predict_then_learn(X, y),
    "warm start": lambda model, X, y: model.set_params(warm_start=True).fit(X, y),
}


@pytest.mark.parametrize("call", LEARNING)
@pytest.mark.parametrize("model", [Perceptron(**FEW), AveragedPerceptron(**FEW)], ids=str)
def test_who_learns_on_loses_the_calibration_and_is_told_so(model, call):
    model, X, y = fitted(model)
    if call == "unchecked":  # so that a rule is known
        model.fit(X, y).partial_fit(X[:1], y[:1], check_input=False)
    model.calibrate(X[1::2], y[1::2])
    plain = copy.deepcopy(model)
    plain.coef_ = plain.coef_  # begins anew, without a calibration
    assert not hasattr(plain, "calibration_")
    with pytest.warns(UserWarning, match=r"no longer calibrated, .*; calibrate it again with"):
        LEARNING[call](model, X, y)
    assert not hasattr(model, "predict_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(warm_start=False).partial_fit(X, y)  # told once


@pytest.mark.parametrize("model", [*MODELS, MaxMarginClassifier(kernel="rbf", gamma=9.0)], ids=str)
def test_a_fit_anew_has_no_calibration(model):
    X, y = DATA[2]
    model = copy.deepcopy(model).fit(X[:100:2], y[:100:2]).calibrate(X[1::2], y[1::2])
    before = model.predict_proba(X)
    assert load_predictor(model.save()).predict_proba(X).tobytes() == before.tobytes()
    assert not hasattr(model.fit(X[:100:2], y[:100:2]), "calibration_")


def test_a_fit_that_fails_leaves_the_calibration():
    model, X, y = fitted(Perceptron(**FEW))
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X * np.nan, y)
    with pytest.raises(ValueError, match='method must be "temperature" or "sigmoid"'):
        model.calibrate(X, y, method="isotonic")
    assert model.predict_proba(X).tobytes() == before.tobytes()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_examples_that_are_all_right_have_smoothed_targets(n_classes):
    X = np.repeat(np.eye(n_classes), 5, axis=0)
    y = np.repeat(np.arange(n_classes), 5)
    model = Perceptron(max_iter=20).fit(X, y)
    with pytest.warns(UserWarning, match=f"each of the {len(X)} examples is predicted right"):
        model.calibrate(X, y)
    found = model.predict_proba(X)[np.arange(len(X)), y]
    np.testing.assert_allclose(found.mean(), (len(X) + 1) / (len(X) + n_classes), rtol=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.calibrate(X, y, method="sigmoid")  # whose targets always are


def test_scores_that_say_nothing_make_all_classes_equal():
    model, X, _ = fitted(AveragedPerceptron(**FEW))
    worst = model.classes_[np.argmin(model.decision_function(X), axis=1)]
    with pytest.warns(UserWarning, match="no more of y than chance.*; fit better"):
        model.calibrate(X, worst)
    assert np.array_equal(model.predict_proba(X).round(12), np.full((len(X), 4), 0.25))
    assert (model.classes_[np.argmax(model.predict_proba(X), axis=1)] == model.predict(X)).all()


def test_wrong_arguments_are_named():
    model, X, y = fitted(Perceptron(**FEW))
    with pytest.raises(ValueError, match=r"y.*9.*; leave out such examples"):
        model.calibrate(X, np.where(y == 0, 9, y))
    with pytest.raises(ValueError, match="sample_weight must be above 0"):
        model.calibrate(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="X has"):
        model.calibrate(X[:, :2], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.calibrate(X, y[1:])


def test_scores_of_other_parameters_are_not_those_that_were_calibrated():
    model, X, _ = fitted(VotedPerceptron(**FEW))
    model.prediction = "average"
    with pytest.raises(ValueError, match=r"='average' has changed .*='vote'.*; set it back"):
        model.predict_proba(X)
    assert model.set_params(prediction="vote").predict_proba(X).shape == (len(X), 4)


def test_a_calibration_is_no_part_of_what_is_trained_again():
    model, X, y = fitted(AveragedPerceptron(**FEW, random_state=0))
    found = reproduce(model, X[::2], y[::2])
    assert found
    assert found.message == "equal to the last bit; its calibration, of other examples, is taken as it is"
    assert found.digest == found.digest_again == digest(model)
