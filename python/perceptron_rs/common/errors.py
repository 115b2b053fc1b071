"""Errors that name their argument, and an estimator that is unchanged after any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["naming", "restored_on_error"]


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Put ``argument`` in front of the text of a library's error that does not name it."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error)
        if type(error) in (TypeError, ValueError) and re.search(rf"\b{argument}\b", text):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument}: {text}") from error


class restored_on_error:  # noqa: N801  called like a function
    """Give the estimator back its ``__dict__`` if the block is left by an exception of any kind.

    A shallow copy is enough, because no array of the fitted state is modified in place. A
    ``RandomState`` among the parameters is the one object that a fit does modify.
    """

    __slots__ = ("before", "drawn", "estimator")  # no generator: that would take longer than a small pass

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __enter__(self) -> None:
        self.before = vars(self.estimator).copy()
        source = self.before.get("random_state")
        self.drawn = source.get_state() if isinstance(source, np.random.RandomState) else None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        vars(self.estimator).clear()
        vars(self.estimator).update(self.before)
        if self.drawn is not None:
            self.before["random_state"].set_state(self.drawn)
