"""Models of other libraries: scikit-learn's estimators, ONNX in its runtime, pipelines of skl2onnx, skops."""

from __future__ import annotations

import builtins
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
import skl2onnx
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
)
from perceptron_rs.models import register_skl2onnx

SHORT = {"max_iter": 4, "tol": None}
LINEAR = [
    Perceptron(**SHORT),
    Perceptron(**SHORT, multi_class="joint"),
    Perceptron(**SHORT, fit_intercept=False, penalty="l1"),
    AveragedPerceptron(**SHORT, eta0=0.3),
    AveragedPerceptron(**SHORT, multi_class="joint"),
    PocketPerceptron(**SHORT),
    *(VotedPerceptron(**SHORT, prediction=kind) for kind in ("last", "average", "longest", "random")),
    MaxMarginClassifier(inseparable="warn", max_steps=200),
]
LAYERS = [
    MultilayerPerceptron((5,), **SHORT),
    MultilayerPerceptron((4, 3), **SHORT, activation="tanh"),
    MultilayerPerceptron((6,), **SHORT, activation="logistic"),
]
#: Of float features and of integers, of two classes and of many, all rows of them.
DATA = {
    "cancer": load_breast_cancer(return_X_y=True),
    "iris": load_iris(return_X_y=True),
    "digits": load_digits(return_X_y=True),
    "ones": (load_digits().data, np.where(load_digits().target == 1, "one", "other")),
}
WHOLE = {"digits", "ones"}


def name_of(model):
    return repr(model).replace("\n", " ")


def fitted(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(*DATA[data])


def run(model, X):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = dict(zip((one.name for one in session.get_outputs()), session.run(None, {"X": X}), strict=True))
    given = {"X": X.astype(np.float64)} | found
    for one in [*model.graph.input, *model.graph.output]:  # what they say of themselves
        array, kind = given[one.name], one.type.tensor_type
        declared = [dim.dim_value or len(array) for dim in kind.shape.dim]
        assert tuple(declared) == array.shape, one.name
        assert not kind.shape.dim[0].dim_value, "any number of rows"
        dtype = (
            "O"
            if kind.elem_type == onnx.TensorProto.STRING
            else onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        )
        assert array.dtype == dtype, one.name
    return found


def close(found, expected):
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def learns_integers(model, data):
    return data in WHOLE and all(np.all(array == np.round(array)) for array in weights(model))


def weights(model):
    if isinstance(model, VotedPerceptron):
        return model._predicting()
    return model.coef_, model.intercept_


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", LINEAR, ids=name_of)
def test_linear_in_scikit_learn(model, data):
    model, X = fitted(model, data), DATA[data][0]
    other = model.to_sklearn()
    assert type(other).__module__.startswith("sklearn.")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    found, expected = other.decision_function(X), model.decision_function(X)
    close(found, expected)
    if learns_integers(model, data):
        assert found.tobytes() == expected.tobytes()
    for name, value in other.get_params().items():
        if name in model.get_params() and not isinstance(model, MaxMarginClassifier):
            assert value == getattr(model, name)


def test_integers_are_among_them():
    exact = [
        learns_integers(fitted(model, "digits"), "digits") for model in (LINEAR[0], LINEAR[1], LINEAR[6])
    ]
    assert all(exact)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", LAYERS, ids=name_of)
def test_layers_in_scikit_learn(model, data):
    model, X = fitted(model, data), DATA[data][0]
    other = model.to_sklearn()
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    close(other.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", [*LINEAR, *LAYERS], ids=name_of)
def test_scikit_learn_goes_on(model):
    model, (X, y) = fitted(model, "iris"), DATA["iris"]
    before = model.decision_function(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = model.to_sklearn()
        if hasattr(other, "partial_fit"):
            other.partial_fit(X, y)
        assert set(other.predict(X)) <= {0, 1, 2}
        assert clone(other).fit(X, y).score(X, y) > 0.3
    assert model.decision_function(X).tobytes() == before.tobytes(), "its arrays are its own"


def test_names_of_columns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    other = Perceptron().fit(X, y).to_sklearn()
    assert other.feature_names_in_.tolist() == list(X.columns)
    other.predict(X)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", [*LINEAR, Perceptron(**SHORT, tie="positive"), *LAYERS], ids=name_of)
def test_onnx(model, data):
    model, X = fitted(model, data), DATA[data][0]
    found = run(model.to_onnx(), X)
    expected = model.decision_function(X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    close(found["scores"], expected)
    if model in LINEAR and learns_integers(model, data):
        assert found["scores"].tobytes() == expected.tobytes()
    if hasattr(model, "predict_proba"):
        close(found["probabilities"], model.predict_proba(X))
    else:
        assert found.keys() == {"label", "scores"}


#: Half of the rows have scores of exactly 0, or equal ones.
TIED = np.array([[1.0, 1], [2, 2], [1, 0], [0, 1], [0, 0], [-3, -3]])


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_ties_of_two_classes(tie):
    model = Perceptron(tie=tie).fit([[1, 0], [0, 1]], [3, 5])
    model.coef_, model.intercept_ = np.array([[1.0, -1]]), np.zeros(1)
    expected = model.predict(TIED)
    assert expected.tolist() == ([3, 3, 5, 3, 3, 3] if tie == "mistake" else [5, 5, 5, 3, 5, 5])
    np.testing.assert_array_equal(run(model.to_onnx(), TIED)["label"], expected)
    if tie == "mistake":
        np.testing.assert_array_equal(model.to_sklearn().predict(TIED), expected)


def test_ties_of_many_classes_go_to_the_first():
    model = Perceptron().fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    model.coef_, model.intercept_ = np.array([[0.0, 1], [1, 0], [1, 0]]), np.zeros(3)
    expected = model.predict(TIED)
    assert set(expected) == {"a", "b"}
    np.testing.assert_array_equal(run(model.to_onnx(), TIED)["label"], expected)
    np.testing.assert_array_equal(model.to_sklearn().predict(TIED), expected)


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        [False, True],
        [-1, 1],
        [0.0, 2.0],
        np.array([1, 2], dtype=np.uint8),
        ["ü", "\U0001f600"],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, object])
def test_labels(labels, dtype):
    y = np.array(labels, dtype=dtype if isinstance(labels[0], str) else None)
    model = Perceptron().fit([[1, 0], [0, 1]], y)
    exported = model.to_onnx()
    found = run(exported, TIED)["label"]
    assert found.tolist() == model.predict(TIED).tolist()
    # Of integers one type, which is that of a pipeline's label, too.
    types = {"U": "STRING", "O": "STRING", "b": "BOOL", "i": "INT64", "u": "INT64", "f": "DOUBLE"}
    kind = onnx.TensorProto.DataType.Value(types[y.dtype.kind])
    assert exported.graph.output[0].type.tensor_type.elem_type == kind
    assert model.to_sklearn().predict(TIED).tolist() == found.tolist()


def test_what_is_refused(monkeypatch):
    positive = fitted(Perceptron(tie="positive"), "cancer")
    with pytest.raises(
        ValueError, match=r"no estimator that predicts as with tie='positive'.*set tie='mistake'"
    ):
        positive.to_sklearn()
    positive.set_params(tie="mistake").to_sklearn()
    fitted(Perceptron(tie="positive"), "iris").to_sklearn()
    voted = fitted(VotedPerceptron(**SHORT), "cancer")
    for export in (voted.to_sklearn, voted.to_onnx):
        with pytest.raises(ValueError, match="prediction='vote' needs all weight vectors"):
            export()
    for export in (Perceptron().to_sklearn, Perceptron().to_onnx):
        with pytest.raises(NotFittedError):
            export()
    for learner in (KernelPerceptron, BudgetedKernelPerceptron, SequencePerceptron):
        assert not hasattr(learner(), "to_sklearn")
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] in ("onnx", "skl2onnx"):
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr("perceptron_rs.models.exporting.import_module", without)
    with pytest.raises(ImportError, match=r"needs the package onnx: pip install onnx"):
        positive.to_onnx()
    with pytest.raises(ImportError, match=r"pip install skl2onnx"):
        register_skl2onnx()


def test_a_subclass_is_as_its_learner():
    class Own(Perceptron):
        pass

    model = fitted(Own(**SHORT), "iris")
    X = DATA["iris"][0]
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
    np.testing.assert_array_equal(run(model.to_onnx(), X)["label"], model.predict(X))


def test_an_old_format_and_a_sound_one():
    model = fitted(LINEAR[0], "iris").to_onnx()
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 8
    assert [opset.version for opset in model.opset_import] == [17]


@pytest.mark.parametrize("model", [LINEAR[0], LINEAR[3], LINEAR[7], LINEAR[10], LAYERS[0]], ids=name_of)
@pytest.mark.parametrize("data", ["iris", "ones"])
def test_a_pipeline_converts(model, data):
    register_skl2onnx()
    X, y = DATA[data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
        converted = skl2onnx.to_onnx(
            pipeline,
            initial_types=[("X", skl2onnx.common.data_types.DoubleTensorType([None, X.shape[1]]))],
            target_opset=17,
        )
    found = run(converted, X)
    np.testing.assert_array_equal(found["label"], pipeline.predict(X))
    close(found["scores"], pipeline.decision_function(X))


@pytest.mark.parametrize("kind", [bool, float, np.int8])
def test_labels_of_a_pipeline_are_whole_numbers(kind):
    register_skl2onnx()
    X, y = DATA["iris"]
    model = Perceptron(**SHORT).fit(X, (y == y[0]).astype(kind))
    types = [("X", skl2onnx.common.data_types.DoubleTensorType([None, X.shape[1]]))]
    found = run(skl2onnx.to_onnx(make_pipeline(model), initial_types=types, target_opset=17), X)["label"]
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        *LINEAR,
        *LAYERS,
        VotedPerceptron(**SHORT),
        KernelPerceptron(max_iter=1),
        BudgetedKernelPerceptron(max_iter=1),
    ],
    ids=name_of,
)
def test_skops_trusts_nothing_but_our_classes(model):
    model, X = fitted(clone(model), "iris"), DATA["iris"][0]
    data = skops.io.dumps(model)
    untrusted = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("perceptron_rs.") for name in untrusted)
    again = skops.io.loads(data, trusted=untrusted)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    if hasattr(model, "partial_fit"):
        again.partial_fit(*DATA["iris"])
