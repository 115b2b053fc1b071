"""The parameters of an estimator as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.arrays.scalars import number
from perceptron_rs.audit import NOT_SAVED
from perceptron_rs.models.document import json_scalar
from perceptron_rs.parameters.kinds import AMOUNT
from perceptron_rs.state.turns import is_random_state

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
