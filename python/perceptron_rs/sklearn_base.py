# ruff: noqa: D101, D102, D103 -- scikit-learn documents them
"""scikit-learn's base classes, with the types that it does not declare.

To a type checker, a class that derives from an untyped one has every attribute, and an untyped decorator
hides what it decorates. So would each estimator here, and a misspelt ``coef_`` would go unseen.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy import bool_, ndarray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from perceptron_rs.estimator_attributes import remembered
from perceptron_rs.notebook import learnt

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, Self

    Request: TypeAlias = bool | str | None

    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest

    from perceptron_rs.estimator_attributes import Method

    class BaseEstimator:
        _parameter_constraints: ClassVar[dict[str, list[object]]]

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> MetadataRequest: ...
        def set_fit_request(self, **requests: Request) -> Self: ...
        def set_partial_fit_request(self, **requests: Request) -> Self: ...
        def set_score_request(self, **requests: Request) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __getstate__(self) -> dict[str, Any]: ...

        def _validate_params(self) -> None: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...

    class ClassifierMixin:
        def __sklearn_tags__(self) -> Any: ...
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class CallbackSupportMixin:
        def set_callbacks(self, *callbacks: Any) -> Self: ...

    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...
    def with_callbacks(method: Method) -> Method: ...
else:
    from sklearn.base import BaseEstimator as _BaseEstimator
    from sklearn.base import ClassifierMixin, TransformerMixin
    from sklearn.base import _fit_context as fit_context

    @remembered
    def _parameter_names(kind):
        return super(BaseEstimator, kind)._get_param_names()

    class BaseEstimator(_BaseEstimator):
        """scikit-learn's; its HTML shows what was learnt, and links to our documentation, if there is any."""

        _doc_link_module = "perceptron_rs"

        @classmethod
        def _get_param_names(cls):
            """Return what scikit-learn does, which reads the signature each time."""
            return _parameter_names(cls)

        @property
        def _doc_link_template(self):
            return f"{page}generated/{{page}}.html" if (page := documentation()) else ""

        def _doc_link_url_param_generator(self):
            return {"page": public_name(type(self))}

        def _repr_html_inner(self):
            return super()._repr_html_inner() + learnt(self)

        def _repr_mimebundle_(self, **kwargs):
            forms = super()._repr_mimebundle_(**kwargs)
            return forms | {"text/html": forms["text/html"] + learnt(self)} if "text/html" in forms else forms

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn 1.8 or older: no callbacks, and no ``set_callbacks``

        class CallbackSupportMixin:
            """Nothing to mix in."""

        def with_callbacks(method):
            """Return the method as it is."""
            return method


class Number(Interval):  # type: ignore[misc]
    """A range of what ``number`` makes a number."""

    def __init__(
        self, *ends: Any, closed: str, number: Callable[[object], Any], never: int | None = None
    ) -> None:
        super().__init__(*ends, closed=closed)
        self.number, self.never = number, never

    def is_satisfied_by(self, val: Any) -> bool:
        value = self.number(val)
        return value is not None and value in self and value != self.never

    def __str__(self) -> str:
        return f"{super().__str__()}{'' if self.never is None else f', but not {self.never}'}"


class ListOfNumbers(Number):
    """A list, a tuple or a vector of such numbers."""

    def is_satisfied_by(self, val: Any) -> bool:
        if not isinstance(val, list | tuple) and not (isinstance(val, ndarray) and val.ndim == 1):
            return False
        return all(super(ListOfNumbers, self).is_satisfied_by(part) for part in val)

    def __str__(self) -> str:
        return f"a list, each {super().__str__()}"


class WeightsByClass(Number):
    """A dict of such numbers by labels."""

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, dict) and all(
            (isinstance(label, str | bool | bool_) or self.number(label) is not None)
            and super(WeightsByClass, self).is_satisfied_by(weight)
            for label, weight in val.items()
        )

    def __str__(self) -> str:
        return "a dict of labels, each with a float that is finite and >= 0"


def public_name(kind: type) -> str:
    """Return the name under which the API reference lists a class: of the package, or of one within."""
    package, *within = kind.__module__.split(".")
    is_public = getattr(sys.modules[package], kind.__name__, None) is kind
    return ".".join([package, *([] if is_public else within[:1]), kind.__name__])


def documentation() -> str:
    """Return the address of the documentation, which the package may name as a project URL."""
    try:
        named = metadata("perceptrons").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for label, _, address in (entry.partition(", ") for entry in named):
        if label == "Documentation":
            return f"{address.rstrip('/')}/"
    return ""


def check_constraints(kind: type[BaseEstimator], parameters: dict[str, object]) -> None:
    """Let scikit-learn look at each value of parameters of a class."""
    validate_parameter_constraints(kind._parameter_constraints, parameters, caller_name=kind.__name__)
