"""Estimators that become models of other libraries: of scikit-learn, and in the format ONNX."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, warn_caller
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.probabilities import Calibration
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import consistent


@dataclass(frozen=True, slots=True)
class ExportedNetwork:
    """What a classifier computes: layers, one after another, and a decision about the last outputs."""

    #: Weights (outputs, inputs) and intercepts (outputs,) of each layer.
    layers: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
    classes: NDArray[np.generic]
    #: Between two layers: "relu", "tanh" or "logistic".
    activation: str = ""
    #: Whether a score of exactly 0 speaks for the second of two classes.
    positive_at_zero: bool = False
    #: Whether the last outputs are those of a logistic function or a softmax.
    has_probabilities: bool = False
    #: What makes other probabilities of the scores.
    calibration: Calibration | None = None
    #: What is done to the columns first.
    scale: Scale | None = None


def network_of(estimator: Exported) -> ExportedNetwork:
    """Return what a fitted estimator computes; ValueError if that is no network."""
    check_is_fitted(estimator)
    network: ExportedNetwork = estimator._exports().network(estimator)
    return replace(network, scale=_scale_of(estimator), calibration=learnt_of(estimator).calibration)


def _scale_of(estimator: object) -> Scale | None:
    """Return how a model that was trained on files scales columns; ValueError if it makes them, too."""
    recipe = learnt_recipe(estimator)
    if recipe is None:
        return None
    if recipe.makes_columns:
        raise ArgumentError(
            "this {kind} was trained on texts or names, of which it makes columns, and other models have no "
            "such step",
            "predict with load_predictor, or with the command perceptrons predict",
            kind=type(estimator).__name__,
        )
    assert recipe.scale is None or isinstance(recipe.scale, Scale)  # others are of texts
    return recipe.scale


def take_over(estimator: Any, other: Any, but: tuple[str, ...] = ()) -> Any:
    """Give an estimator of scikit-learn the parameters of the same names, and what is known of columns."""
    known = estimator.get_params(deep=False)
    other.set_params(
        **{name: known[name] for name in other.get_params() if name in known and name not in but}
    )
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(other, name, getattr(estimator, name))
    return other


class Exported:
    """The methods ``to_sklearn`` and ``to_onnx``."""

    @abstractmethod
    def _exports(self) -> ModuleType:
        """Return the module of the family that says what it computes (``network``), and ``to_sklearn``."""

    @consistent
    def to_sklearn(self) -> Any:
        """Return a fitted estimator of scikit-learn that predicts the same.

        It has the same parameters, as far as it has parameters of these names, and can continue learning in
        scikit-learn's way. Its scores are equal up to rounding, since the installed BLAS adds up in its own
        order; they are equal to the last bit if all weights and features are integers. Labels can differ only
        where two scores, or a score and 0, are equal up to rounding.

        Returns
        -------
        estimator : `sklearn.linear_model.Perceptron` or another estimator
            `sklearn.linear_model.SGDClassifier` for `AveragedPerceptron`, `sklearn.svm.LinearSVC` for
            `MaxMarginClassifier`, `sklearn.neural_network.MLPClassifier` for `MultilayerPerceptron`. Of a
            model that the command trained with ``--scale``, a `sklearn.pipeline.Pipeline` of the scaler and
            one of these.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If no estimator of scikit-learn predicts the same; above all if the command trained the model on
            texts, or on names that it hashed.

        Warns
        -----
        UserWarning
            If the estimator is calibrated: its probabilities are not those of the result.
        """
        check_is_fitted(self)
        scale, converted = _scale_of(self), self._exports().to_sklearn(self)
        if learnt_of(self).calibration is not None:
            warn_caller(
                "the calibration stays behind, since estimators of scikit-learn hold none; calibrate with "
                "sklearn.calibration.CalibratedClassifierCV(FrozenEstimator(estimator)), or use to_onnx",
                UserWarning,
            )
        if scale is None:
            return converted
        from sklearn.pipeline import make_pipeline

        scaler = scale.scaler()
        if hasattr(converted, "feature_names_in_"):  # the scaler leaves no names
            scaler.feature_names_in_ = vars(converted).pop("feature_names_in_")
        return make_pipeline(scaler, converted)

    @consistent
    def to_onnx(self) -> Any:
        """Return a model in the ONNX format that predicts the same.

        The model is a small graph that computes in float64. Its input ``X`` is a dense float64 matrix. Its
        outputs are ``label``, ``scores`` (as ``decision_function`` returns them) and, if the estimator has
        them, ``probabilities``. A runtime adds up in its own order: scores are equal up to rounding, and to
        the last bit if all weights and features are integers. Labels can differ only where two scores, or a
        score and 0, are equal up to rounding. Needs the package onnx: ``pip install onnx``.

        Returns
        -------
        model : onnx.ModelProto
            The model.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If no graph is offered for what the estimator computes, or for how the command made columns.
        ImportError
            If the package onnx is not installed.
        """
        return _graph_of(network_of(self))


#: Of the operators, and of the file: both can be read by runtimes from 2022 on.
_OPSET, _FILE_VERSION = 17, 8
_INT64 = 7  # TensorProto.INT64
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


def _graph_of(network: ExportedNetwork) -> Any:
    """Return an ``onnx.ModelProto``."""
    onnx = _library("onnx")
    builder = _Graph(onnx)
    scores = _last_outputs(builder, "X", network)
    columns, width = network.layers[0][0].shape[1], len(network.layers[-1][0])
    double = onnx.TensorProto.DOUBLE
    labels = _label_array(network.classes)
    describe = onnx.helper.make_tensor_value_info
    builder.node(
        "Gather", builder.constant(labels), _class_index(builder, scores, network), axis=0, out="label"
    )
    shown = _decision(builder, scores, network)
    builder.node("Identity", shown, out="scores")
    outputs = [
        describe("label", onnx.numpy_helper.from_array(labels).data_type, ["n"]),
        describe("scores", double, ["n"] if width == 1 or len(labels) == 2 else ["n", width]),
    ]
    if network.calibration is not None or network.has_probabilities:
        if network.calibration is not None:
            of = scores if width > 2 else shown
            probabilities = _calibrated(builder, of, network.calibration, len(labels))
        else:
            probabilities = _probabilities(builder, scores, width)
        builder.node("Identity", probabilities, out="probabilities")
        outputs.append(describe("probabilities", double, ["n", len(labels)]))
    graph = onnx.helper.make_graph(
        builder.nodes, "perceptron_rs", [describe("X", double, ["n", columns])], outputs, builder.constants
    )
    model = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_FILE_VERSION,
        producer_name="perceptrons",
    )
    onnx.checker.check_model(model)
    return model


def register(kinds: Iterable[type[Exported]]) -> None:
    """Register a converter of skl2onnx for each of these estimators."""
    skl2onnx = _library("skl2onnx")
    for kind in kinds:
        skl2onnx.update_registered_converter(
            kind, f"PerceptronRs{kind.__name__}", _declare_shapes, _convert, parser=_parse
        )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:  # noqa: ARG001
    """Declare the operator of an estimator and its outputs."""
    types = import_module("skl2onnx.common.data_types")
    alias = import_module("skl2onnx._supported_operators")._get_sklearn_operator_name(type(model))
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = inputs
    label = types.StringTensorType if _label_array(model.classes_).dtype == object else types.Int64TensorType
    operator.outputs.append(scope.declare_local_variable("label", label()))
    operator.outputs.append(scope.declare_local_variable("scores", types.DoubleTensorType()))
    return list(operator.outputs)


def _declare_shapes(operator: Any) -> None:
    classes = len(operator.raw_operator.classes_)
    label, scores = operator.outputs
    label.type.shape = [None]
    scores.type.shape = [None] if classes == 2 else [None, classes]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of an estimator."""
    network = network_of(operator.raw_operator)
    builder = _Container(_library("onnx"), scope, container)
    double = builder.onnx.TensorProto.DOUBLE
    x = builder.node("Cast", operator.inputs[0].full_name, to=double)
    scores = _last_outputs(builder, x, network)
    labels = _label_array(network.classes)
    labels = labels if labels.dtype == object else labels.astype(np.int64)
    label, shown = (output.full_name for output in operator.outputs)
    builder.node(
        "Gather", builder.constant(labels), _class_index(builder, scores, network), axis=0, out=label
    )
    builder.node("Identity", _decision(builder, scores, network), out=shown)


def _last_outputs(builder: _Graph, x: str, network: ExportedNetwork) -> str:
    """Return the last outputs, (n, K)."""
    for operator, numbers in () if network.scale is None else network.scale.steps:
        x = builder.node(operator, x, builder.constant(np.array(numbers)))
    for number, (coef, intercept) in enumerate(network.layers):
        if number > 0:
            x = builder.node(_ACTIVATIONS[network.activation], x)
        product = builder.node("MatMul", x, builder.constant(np.ascontiguousarray(coef.T)))
        x = builder.node("Add", product, builder.constant(intercept))
    return x


def _decision(builder: _Graph, scores: str, network: ExportedNetwork) -> str:
    """Return what ``decision_function`` does: (n,) for two classes, else (n, K)."""
    if len(network.classes) > 2:
        return scores
    if len(network.layers[-1][0]) == 1:
        return builder.node("Squeeze", scores, _integer_constant(builder, 1))
    first, second = (
        builder.node("Gather", scores, builder.constant(np.array(k, dtype=np.int64)), axis=1) for k in (0, 1)
    )
    return builder.node("Sub", second, first)


def _class_index(builder: _Graph, scores: str, network: ExportedNetwork) -> str:
    """Return the index of the class that is predicted; of equal scores the first."""
    if len(network.classes) > 2:
        return builder.node("ArgMax", scores, axis=1, keepdims=0)
    score, zero = _decision(builder, scores, network), builder.constant(np.zeros(1))
    if network.positive_at_zero:
        positive = builder.node("Not", builder.node("Less", score, zero))
    else:
        positive = builder.node("Greater", score, zero)
    return builder.node("Cast", positive, to=_INT64)


def _probabilities(builder: _Graph, scores: str, width: int) -> str:
    if width > 1:
        return builder.node("Softmax", scores, axis=1)
    positive = builder.node("Sigmoid", scores)
    negative = builder.node("Sub", builder.constant(np.ones(1)), positive)
    return builder.node("Concat", negative, positive, axis=1)


def _calibrated(builder: _Graph, scores: str, calibration: Calibration, classes: int) -> str:
    """Return probabilities (n, C) of scores (n, K), or of those of two classes (n,)."""
    if classes == 2:
        scores = builder.node("Unsqueeze", scores, _integer_constant(builder, 1))
    scaled = builder.node("Mul", scores, builder.constant(calibration.slope))
    scaled = builder.node("Add", scaled, builder.constant(calibration.intercept))
    if calibration.method == "temperature" or classes == 2:
        return _probabilities(builder, scaled, 1 if classes == 2 else classes)
    each = builder.node("Sigmoid", scaled)
    total = builder.node("ReduceSum", each, _integer_constant(builder, 1), keepdims=1)
    equal = builder.constant(np.full((1, classes), 1.0 / classes))
    zero = builder.constant(np.zeros((1, 1)))
    is_some = builder.node("Greater", total, zero)
    return builder.node("Where", is_some, builder.node("Div", each, total), equal)


def _integer_constant(builder: _Graph, *values: int) -> str:
    return builder.constant(np.array(values, dtype=np.int64))


def _label_array(classes: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return classes in a type that runtimes have; strings as objects, as the library onnx takes them."""
    classes = np.array(classes.tolist())  # integers of any width become int64
    return classes.astype(object) if classes.dtype.kind == "U" else classes


class _Graph:
    """What nodes are added to: a graph of our own."""

    def __init__(self, onnx: ModuleType) -> None:
        self.onnx, self.nodes, self.constants = onnx, [], []  # type: ignore[var-annotated]

    def constant(self, values: NDArray[np.generic]) -> str:
        """Return the name of an array that is part of the graph."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, operator: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        name = out or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name


class _Container(_Graph):
    """The graph of a pipeline, that skl2onnx makes."""

    def __init__(self, onnx: ModuleType, scope: Any, container: Any) -> None:
        super().__init__(onnx)
        self.scope, self.container = scope, container

    def constant(self, values: NDArray[np.generic]) -> str:
        name: str = self.scope.get_unique_variable_name("constant")
        tensor = self.onnx.numpy_helper.from_array(np.asarray(values), name)
        if tensor.data_type == self.onnx.TensorProto.STRING:  # skl2onnx would copy them as raw bytes
            self.container.add_initializer(
                name, tensor.data_type, list(tensor.dims), list(tensor.string_data)
            )
        else:
            self.container.add_initializer(name, tensor.data_type, None, tensor)
        return name

    def node(self, operator: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        name: str = out or self.scope.get_unique_variable_name(operator.lower())
        attributes["name"] = self.scope.get_unique_operator_name(operator)
        self.container.add_node(operator, list(inputs), [name], **attributes)
        return name


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(f"this needs the package {name}: pip install {name}") from error
