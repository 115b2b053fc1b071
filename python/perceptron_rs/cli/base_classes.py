"""Base classes of estimators in the process of a command: to import those of scikit-learn takes a while.

Values were looked at when options were parsed or a file was read. Nobody clones or shows an estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Self, TypeVar

from perceptron_rs.estimator_attributes import remembered

T = TypeVar("T")


class ConvergenceWarning(UserWarning):
    """As scikit-learn's."""


class InvalidParameterError(ValueError, TypeError):
    """As scikit-learn's."""


@remembered
def _parameter_names(kind: Any) -> list[str]:
    return sorted(name for name in signature(kind.__init__).parameters if name != "self")


class BaseEstimator:
    """Parameters by name."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return _parameter_names(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  nothing is nested
        """Return the parameters."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set some parameters."""
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the tags of a classifier, for what scikit-learn itself is called to do."""
        from sklearn import base

        return type("Classifier", (base.ClassifierMixin, base.BaseEstimator), {})().__sklearn_tags__()


class CallbackSupportMixin:
    """Nothing to mix in."""


class ClassifierMixin:
    """Nothing to mix in."""


class TransformerMixin:
    """Nothing to mix in."""


def unchanged(method: T) -> T:
    """Return a method as it is."""
    return method


with_callbacks = unchanged


def fit_context(**_: bool) -> Callable[[T], T]:
    """Return what leaves a method as it is."""
    return unchanged


def nothing(*_: object) -> None:
    """Do nothing."""


check_constraints = nothing
