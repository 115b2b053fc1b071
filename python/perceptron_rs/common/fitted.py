"""Attributes of a fit, asked for before there was one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

__all__ = ["FittedAttributes"]


class FittedAttributes:
    """An estimator that says that it is not fitted, whichever attribute of a fit is missing.

    Some of these attributes are computed from others, whose names no reader knows. `NotFittedError` is an
    ``AttributeError``, so that ``hasattr`` is False.
    """

    if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> Any:
            is_public = name.endswith("_") and not name.startswith("_")
            if is_public and not any(key.endswith("_") and not key.startswith("_") for key in vars(self)):
                kind = type(self).__name__
                raise NotFittedError(
                    f"this {kind} instance is not fitted yet and has no {name}; call fit before you read it"
                )
            return object.__getattribute__(self, name)  # raises what it raised before
