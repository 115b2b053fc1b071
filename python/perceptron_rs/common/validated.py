"""scikit-learn's look at the parameters, done once for each choice of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from operator import attrgetter
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.utils._param_validation import validate_parameter_constraints

__all__ = ["are_accepted", "validated"]

Method = TypeVar("Method", bound=Callable[..., Any])


def validated(method: Method) -> Method:
    """Let scikit-learn validate the parameters before each call, unless it has accepted just these before.

    For a small batch its validation takes longer than learning.
    """
    checked = _fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        return (method if are_accepted(self) else checked)(self, *args, **options)

    return cast("Method", call)


def are_accepted(estimator: Any) -> bool:
    """Whether the parameters are valid for a pass; False also if that cannot be remembered."""
    if estimator.callback is not None or "_skl_callbacks" in vars(estimator):
        return False
    kind: Any = type(estimator)
    try:
        return _accept(kind, *_values(kind)(estimator))
    except (AttributeError, TypeError, ValueError):
        return False  # unhashable, or wrong: scikit-learn says so


@lru_cache(maxsize=64)
def _values(kind: Any) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*kind._get_param_names())


@lru_cache(maxsize=64, typed=True)  # 1.0 is not 1
def _accept(kind: Any, *values: Any) -> bool:
    parameters = dict(zip(kind._get_param_names(), values, strict=True))
    validate_parameter_constraints(kind._parameter_constraints, parameters, caller_name=kind.__name__)
    kind(**parameters)._check_parameters(for_partial_fit=True)
    return True
