# ruff: noqa: D101, D102, D103 -- scikit-learn documents them
"""scikit-learn's base classes, with the types that it does not declare.

To a type checker, a class that derives from an untyped one has every attribute, and an untyped decorator
hides what it decorates. So would each estimator here, and a misspelt ``coef_`` would go unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_rs.estimator_attributes import check_is_fitted

__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "Interval",
    "InvalidParameterError",
    "NotFittedError",
    "StrOptions",
    "TransformerMixin",
    "check_is_fitted",
    "fit_context",
    "validate_parameter_constraints",
    "with_callbacks",
]

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, Self, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    Method = TypeVar("Method", bound=Callable[..., Any])
    Request: TypeAlias = bool | str | None

    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import Tags
    from sklearn.utils._param_validation import (
        Interval,
        InvalidParameterError,
        StrOptions,
        validate_parameter_constraints,
    )
    from sklearn.utils.metadata_routing import MetadataRequest

    class BaseEstimator:
        _parameter_constraints: ClassVar[dict[str, list[object]]]
        n_features_in_: int
        feature_names_in_: NDArray[np.generic]

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
    import sys
    from functools import lru_cache
    from importlib.metadata import PackageNotFoundError, metadata

    from sklearn.base import BaseEstimator as _BaseEstimator
    from sklearn.base import ClassifierMixin, TransformerMixin
    from sklearn.base import _fit_context as fit_context
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils._param_validation import (
        Interval,
        InvalidParameterError,
        StrOptions,
        validate_parameter_constraints,
    )

    class BaseEstimator(_BaseEstimator):
        """scikit-learn's; its HTML links to our documentation, if the package says where that is."""

        _doc_link_module = "perceptron_rs"

        @classmethod
        @lru_cache(maxsize=64)
        def _get_param_names(cls):
            """Return what scikit-learn does, which reads the signature each time."""
            return super()._get_param_names()

        @property
        def _doc_link_template(self):
            return f"{page}generated/{{page}}.html" if (page := documentation()) else ""

        def _doc_link_url_param_generator(self):
            return {"page": public_name(type(self))}

    def public_name(kind):
        """Return the name under which the API reference lists a class: of the package, or of one within."""
        package, *within = kind.__module__.split(".")
        found = getattr(sys.modules[package], kind.__name__, None) is kind
        return ".".join([package, *([] if found else within[:1]), kind.__name__])

    def documentation():
        """Return the address of the documentation, which the package may name as a project URL."""
        try:
            named = metadata("perceptrons").get_all("Project-URL") or []
        except PackageNotFoundError:
            return ""
        for label, _, address in (entry.partition(", ") for entry in named):
            if label == "Documentation":
                return address.rstrip("/") + "/"
        return ""

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn 1.8 or older: no callbacks, and no ``set_callbacks``

        class CallbackSupportMixin:
            """Nothing to mix in."""

        def with_callbacks(method):
            """Return the method as it is."""
            return method
