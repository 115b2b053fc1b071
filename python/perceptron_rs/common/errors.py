"""Errors that name their argument, and what an estimator is after one, or before its first fit."""

from __future__ import annotations

import os
import re
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Self

from perceptron_rs.typed import NotFittedError

__all__ = ["FittedAttributes", "naming", "restored_on_error", "turns"]


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
        text = str(error)
        if kind in (TypeError, ValueError) and re.search(rf"\b{self.argument}\b", text):
            return
        renamed = TypeError if isinstance(error, TypeError) else ValueError
        raise renamed(f"{self.argument}: {text}") from error


#: Who changes an estimator at present, by the id of the estimator.
turns: dict[int, restored_on_error] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=turns.clear)  # the other threads are not there


class restored_on_error:  # noqa: N801  called like a function
    """Give the estimator back its ``__dict__`` if the block is left by an exception of any kind.

    A shallow copy is enough: an array of the fitted state is modified in place only while nothing but the
    estimator has it, and the copy has it. A ``RandomState`` among the parameters is the one object that a fit
    does modify.

    Threads that change one estimator take turns: one that fails would otherwise take away what another one
    has learnt meanwhile.
    """

    __slots__ = ("before", "busy", "drawn", "estimator", "thread")

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.thread = get_ident()
        self.busy = Lock()

    def __enter__(self) -> Self:
        self.busy.acquire()
        while True:
            turn = turns.setdefault(id(self.estimator), self)  # in one step, for all threads
            if turn is self or turn.thread == self.thread:
                break
            with turn.busy:  # wait until it is over
                pass
        self.remember()
        return self

    def remember(self) -> None:
        """Restore what the estimator is now."""
        self.before: dict[str, Any] | None = vars(self.estimator).copy()
        source = self.before.get("random_state")
        self.drawn = source.get_state() if hasattr(source, "get_state") else None

    def forget(self) -> None:
        """Restore nothing: what follows changes the estimator as a whole or not at all."""
        self.before = self.drawn = None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.before is not None:
            vars(self.estimator).clear()
            vars(self.estimator).update(self.before)
            if self.drawn is not None:
                self.before["random_state"].set_state(self.drawn)
        if turns.get(id(self.estimator)) is self:  # and not a block around this one
            del turns[id(self.estimator)]
        self.busy.release()


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
