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


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator back its ``__dict__`` if the block is left by an exception of any kind.

    A shallow copy is enough, because no array of the fitted state is modified in place. A
    ``RandomState`` among the parameters is the one object that a fit does modify.
    """
    before = dict(vars(estimator))
    source = before.get("random_state")
    drawn = source.get_state() if isinstance(source, np.random.RandomState) else None
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(source, np.random.RandomState) and drawn is not None:
            source.set_state(drawn)
        raise
