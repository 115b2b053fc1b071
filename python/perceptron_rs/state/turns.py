"""How estimators change, and how they are read: as a whole.

A call that learns takes a turn, works on a twin of the estimator, and publishes what it has learnt in one
step. So nothing has to be undone: an error, or a signal between any two steps, leaves the estimator as it
was, and another thread reads it as it was before the call or as it is after. A turn need not be given back
either: it is held by a call that runs, so it ends with that call, however that ends.

The estimator has one ``__dict__`` for good: what somebody sets while it is copied to another would be lost.

A method that reads more than one attribute reads a copy of them, which the calls within it read, too.
"""

from __future__ import annotations

import copy
import os
import sys
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from operator import call
from threading import Lock, get_ident
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

from perceptron_rs.arrays.likes import imported
from perceptron_rs.estimator_attributes import Method

if TYPE_CHECKING:
    import numpy as np

AnyEstimator = TypeVar("AnyEstimator")
#: What ``vars`` of an estimator gives.
AttributeDict: TypeAlias = dict[str, Any]

#: All turns, those that wait among them, in the order in which they were asked for.
turns: list[Turn] = []
#: In a helper thread: the turns of the call that it works for.
_working_for: ContextVar[tuple[Turn, ...]] = ContextVar("within", default=())
#: Seconds between two looks of a waiting call at whether the one before still runs.
_SOON = 0.05


class Turn:
    """The right to change an estimator, for the ``with`` block of the function that makes it.

    Calls on several threads take turns. Within a turn of its own estimator, a call would wait for itself:
    that is an error.
    """

    __slots__ = ("before", "estimator", "frame", "model", "over", "thread")

    def __init__(self, estimator: object) -> None:
        self.estimator: Any = estimator
        self.thread = get_ident()
        self.frame: FrameType | None = sys._getframe(1)
        self.over = Lock()
        self.model: Any = None

    def __enter__(self) -> Any:
        self.over.acquire()
        turns.append(self)
        if turns[0] is not self:
            self._wait()
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        self.frame = self.model = None
        _remove(self)
        self.over.release()

    def _wait(self) -> None:
        """Wait for earlier calls that change the estimator, and forget calls that a signal has ended."""
        for other in turns.copy():
            if other is self:
                break
            is_inside = other.thread == self.thread or other in _working_for.get()
            if other.estimator is self.estimator:
                if is_inside and other.runs():
                    self._enter_within()
                    break
                self._wait_for(other)
            elif other.thread == self.thread and not other.runs():
                _remove(other)

    def _enter_within(self) -> None:
        """Begin within a turn of the same estimator."""
        _remove(self)
        name = type(self.estimator).__name__
        raise RuntimeError(
            f"this {name} is learning, and what it called (a callback, a source, a kernel or a signal's "
            "handler) lets it learn again; use a copy there: record.model(), or clone"
        )

    def _wait_for(self, other: Turn) -> None:
        while other in turns and other.runs():
            if other.over.acquire(timeout=_SOON):
                other.over.release()
        _remove(other)

    def runs(self) -> bool:
        """Whether the function that took the turn still runs: a signal may have ended it anywhere.

        The frame is asked itself. To look for it on the stack of its thread takes several steps, between
        which that thread goes on: a generator that has yielded meanwhile is on top of no stack.
        """
        frame = self.frame
        if frame is None:
            return False
        try:
            frame.clear()
        except RuntimeError:
            return True
        return False

    def twin(self) -> Any:
        """Return a copy of the estimator to learn on."""
        if self.model is None:
            before = vars(self.estimator).copy()
            self.before = before.get("_learnt") or type(self.estimator)._learnt
            self.model = _like(self.estimator, before | {"_learnt": self.before.own()})
            if is_random_state(drawn_from := before.get("random_state")):
                self.model.random_state = copy.deepcopy(drawn_from)
        return self.model

    def publish(self) -> None:
        """Give the estimator what its twin has learnt, in one step."""
        known, learnt = vars(self.estimator), vars(self.model)
        old, estimator = (
            self.before,
            self.estimator,
        )  # dropping it may run code of others: only after the steps
        steps: list[Callable[[], object]] = [partial(known.__setitem__, "_learnt", learnt["_learnt"])]
        source, drawn = known.get("random_state"), learnt.get("random_state")
        if is_random_state(source) and is_random_state(drawn):
            steps.append(partial(source.set_state, drawn.get_state()))
        done = map(call, steps)
        # Nothing of Python runs between two steps, nor after the comparison, which calls nothing.
        if estimator._learnt is not old:
            raise changed(estimator)
        deque(done, maxlen=0)
        del old


def changed(estimator: object) -> RuntimeError:
    """Return the error for an estimator that was changed during a call: one change would be lost."""
    return RuntimeError(
        f"this {type(estimator).__name__} was changed while it learnt, by a label, an array, a callback or a "
        "handler that the call has run; what was learnt is dropped: change it before or after the call"
    )


class learning(Turn):  # noqa: N801  called like a function
    """A turn for a block that learns on a twin, which is published if the block ends well."""

    __slots__ = ()

    def __enter__(self) -> Any:
        super().__enter__()
        return self.twin()

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if kind is None:
            self.publish()
        super().__exit__(kind)


class _Change(Turn):
    """A turn for a change that is no learning: within a turn of the same estimator, it is part of that."""

    __slots__ = ()

    def _enter_within(self) -> None:
        pass


def exclusive(method: Method) -> Method:
    """Let a method that changes what has been learnt take a turn: a pass of another thread would be lost."""

    @wraps(method)
    def change(self: object, *args: object, **options: object) -> Any:
        with _Change(self):
            return method(self, *args, **options)

    return cast("Method", change)


def change(estimator: Any, **values: object) -> None:
    """Replace fields of what has been learnt, in one step."""
    if any(turn.model is estimator for turn in turns.copy()):  # a twin, which only its call knows
        vars(estimator)["_learnt"] = estimator._learnt.but(**values)
        return
    with _Change(estimator):
        attributes, learnt, after = vars(estimator), None, None
        while estimator._learnt is not learnt:  # a handler may have changed it since it was read
            learnt = estimator._learnt
            after = learnt.reported().but(**values)
        attributes["_learnt"] = after


def within_turns(work: Callable[[], None]) -> Callable[[], None]:
    """Wrap a function for a helper thread, which then has the context and the turns of this one."""
    context = copy_context()
    here = [turn for turn in turns.copy() if turn.thread == get_ident()]
    context.run(_working_for.set, (*_working_for.get(), *here))
    return partial(context.run, work)


def moment(model: AnyEstimator) -> AnyEstimator:
    """Return a snapshot of an estimator, which other threads cannot change; a snapshot itself."""
    learnt = vars(model).get("_learnt")
    if learnt is not None and learnt.is_moment:
        return model
    attributes = vars(model).copy()
    if (learnt := attributes.get("_learnt")) is not None:
        attributes["_learnt"] = learnt.moment()
    return _like(model, attributes)


def consistent(method: Method) -> Method:
    """Let a method read the estimator as it is when the call begins."""

    @wraps(method)
    def read(self: Any, *args: object, **options: object) -> Any:
        seen = moment(self)
        if self._is_ours or seen is self:
            return method(seen, *args, **options)
        before = vars(seen).copy()
        answer = method(seen, *args, **options)
        for name, value in vars(seen).items():  # a subclass may set attributes while it is read
            if name != "_learnt" and before.get(name, _ABSENT) is not value:
                setattr(self, name, value)
        return answer

    return cast("Method", read)


#: Stands for an attribute that is not there.
_ABSENT = object()


def is_random_state(value: object) -> TypeGuard[np.random.RandomState]:
    """Whether it is a RandomState. Its module, slow to import, is imported if there is any."""
    kind = imported("numpy.random", "RandomState")
    return kind is not None and isinstance(value, kind)


def _like(model: AnyEstimator, attributes: AttributeDict) -> AnyEstimator:
    twin = object.__new__(type(model))
    twin.__dict__ = attributes  # filling the present one takes longer
    return twin


def _remove(turn: Turn) -> None:
    try:  # noqa: SIM105  to suppress it takes as long as all else of a turn
        turns.remove(turn)
    except ValueError:
        pass  # another call has found that it is over


def _forget_other_threads() -> None:
    """Forget the turns of threads that a fork has not brought along: their frames do not run, nor end."""
    turns[:] = [turn for turn in turns if turn.thread == get_ident()]


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_other_threads)
