"""What is refused of the parameters of learners, and what was accepted before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import Field, fields
from functools import lru_cache, wraps
from numbers import Integral
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn import get_config

from perceptron_rs.common.mixing import is_whole
from perceptron_rs.common.options.groups import PartitionParameters, StepParameters, group_of
from perceptron_rs.common.options.ranges import LARGEST
from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.estimator_attributes import attributes, parameter_names
from perceptron_rs.sklearn_base import fit_context, validate_parameter_constraints

if TYPE_CHECKING:
    from perceptron_rs.common.training.train import Trainable
    from perceptron_rs.sklearn_base import BaseEstimator

__all__ = [
    "are_accepted",
    "are_valid",
    "check_exclusions",
    "check_parameters",
    "check_values",
    "draw_seed",
    "is_aggressive",
    "parameters_in_memory",
    "shared_settings",
    "validated",
]

Method = TypeVar("Method", bound=Callable[..., Any])

_MOST = int(sys.float_info.max)

#: Types of settings that a parameter of the same name gives its value.
_PLAIN: dict[str, Callable[[Any], Any]] = {"bool": bool, "float": float, "int": int, "str": str}


def check_values(estimator: BaseEstimator) -> None:
    """Raise ValueError for a parameter that is not what it may be.

    scikit-learn does not look at them in ``partial_fit`` once an estimator is fitted.
    """
    if not are_valid(estimator):
        _check_all(type(estimator), estimator.get_params())


def check_parameters(estimator: Trainable, *, for_partial_fit: bool = False) -> None:
    """Refuse values that are not allowed, and combinations that have no meaning."""
    check_values(estimator)
    if for_partial_fit:
        _check_pass(estimator)
    check_exclusions(estimator)


def parameters_in_memory(kind: type) -> list[Field[Any]]:
    """Return the parameters of a learner that take all examples in memory, as their declarations say."""
    return [parameter for parameter in fields(group_of(kind)) if parameter.metadata["in_memory"]]


def _check_pass(estimator: Trainable) -> None:
    """Raise ValueError for what a single pass over the examples does not have."""
    if estimator.early_stopping:
        raise ArgumentError(
            "{early_stopping} is not available with {partial_fit}, which is a single pass",
            "set {early_stopping}",
            cause="single pass",
            values={"early_stopping": True},
            settings={"early_stopping": False},
        )
    if isinstance(estimator, PartitionParameters) and not is_whole(estimator.n_partitions):
        raise ArgumentError(
            "{n_partitions} is not available with {partial_fit}, which is a single pass over all examples",
            "set {n_partitions}",
            cause="single pass",
            values={"n_partitions": estimator.n_partitions},
            settings={"n_partitions": 1},
        )
    class_weight = vars(estimator).get("class_weight")
    if isinstance(class_weight, str):
        raise ArgumentError(
            "{class_weight} is not supported for {partial_fit}",
            f"compute the weights from a sample with compute_class_weight({class_weight!r}, classes=classes, "
            f"y=y) and give a dict",
            cause="single pass",
            values={"class_weight": class_weight},
        )


def shared_settings(estimator: BaseEstimator, settings: type) -> dict[str, Any]:
    """Return the settings of a run that are parameters of the estimator under the same name."""
    kind: type = estimator.__class__
    # Asked of the object: a subclass may make a property of a parameter.
    converts = dict(_shared(kind, settings))
    given = attributes(estimator, converts)
    return {name: None if value is None else converts[name](value) for name, value in given.items()}


@lru_cache(maxsize=64)
def _shared(kind: type, settings: type) -> list[tuple[str, Callable[[Any], Any]]]:
    parameters = {parameter.name for parameter in fields(group_of(kind))}
    return [
        (setting.name, _PLAIN[of_type])
        for setting in fields(settings)
        if setting.init and setting.name in parameters
        if (of_type := str(setting.type).removesuffix(" | None")) in _PLAIN
    ]


def is_aggressive(estimator: BaseEstimator) -> bool:
    """Whether the steps are passive-aggressive."""
    return isinstance(estimator, StepParameters) and estimator.step != "constant"


def check_exclusions(estimator: BaseEstimator) -> None:
    """Refuse parameters that exclude each other, as their declarations say (``excludes``)."""
    kind: type = estimator.__class__
    for parameter, others in _exclusions(kind):
        name, value = parameter.name, getattr(estimator, parameter.name)
        if value is parameter.default or (np.size(value) == 1 and np.ravel(value)[0] == parameter.default):
            continue
        for other, without in others:
            needs = other.metadata["needs"].items()
            set_to = getattr(estimator, other.name)
            if set_to != without and all(getattr(estimator, needed) in some for needed, some in needs):
                because = parameter.metadata["because"]
                raise OptionsError(
                    f"{{{other.name}}} is not available with {{{name}}}"
                    + (f", {because}" if because else ""),
                    f"set {{{other.name}}} or {{{name}}}",
                    values={other.name: set_to, name: value},
                    settings={other.name: without, name: parameter.default},
                )


@lru_cache(maxsize=64)
def _exclusions(kind: type) -> list[tuple[Field[Any], list[tuple[Field[Any], Any]]]]:
    """Return the parameters of a learner that exclude values of others of its own."""
    declared = {parameter.name: parameter for parameter in fields(group_of(kind))}
    pairs = (
        (parameter, [(declared[name], value) for name, value in excludes.items() if name in declared])
        for parameter in declared.values()
        if (excludes := parameter.metadata["excludes"])
    )
    return [(parameter, others) for parameter, others in pairs if others]


def draw_seed(random_state: object) -> int:
    """Return an integer ``random_state`` itself, or a number drawn from the generator."""
    if isinstance(random_state, Integral):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(LARGEST))


def validated(method: Method) -> Method:
    """Validate the parameters before each pass, unless just these have been accepted before.

    For a small batch scikit-learn's validation takes longer than learning.
    """

    @wraps(method)
    def looked_at(self: Any, *args: Any, **options: Any) -> Any:
        self._check_parameters(for_partial_fit=True)
        return method(self, *args, **options)

    checked = fit_context(prefer_skip_nested_validation=True)(looked_at)

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        if are_accepted(self):
            return method(self, *args, **options)
        check_values(self)  # within `checked` scikit-learn's setting says to skip it
        return checked(self, *args, **options)

    return cast("Method", call)


def are_accepted(estimator: BaseEstimator) -> bool:
    """Whether the parameters are valid for a pass; False also if that cannot be remembered."""
    return "_skl_callbacks" not in vars(estimator) and _remembered(_accept, estimator)


def are_valid(estimator: BaseEstimator) -> bool:
    """Whether all parameters are what they may be; False also if that cannot be remembered."""
    return _remembered(_validate, estimator)


def _remembered(check: Callable[..., bool], estimator: BaseEstimator) -> bool:
    if vars(estimator).get("callback") is not None:
        return False  # it would be kept alive
    kind: Any = type(estimator)
    try:
        values = _values(kind)(estimator)
        if dict in map(type, values):
            values = tuple(_Items(value.items()) if type(value) is dict else value for value in values)
        return check(kind, *values)
    except (AttributeError, TypeError, ValueError):
        return False  # unhashable, or wrong: scikit-learn says so


class _Items(tuple[Any, ...]):
    """What a dict holds, which can be remembered."""


def _parameters_by_name(kind: Any, values: tuple[Any, ...]) -> dict[str, object]:
    given = (dict(value) if type(value) is _Items else value for value in values)
    return dict(zip(parameter_names(kind), given, strict=True))


@lru_cache(maxsize=64)
def _values(kind: Any) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*parameter_names(kind))


@lru_cache(maxsize=64, typed=True)  # 1.0 is not 1
def _validate(kind: Any, *values: Any) -> bool:
    parameters = _parameters_by_name(kind, values)
    _check_constraints(kind, parameters)
    return True


def _check_all(kind: Any, parameters: dict[str, object]) -> None:
    """Raise ValueError for a value of a parameter that is not allowed."""
    if not get_config()["skip_parameter_validation"]:  # a setting of users; and scikit-learn's within a fit
        _check_constraints(kind, parameters)
    else:
        _assert_float64(parameters)


def _check_constraints(kind: type[BaseEstimator], parameters: dict[str, object]) -> None:
    """Let scikit-learn look at each value, and see that float64 holds it."""
    validate_parameter_constraints(kind._parameter_constraints, parameters, caller_name=kind.__name__)
    _assert_float64(parameters)


def _assert_float64(parameters: dict[str, object]) -> None:
    """Raise ValueError for a whole number that no float64 holds, in a range without an upper end."""
    for name, value in parameters.items():
        if isinstance(value, Integral) and abs(int(value)) > _MOST:
            raise ValueError(f"{name} must be a number that float64 holds, got {value!s:.80}")


@lru_cache(maxsize=64, typed=True)
def _accept(kind: Any, *values: Any) -> bool:
    _validate(kind, *values)
    kind(**_parameters_by_name(kind, values))._check_parameters(for_partial_fit=True)
    return True
