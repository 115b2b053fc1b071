# ruff: noqa: D101, D102, D103 -- scikit-learn documents them
"""What takes the place of scikit-learn's base classes in a process that learns, writes a model and ends.

Importing scikit-learn takes longer than learning from 100 MB of text. The command line needs it neither to
check parameters, which its parser has done, nor for anything that others do with an estimator. `typed`
chooses between the two when an estimator is first imported.
"""

from __future__ import annotations

import sys
from inspect import signature
from typing import Any, Self

__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "Interval",
    "NotFittedError",
    "StrOptions",
    "TransformerMixin",
    "check_is_fitted",
    "fit_context",
    "is_wanted",
    "validate_parameter_constraints",
    "want",
    "with_callbacks",
]

_wanted = False


def want() -> None:
    """Let estimators do without scikit-learn in this process, if nobody has imported it yet."""
    global _wanted
    _wanted = "sklearn" not in sys.modules


def is_wanted() -> bool:
    """Whether estimators do without."""
    return _wanted


class BaseEstimator:
    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  no parameter is an estimator
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            setattr(self, name, value)
        return self


class ClassifierMixin:
    pass


class TransformerMixin:
    pass


class CallbackSupportMixin:
    pass


class NotFittedError(ValueError, AttributeError):
    pass


class ConvergenceWarning(UserWarning):
    pass


class Interval:
    def __init__(self, *limits: Any, closed: str) -> None:
        pass


class StrOptions:
    def __init__(self, options: set[str]) -> None:
        pass


def validate_parameter_constraints(*_: Any, caller_name: str) -> None:
    pass


def check_is_fitted(estimator: Any, attributes: Any = None) -> None:  # noqa: ARG001
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
        raise NotFittedError(f"this {type(estimator).__name__} instance is not fitted yet; call fit first")


def fit_context(*, prefer_skip_nested_validation: bool) -> Any:  # noqa: ARG001
    return with_callbacks


def with_callbacks(method: Any) -> Any:
    return method
