"""Networks as graphs in the format ONNX: on their own, and within a pipeline of skl2onnx.

A graph multiplies matrices, or, to have the bits of this package in any runtime, adds up as rule 3 of
ARITHMETIC.md says: in eight lanes, by a ``Scan`` that takes eight columns after another.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.models.exporting import Exported, ExportedNetwork, network_of
from perceptron_rs.probabilities import Calibration

#: Of the operators, and of the file: both can be read by runtimes from 2022 on.
_OPSET, _FILE_VERSION = 17, 8
_LANES = 8
_INT64 = 7  # TensorProto.INT64
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


def to_onnx(network: ExportedNetwork, *, exact: bool) -> Any:
    """Return an ``onnx.ModelProto``."""
    onnx = _library("onnx")
    builder = _Graph(onnx)
    scores = _last_outputs(builder, "X", network, exact)
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
            kind,
            f"PerceptronRs{kind.__name__}",
            _declare_shapes,
            _convert,
            parser=_parse,
            options={"exact": [False, True]},
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
    model = operator.raw_operator
    network = network_of(model)
    exact = container.get_options(model, {"exact": False}).get("exact", False)
    builder = _Container(_library("onnx"), scope, container)
    double = builder.onnx.TensorProto.DOUBLE
    x = builder.node("Cast", operator.inputs[0].full_name, to=double)
    scores = _last_outputs(builder, x, network, exact)
    labels = _label_array(network.classes)
    labels = labels if labels.dtype == object else labels.astype(np.int64)
    label, shown = (output.full_name for output in operator.outputs)
    builder.node(
        "Gather", builder.constant(labels), _class_index(builder, scores, network), axis=0, out=label
    )
    builder.node("Identity", _decision(builder, scores, network), out=shown)


def _last_outputs(builder: _Graph, x: str, network: ExportedNetwork, exact: bool) -> str:
    """Return the last outputs, (n, K)."""
    dot = _dot_in_lanes if exact else _matrix_product
    if exact and network.activation not in ("", "relu"):
        raise ValueError(
            f"exact=True is not available with activation={network.activation!r}, which each runtime "
            f"computes in its own way; set exact=False"
        )
    for operator, numbers in () if network.scale is None else network.scale.steps:
        x = builder.node(operator, x, builder.constant(np.array(numbers)))
    for number, (coef, intercept) in enumerate(network.layers):
        if number > 0:
            x = builder.node(_ACTIVATIONS[network.activation], x)
        x = builder.node("Add", dot(builder, x, coef), builder.constant(intercept))
    return x


def _matrix_product(builder: _Graph, x: str, coef: NDArray[np.float64]) -> str:
    return builder.node("MatMul", x, builder.constant(np.ascontiguousarray(coef.T)))


def _dot_in_lanes(builder: _Graph, x: str, coef: NDArray[np.float64]) -> str:
    """Return the dot products of rule 3: column j is added to lane j mod 8, then lanes to lanes."""
    outputs, columns = coef.shape
    steps = -(-columns // _LANES)
    weights = np.zeros((outputs, steps * _LANES))
    weights[:, :columns] = coef
    of_step = np.ascontiguousarray(weights.reshape(outputs, steps, _LANES).transpose(1, 0, 2))
    padded = builder.node("Pad", x, _integer_constant(builder, 0, 0, 0, steps * _LANES - columns))
    cut = builder.node("Reshape", padded, _integer_constant(builder, 0, steps, _LANES))
    shape = builder.node(
        "Concat",
        builder.node("Shape", x, start=0, end=1),
        _integer_constant(builder, outputs, _LANES),
        axis=0,
    )
    nothing = builder.node("Expand", builder.constant(np.zeros((1, 1, 1))), shape)
    # Adds products of rows (n, steps, 8) and weights (steps, K, 8) to lanes (n, K, 8), step by step.
    rows = (cut, builder.constant(of_step))
    body = _lane_step(builder.onnx)
    lanes = builder.node("Scan", nothing, *rows, body=body, num_scan_inputs=2, scan_input_axes=[1, 0])
    for half in (4, 2, 1):
        low, high = (
            builder.node("Gather", lanes, _integer_constant(builder, *range(begin, begin + half)), axis=2)
            for begin in (0, half)
        )
        lanes = builder.node("Add", low, high)
    return builder.node("Squeeze", lanes, _integer_constant(builder, 2))


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


def _lane_step(onnx: Any) -> Any:
    """Return the body of the scan: lanes + row * weights, for eight columns of all rows and planes."""
    describe, double = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    make = onnx.helper.make_node
    return onnx.helper.make_graph(
        [
            make("Unsqueeze", ["row", "axis"], ["spread"]),
            make("Mul", ["spread", "weights"], ["products"]),
            make("Add", ["lanes", "products"], ["lanes_after"]),
        ],
        "eight_columns",
        [describe(name, double, None) for name in ("lanes", "row", "weights")],
        [describe("lanes_after", double, None)],
        [onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "axis")],
    )


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(f"this needs the package {name}: pip install {name}") from error
