"""Errors that name their argument, those of an estimator before its first fit, and warnings of a call."""

from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

from perceptron_rs.errors import ArgumentError

__all__ = ["FittedAttributes", "naming", "warn_caller"]

#: Packages whose frames stand between a warning and the line that it is about.
_NOT_CALLERS = ("perceptron_rs", "sklearn", "contextlib")


class naming:  # noqa: N801  called like a function
    """Put ``argument`` in front of the text of a library's error that does not name it."""

    # No generators here: they would take longer than a small pass.
    __slots__ = ("argument",)

    def __init__(self, argument: str) -> None:
        self.argument = argument

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if not isinstance(error, (TypeError, ValueError, OverflowError)):
            return
        if isinstance(error, ArgumentError):
            return
        text = str(error)
        if kind in (TypeError, ValueError) and re.search(rf"\b{self.argument}\b", text):
            return
        if isinstance(error, TypeError):
            raise TypeError(f"{self.argument}: {text}") from error
        raise ArgumentError(f"{{{self.argument}}}: {{text}}", text=text) from error


class FittedAttributes:
    """An estimator that says that it is not fitted, whichever attribute of a fit is missing.

    Some of these attributes are computed from others, whose names no reader knows. `NotFittedError` is an
    ``AttributeError``, so that ``hasattr`` is False.
    """

    if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> Any:
            known = vars(self).copy()
            is_public = name.endswith("_") and not name.startswith("_")
            if is_public and not any(key.endswith("_") and not key.startswith("_") for key in known):
                from sklearn.exceptions import NotFittedError

                kind = type(self).__name__
                raise NotFittedError(
                    f"this {kind} instance is not fitted yet and has no {name}; call fit before you read it"
                )
            return object.__getattribute__(self, name)  # raises what it raised before


def warn_caller(text: str | ArgumentError, category: type[Warning]) -> None:
    """Warn of a line of the caller: the first one outside of this package and of what wraps its methods."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text), stacklevel=level)
