"""The record of the calls that a model has learnt from, on the estimator: enough to make them again.

It is a tuple, ``_calls``: a cold start empties it, and each call that learns adds to it. An estimator without
it has learnt something that is written down nowhere: by ``partial_fit`` without ``audit``, say. With
``audit``, digests of the examples are in it (`perceptron_rs.audit.digests`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.audit.digests import Digests, Stored

__all__ = ["RECORD", "Call", "Method", "begin_record", "note_end", "recorded", "same_value"]

#: The attribute.
RECORD = "_calls"
#: Parameters that belong to a process and not to a model.
_NOT_KEPT = ("callback",)
#: More values than that are digested on a thread of their own, while the engine learns.
_LARGE = 1 << 18

Method: TypeAlias = Literal["fit", "partial_fit"]
Start: TypeAlias = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``fit``, or calls of ``partial_fit`` with the same parameters, one after another."""

    method: Method
    parameters: dict[str, Any]
    columns: int
    #: Rows of a call, and how many calls of so many rows came one after another.
    sizes: tuple[tuple[int, int], ...]
    #: Whether there were weights of examples.
    weighted: bool
    arithmetic: int = ARITHMETIC_VERSION
    digests: Digests | None = None
    #: What ended the fit if the parameters did not: "callback" or "interrupt"; and after how many epochs.
    ended: tuple[str, int] | None = None
    #: Weights and intercepts that the fit was given to start from.
    start: Start = field(default_factory=dict, compare=False)

    @property
    def rows(self) -> int:
        """Number of examples."""
        return sum(rows * times for rows, times in self.sizes)


def begin_record(estimator: Any) -> None:
    """Note that the estimator starts anew."""
    setattr(estimator, RECORD, ())


@contextmanager
def recorded(
    estimator: Any,
    method: Method,
    stored: Stored,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64] | None,
    state: Mapping[str, NDArray[Any]] | None = None,
) -> Iterator[None]:
    """Add a call to the record, while the block learns from the examples.

    ``stored`` are the rows as the engine reads them; ``state`` is what a linear learner goes on from.
    """
    calls: tuple[Call, ...] | None = getattr(estimator, RECORD, None)
    if not estimator.audit and (calls is None or method != "fit" or not _has_seed(estimator)):
        yield
        vars(estimator).pop(RECORD, None)
        return
    call = Call(
        method,
        _parameters(estimator),
        estimator.n_features_in_,
        ((len(labels), 1),),
        weights is not None,
        start=_start(state) if calls == () and state is not None else {},
    )
    if not estimator.audit:
        yield
        if call.start:  # it would take as much memory as the model
            vars(estimator).pop(RECORD, None)
        else:
            setattr(estimator, RECORD, (*(calls or ()), call))
        return
    if calls is None:
        raise ValueError(
            "audit=True goes on from what was learnt without it, of which there is no record; "
            "fit anew, or set audit=False"
        )
    if not _has_seed(estimator):
        raise ValueError(
            f"random_state must be an integer with audit=True, so that the run can be repeated; "
            f"got {estimator.random_state!r:.80}"
        )
    earlier = calls[-1] if calls and _continues(calls[-1], call) else None
    before = Digests() if earlier is None or earlier.digests is None else earlier.digests
    todo = (stored, call.columns, labels, weights)
    if sum(array.size for array in stored.values()) < _LARGE:
        digests = before.with_call(*todo)
        yield
    else:
        with ThreadPoolExecutor(1, "perceptron-rs-audit") as aside:
            working = aside.submit(before.with_call, *todo)
            yield
            digests = working.result()
    if earlier is None:
        setattr(estimator, RECORD, (*calls, replace(call, digests=digests)))
    else:
        sizes = _with_size(earlier.sizes, len(labels))
        setattr(estimator, RECORD, (*calls[:-1], replace(earlier, digests=digests, sizes=sizes)))


def note_end(estimator: Any, stopped: list[str], n_iter: int) -> None:
    """Note in the last call what ended it, if the parameters did not."""
    reason = next((reason for reason in ("interrupt", "callback") if reason in stopped), None)
    calls: tuple[Call, ...] = getattr(estimator, RECORD, ())
    if reason is not None and calls:
        setattr(estimator, RECORD, (*calls[:-1], replace(calls[-1], ended=(reason, n_iter))))


def _parameters(estimator: Any) -> dict[str, Any]:
    values = ((name, getattr(estimator, name)) for name in _names(estimator.__class__))
    return {name: _copy(value) for name, value in values}


def _copy(value: Any) -> Any:
    """Return a copy of what can change; lists and arrays become tuples, as they do in a model file."""
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=64)  # scikit-learn looks at the signature each time, which takes longer than a small fit
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._get_param_names() if name not in _NOT_KEPT)


def _has_seed(estimator: Any) -> bool:
    return isinstance(getattr(estimator, "random_state", 0), Integral)


def _start(state: Mapping[str, NDArray[Any]]) -> Start:
    """Return the weights that a run starts from, if they are not 0."""
    given = {name: state[name] for name in ("coef", "intercept")}
    return {name: array.copy() for name, array in given.items()} if any(map(np.any, given.values())) else {}


def _continues(last: Call, call: Call) -> bool:
    """Whether the calls of ``partial_fit`` are alike, but for their numbers of rows."""
    return (
        last.method == call.method == "partial_fit"
        and last.digests is not None
        and (last.columns, last.weighted, last.arithmetic) == (call.columns, call.weighted, call.arithmetic)
        and last.parameters.keys() == call.parameters.keys()
        and all(same_value(value, call.parameters[name]) for name, value in last.parameters.items())
    )


def same_value(a: Any, b: Any) -> bool:
    """Whether two values of a parameter are the same."""
    return a is b or (type(a) is type(b) and np.array_equal(a, b))


def _with_size(sizes: tuple[tuple[int, int], ...], rows: int) -> tuple[tuple[int, int], ...]:
    last, times = sizes[-1]
    return (*sizes[:-1], (rows, times + 1)) if last == rows else (*sizes, (rows, 1))
