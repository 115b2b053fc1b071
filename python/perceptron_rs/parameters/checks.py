"""What is refused of the parameters of learners, and what was accepted before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from functools import wraps
from numbers import Integral
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from perceptron_rs.arrays.likes import imported
from perceptron_rs.arrays.scalars import number
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import Method, attributes, parameter_names, remembered
from perceptron_rs.mixing.rounds import is_whole
from perceptron_rs.parameters.exclusions import check_exclusions
from perceptron_rs.parameters.groups import EpochParameters, UpdateParameters, group_of
from perceptron_rs.parameters.ranges import LARGEST
from perceptron_rs.sklearn_base import check_constraints, fit_context

if TYPE_CHECKING:
    from perceptron_rs.sklearn_base import BaseEstimator


#: Scalars of Python and NumPy, which hold nothing of others.
_SCALARS = frozenset(
    {type(None), bool, int, float, str}
    | {kind for kind in np.sctypeDict.values() if issubclass(kind, np.number | np.bool_ | np.str_)}
)
_MOST_KNOWN = 64

#: Types of settings that a parameter of the same name gives its value.
_CONVERTERS: dict[str, Callable[[Any], Any]] = {"bool": bool, "float": float, "int": int, "str": str.__str__}


def check_values(estimator: BaseEstimator) -> None:
    """Raise ValueError for a parameter that is not what it may be.

    scikit-learn does not look at them in ``partial_fit`` once an estimator is fitted.
    """
    if are_valid(estimator):
        return
    kind, parameters = type(estimator), estimator.get_params()
    get_config = imported("sklearn", "get_config")  # a setting of users; and scikit-learn's within a fit
    if get_config is None or not get_config()["skip_parameter_validation"]:
        check_constraints(kind, parameters)
        return
    for name, value in parameters.items():  # a whole number may be in a range without an upper end
        if isinstance(value, Integral) and number(int(value)) is None:
            raise ValueError(f"{name} must be a number that float64 holds, got {value!s:.80}")


def check_parameters(estimator: BaseEstimator, *, for_partial_fit: bool = False) -> None:
    """Refuse values that are not allowed, and combinations that have no meaning."""
    check_values(estimator)
    if for_partial_fit:
        _check_pass(estimator)
    if not _remembered(_combine, estimator):
        check_exclusions(estimator, group_of(type(estimator)))


def parameters_in_memory(kind: type) -> list[Field[Any]]:
    """Return the parameters of a learner that take all examples in memory, as their declarations say."""
    return [parameter for parameter in fields(group_of(kind)) if parameter.metadata["in_memory"]]


def parameters_without_effect(kind: type) -> frozenset[str]:
    """Return the names of the parameters on which no number depends that a learner learns or predicts."""
    declared = fields(group_of(kind))
    return frozenset(parameter.name for parameter in declared if not parameter.metadata["has_effect"])


def _check_pass(estimator: BaseEstimator) -> None:
    """Raise ValueError for what a single pass over the examples does not have."""
    if isinstance(estimator, EpochParameters) and estimator.early_stopping:
        raise ArgumentError(
            "{early_stopping} is not available with {partial_fit}, which is a single pass",
            "set {early_stopping}",
            cause="single pass",
            values={"early_stopping": True},
            settings={"early_stopping": False},
        )
    if isinstance(estimator, UpdateParameters) and not is_whole(estimator.n_partitions):
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
    values = attributes(estimator, converts)
    return {name: None if value is None else converts[name](value) for name, value in values.items()}


@remembered
def _shared(kind: type, settings: type) -> list[tuple[str, Callable[[Any], Any]]]:
    parameters = {parameter.name for parameter in fields(group_of(kind))}
    return [
        (setting.name, _CONVERTERS[of_type])
        for setting in fields(settings)
        if setting.init and setting.name in parameters
        if (of_type := str(setting.type).removesuffix(" | None")) in _CONVERTERS
    ]


def is_aggressive(estimator: BaseEstimator) -> bool:
    """Whether the steps are passive-aggressive."""
    return isinstance(estimator, UpdateParameters) and estimator.step != "constant"


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
    return _remembered(check_constraints, estimator)


def _remembered(check: Callable[[Any, dict[str, object]], None], estimator: BaseEstimator) -> bool:
    kind: Any = type(estimator)
    try:
        values = _values(kind)(estimator)
        key = _key(values)
        known = _known(kind, check)
        if key not in known:
            if key is None:
                return False
            check(kind, dict(zip(parameter_names(kind), values, strict=True)))
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known.add(key)
        return True
    except (AttributeError, TypeError, ValueError):
        return False  # wrong: scikit-learn says so


def _key(values: Iterable[Any]) -> tuple[Any, ...] | None:
    """Return values with their types, for 1.0 is not 1; None if there is one that may hold what others own.

    What is remembered stays alive: a kernel, a generator, a client, a key.
    """
    values = tuple(values)
    types = tuple(map(type, values))
    if not _SCALARS.issuperset(types):
        parts = [_parts(value) for value in values]
        return None if None in parts else (types, *parts)
    return types, values


def _parts(value: Any) -> Any:
    """Return what a list, a tuple or a dict holds, as `_key` does; a scalar as it is."""
    if type(value) is dict:
        value = [part for pair in value.items() for part in pair]
    elif type(value) not in (list, tuple):
        return (value,) if type(value) in _SCALARS else None
    return _key(value)


@remembered
def _known(kind: Any, check: Callable[..., None]) -> set[Any]:  # noqa: ARG001
    """Return the values with which a class has passed a check."""
    return set()


@remembered
def _values(kind: Any) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*parameter_names(kind))


def _combine(kind: type, parameters: dict[str, object]) -> None:
    check_exclusions(SimpleNamespace(**parameters), group_of(kind))


def _accept(kind: Any, parameters: dict[str, object]) -> None:
    made = kind(**parameters)
    if not are_valid(made):
        raise ValueError("a parameter is not what it may be")
    made._check_parameters(for_partial_fit=True)
