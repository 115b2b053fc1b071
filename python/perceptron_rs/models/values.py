"""Parameters, classes and calibrations of an estimator as JSON and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.arrays.scalars import number
from perceptron_rs.audit import NOT_SAVED
from perceptron_rs.choices import CalibrationMethod, words
from perceptron_rs.models.document import Tensors, json_scalar
from perceptron_rs.parameters.kinds import AMOUNT
from perceptron_rs.prediction.predictor import Classifier, Predictor
from perceptron_rs.probabilities import Calibration
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import is_random_state
from perceptron_rs.targets.planes import is_multilabel

if TYPE_CHECKING:
    from perceptron_rs.prediction.estimator import Estimator


def values_to_json(parameters: dict[str, object]) -> dict[str, object]:
    """Return parameters as JSON; ValueError for a value that JSON cannot hold."""
    values: dict[str, object] = {}
    for name, value in parameters.items():
        if name in NOT_SAVED:
            continue
        if name == "random_state" and is_random_state(value):
            raise ValueError(
                "random_state is a RandomState, which a model file cannot hold; set an integer instead, for "
                "instance with set_params(random_state=0), or pickle the estimator"
            )
        try:
            if isinstance(value, dict):  # as pairs, for the keys of JSON are strings alone
                values[name] = [[*map(json_scalar, pair)] for pair in value.items()]
            else:
                values[name] = _parameter_to_json(value)
        except TypeError:
            if callable(value):
                raise ValueError(
                    f"{name} is a function, which a model file cannot hold; pickle the estimator"
                ) from None
            raise ValueError(
                f"{name}={value!r:.80} cannot be written to a model file; set it to a finite Python "
                f"number, a string or None (class_weight: to a dict of these)"
            ) from None
    return values


def _parameter_to_json(value: object) -> Any:
    """Return a value as JSON; a list or an array comes back as a tuple."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_parameter_to_json(part) for part in value]
    return json_scalar(value)


def all_parameters(group: type, description: object, learner: str) -> dict[str, object]:
    """Return all parameters of a group, with its defaults; ValueError for a wrong value."""
    names = [parameter.name for parameter in fields(group)]
    parameters = parameters_from_json(description, names, learner)
    for parameter in fields(group):
        if parameter.name in NOT_SAVED or parameter.name not in parameters:
            parameters[parameter.name] = parameter.default
        elif not parameter.metadata["values"].accepts(parameters[parameter.name]):
            raise ValueError(f"its parameter {parameter.name} cannot be {parameters[parameter.name]!r:.80}")
    return parameters


def parameters_from_json(description: object, names: Iterable[str], learner: str) -> dict[str, object]:
    """Return the arguments of the learner's constructor; ValueError if it does not take them.

    Parameters that are missing in the description were added to the learner later: they get their defaults.
    """
    if not isinstance(description, dict):
        raise ValueError("its parameters must be a JSON object")
    unknown = sorted(set(description) - (set(names) - set(NOT_SAVED)))
    if unknown:
        raise ValueError(
            f"{learner} of this version has no parameter {unknown[0]!r:.80}; "
            f"the file needs a newer perceptrons"
        )
    parameters = dict(description)
    for name, value in parameters.items():
        if name == "class_weight" and isinstance(value, list):
            parameters[name] = _weights_from_json(value)
        elif isinstance(value, list):
            parameters[name] = _tuples(value)
        elif isinstance(value, dict):
            raise ValueError(f"its parameter {name} must not be a JSON {type(value).__name__}")
    return parameters


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _weights_from_json(pairs: list[object]) -> dict[Any, float]:
    weights: dict[Any, float] = {}
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int | float)):
            raise ValueError("its parameter class_weight must hold pairs of a label and a weight")
        label, weight = pair[0], number(pair[1])
        if weight is None or not AMOUNT.accepts(weight) or label in weights:
            raise ValueError("its parameter class_weight must hold one number of at least 0 for each label")
        weights[label] = weight
    return weights


def checked(estimator: Estimator) -> None:
    """Raise ValueError if a parameter is not one that ``fit`` accepts."""
    try:
        estimator._validate_params()
        estimator._check_parameters()
    except TypeError as error:
        raise ValueError(str(error)) from None


#: The types of labels in files, and what Python has for each.
_TYPES = {
    **dict.fromkeys(("str", "object"), str),
    "bool": bool,
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), int),
    **dict.fromkeys(("float16", "float32", "float64"), float),
}


def classes_to_json(classes: ArrayLike) -> dict[str, object]:
    """Return the type and the values of ``classes``; ValueError for a type that files do not hold.

    A string type is written as "str" and comes back as wide as the longest name.
    """
    classes = np.asarray(classes)
    kind, name = classes.dtype.kind, classes.dtype.name
    if kind == "U":
        name = "str"
    elif kind == "O" and all(isinstance(label, str) for label in classes):
        name = "object"
    elif name not in _TYPES or kind == "O":
        remedy = "float" if kind == "f" else "str"
        raise ValueError(
            f"classes_ has the dtype {classes.dtype}, which a model file cannot hold; fit on other labels, "
            f"or set classes_ = classes_.astype({remedy}) before saving"
        )
    return {"type": name, "values": [json_scalar(label) for label in classes.tolist()]}


def classes_from_json(description: object, *, least: int = 2) -> NDArray[np.generic]:
    """Return the array that the description says; ValueError for one that no fit can have made."""
    if not isinstance(description, dict) or set(description) != {"type", "values"}:
        raise ValueError("its classes need a type and values")
    name, values = description["type"], description["values"]
    if not isinstance(values, list) or len(values) < least:
        raise ValueError(f"its classes must be a list of {least} or more")
    needed = _TYPES.get(name) if isinstance(name, str) else None
    if needed is None:
        raise ValueError(f"its classes have the unknown type {name!r:.80}")
    if any(type(value) is not needed for value in values):
        raise ValueError(f"its classes must all be of the type {name}")
    if needed is int and not np.iinfo(name).min <= min(values) <= max(values) <= np.iinfo(name).max:
        raise ValueError(f"its classes must all be of the type {name}")
    with np.errstate(over="ignore"):
        classes = np.array(values, dtype=np.dtype(name))
    if classes.tolist() != values:  # a float that is rounded, a string that ends with NUL
        raise ValueError(f"its classes must all be of the type {name}")
    if any(not low < high for low, high in pairwise(values)):
        raise ValueError("its classes must be sorted and distinct")
    return classes


#: What the names of the tensors begin with.
_START = "calibration_"
_SCORES = {"prediction": str, "normalize": bool, "tie": str}


def calibration_to_json(model: Predictor) -> dict[str, object] | None:
    """Return what a file says of the calibration of a model, but for its numbers; None if there is none."""
    calibration = learnt_of(model).calibration
    return None if calibration is None else {"method": calibration.method, "scores": dict(calibration.scores)}


def calibration_tensors(model: Predictor) -> Tensors:
    """Return its numbers."""
    fitted = learnt_of(model).calibration
    return {} if fitted is None else {f"{_START}slope": fitted.slope, f"{_START}intercept": fitted.intercept}


def calibration_from_json(description: object, model: Predictor, tensors: Tensors) -> Calibration:
    """Return the calibration of a file, and take its tensors; ValueError if it is unsound."""
    if not isinstance(model, Classifier):
        raise ValueError("it has a calibration, but does not hold a classifier")
    if not isinstance(description, dict) or set(description) != {"method", "scores"}:
        raise ValueError("its calibration must hold a method and scores")
    method, scores = description["method"], description["scores"]
    if method not in words(CalibrationMethod) or (method == "temperature" and is_multilabel(model)):
        raise ValueError(f"the method of its calibration does not go with the model, got {method!r:.80}")
    if not isinstance(scores, dict) or any(
        type(value) is not _SCORES.get(name) or not hasattr(model, name) for name, value in scores.items()
    ):
        raise ValueError(f"the scores of its calibration must hold parameters of it, got {scores!r:.80}")
    n = len(model.classes_)
    size = 1 if method == "temperature" or (n == 2 and not is_multilabel(model)) else n
    numbers: list[Any] = [tensors.pop(f"{_START}{name}", None) for name in ("slope", "intercept")]
    for array in numbers:
        if array is None or array.dtype != np.float64 or array.shape != (size,):
            raise ValueError(f"the tensors {_START}... must be vectors of {size} float64 numbers")
        if not np.isfinite(array).all():
            raise ValueError(f"the tensors {_START}... must hold finite numbers")
    if method == "temperature" and (numbers[0][0] < 0 or numbers[1][0] != 0):
        raise ValueError("the slope of a temperature must be at least 0, and its intercept 0")
    return Calibration(method, numbers[0], numbers[1], scores)
