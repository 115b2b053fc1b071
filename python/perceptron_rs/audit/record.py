"""The record of the calls that a model has learnt from, on the estimator: enough to make them again.

It is a tuple, ``_calls``: a cold start empties it, and each call that learns adds to it. An estimator without
it has learnt something that is written down nowhere: by ``partial_fit`` without ``audit``, say. With
``audit``, digests of the examples are in it (`perceptron_rs.audit.digests`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION, CoreRows
from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.named import are_zeros
from perceptron_rs.audit import NOT_SAVED, RECORD
from perceptron_rs.audit.digests import LEAST_BLOCK, Digester, DigestInput, Digests, refuse_other_key
from perceptron_rs.audit.key import KeyGiven, key_of
from perceptron_rs.engines import RunState
from perceptron_rs.estimator_attributes import Parametrised, attributes, parameter_names, remembered

#: Parameters that say how a process runs: the record has their defaults.
_OF_PROCESS = {"verbose": 0, "n_jobs": None}
#: More values than that are digested on a thread of their own, while the engine learns.
_LARGE = 1 << 18

FitMethod: TypeAlias = Literal["fit", "partial_fit", "fit_stream"]
Start: TypeAlias = dict[str, NDArray[np.float64]]


class Audited(Parametrised, Protocol):
    """What the record asks of an estimator, beside its parameters."""

    audit: bool
    audit_key: KeyGiven
    n_features_in_: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``fit`` or ``fit_stream``, or calls of ``partial_fit`` with equal parameters in a row.

    Examples are rows, or sequences.
    """

    method: FitMethod
    parameters: dict[str, Any]
    columns: int
    #: Examples of a call, and how many calls of so many came one after another.
    sizes: tuple[tuple[int, int], ...]
    #: Whether there were weights of examples.
    weighted: bool
    arithmetic: int = ARITHMETIC_VERSION
    #: Of the examples of this call and of all before it. Only the last call has any.
    digests: Digests | None = None
    #: What ended the fit if the parameters did not: "callback" or "interrupt"; and after how many epochs.
    ended: tuple[str, int] | None = None
    #: Number of examples in the blocks that ``fit_stream`` shuffled; None: it did not.
    block_size: int | None = None
    #: Weights and intercepts that the fit was given to start from.
    start: Start = field(default_factory=dict, compare=False)

    @property
    def rows(self) -> int:
        """Number of examples."""
        return sum(rows * times for rows, times in self.sizes)


@contextmanager
def recorded(
    estimator: Audited,
    method: FitMethod,
    stored: StoredRows,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64] | None = None,
    state: RunState | None = None,
    lengths: NDArray[np.int64] | None = None,
) -> Iterator[None]:
    """Add a call to the record, while the block learns from the examples.

    ``stored`` are the rows as the engine reads them; ``state`` is what a linear learner goes on from;
    ``lengths`` are those of sequences.
    """
    call, before = _next_call(estimator, method, state, weighted=weights is not None)
    n = len(labels) if lengths is None else len(lengths)
    if call is None or before is None:
        yield
        _add_call(estimator, call, n, None)
        return
    key, begins = key_of(estimator.audit_key), method != "partial_fit" and n >= LEAST_BLOCK

    def digested() -> Digests:
        return before.with_call(stored, call.columns, labels, weights, lengths, key=key, begins=begins)

    if not _is_large(stored):
        digests = digested()
        yield
    else:
        with ThreadPoolExecutor(1, "perceptrons-audit") as aside:
            working = aside.submit(digested)
            yield
            digests = working.result()
    _add_call(estimator, call, n, digests)


def calls_of(estimator: object) -> tuple[Call, ...]:
    """Return the record of an estimator; empty if it has none."""
    return record_of(estimator) or ()


def record_of(estimator: object) -> tuple[Call, ...] | None:
    """Return the record of an estimator; None if it has none, not even an empty one."""
    calls: tuple[Call, ...] | None = getattr(estimator, RECORD, None)
    return calls


def next_record(
    estimator: Audited, stored: StoredRows, labels: NDArray[np.uint32], weights: NDArray[np.float64] | None
) -> tuple[Call, ...] | None:
    """Return the record with one more call of ``partial_fit``, of an estimator with ``audit``.

    None: the rows are so many that `recorded` makes their digests beside the training.
    """
    if _is_large(stored):
        return None
    call, before = _next_call(estimator, "partial_fit", None, weighted=weights is not None)
    assert call is not None
    assert before is not None
    key = key_of(estimator.audit_key)
    digests = before.with_call(stored, call.columns, labels, weights, key=key)
    return _with_call(calls_of(estimator), call, len(labels), digests)


class StreamRecord:
    """The record of a call of ``fit_stream``, whose digests are made of its blocks as they are read.

    They are made on a thread of their own.

    Parameters
    ----------
    estimator : object
    state : model or dict
        What a linear learner goes on from.
    block_size : int or None
        Number of examples in the blocks that are shuffled; None: they are not.
    behind : int
        How many blocks may wait for their digests: none of those whose memory is let go when they are learnt.
    """

    def __init__(
        self, estimator: Audited, state: RunState | None, block_size: int | None, behind: int = 6
    ) -> None:
        self.estimator = estimator
        call, before = _next_call(estimator, "fit_stream", state, weighted=False)
        self.call = None if call is None else replace(call, block_size=block_size)
        self.digester = self.aside = None
        if before is not None and call is not None:
            self.digester = Digester(before, call.columns, key_of(estimator.audit_key))
            self.aside = ThreadPoolExecutor(1, "perceptrons-audit")
        self.seen, self.behind = 0, behind
        self.working: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.aside is not None:
            self.aside.shutdown(cancel_futures=True)

    @property
    def missing(self) -> int | None:
        """The first example that has not been seen; None if none need be."""
        return None if self.digester is None else self.seen

    def see(
        self,
        first: int,
        rows: object,
        stored: StoredRows,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
        lengths: NDArray[np.int64] | None,
    ) -> None:
        """Take in a block that begins with example ``first``, if those before it have been seen.

        ``rows`` are those of the engine, and need not be checked again if they are those of the core.
        """
        if self.call is not None and weights is not None:
            self.call = replace(self.call, weighted=True)
        if self.digester is not None and self.aside is not None and first == self.seen:
            self.seen += len(labels) if lengths is None else len(lengths)
            known = rows if isinstance(rows, CoreRows) else stored
            examples = DigestInput(known, self.digester.columns, labels, weights, lengths)
            self.working.append(self.aside.submit(self.digester.add, examples))
            if len(self.working) > self.behind:
                self.working.popleft().result()

    def wait(self) -> None:
        """Wait for the digests of all that has been seen."""
        while self.working:
            self.working.popleft().result()

    def end(self, n: int | None) -> None:
        """Add the call, of ``n`` examples (None: their number is not known), to the estimator's record."""
        self.wait()
        digests = None
        if self.digester is not None and self.digester.added == n:  # or Ctrl-C came before all were seen
            digests = self.digester.end()
        _add_call(self.estimator, None if n is None else self.call, n or 0, digests)


def _next_call(
    estimator: Audited, method: FitMethod, state: RunState | None, *, weighted: bool
) -> tuple[Call | None, Digests | None]:
    """Return the call to add to the record, and the digests that it continues; None where there is none."""
    calls = record_of(estimator)
    is_kept = calls is not None and method != "partial_fit" and has_seed(estimator)
    if not estimator.audit and estimator.audit_key is not None:
        raise ValueError("audit_key has no effect without audit=True; set that, or leave the key out")
    if not estimator.audit and not is_kept:
        return None, None
    start = _start_weights(state) if calls == () and state is not None else {}
    if start and not estimator.audit:  # it would take as much memory as the model
        return None, None
    call = Call(
        method, _kept_parameters(estimator), estimator.n_features_in_, ((0, 1),), weighted, start=start
    )
    if not estimator.audit:
        return call, None
    if calls is None:
        raise ValueError(
            "audit=True goes on from what was learnt without it, of which there is no record; "
            "fit anew, or set audit=False"
        )
    if not has_seed(estimator):
        raise ValueError(
            f"random_state must be an integer with audit=True, so that the run can be repeated; "
            f"got {call.parameters['random_state']!r:.80}"
        )
    earlier = calls[-1].digests if calls else Digests()
    if earlier is None:
        earlier = Digests().without(sum(other.rows for other in calls))
    if earlier.has_any:
        refuse_other_key(earlier, key_of(estimator.audit_key), "give that one, or set {audit=False}")
    return call, earlier


def _add_call(estimator: object, call: Call | None, n: int, digests: Digests | None) -> None:
    """Add a call on n examples to the record; None ends the record."""
    if call is None:
        setattr(estimator, RECORD, None)
        return
    setattr(estimator, RECORD, _with_call(calls_of(estimator), call, n, digests))


def _with_call(calls: tuple[Call, ...], call: Call, n: int, digests: Digests | None) -> tuple[Call, ...]:
    if not calls:
        return (replace(call, digests=digests, sizes=((n, 1),)),)
    last = calls[-1]
    if digests is None and last.digests is not None:
        digests = last.digests.without(n)
    elif _continues(last, call):
        return (*calls[:-1], replace(last, digests=digests, sizes=_with_size(last.sizes, n)))
    return (*calls[:-1], replace(last, digests=None), replace(call, digests=digests, sizes=((n, 1),)))


def _is_large(stored: StoredRows) -> bool:
    return sum(array.size for array in stored.values()) >= _LARGE


def note_end(estimator: object, stopped: list[str], n_iter: int) -> None:
    """Note in the last call what ended it, if the parameters did not."""
    reason = next((reason for reason in ("interrupt", "callback") if reason in stopped), None)
    calls = calls_of(estimator)
    if reason is not None and calls:
        setattr(estimator, RECORD, (*calls[:-1], replace(calls[-1], ended=(reason, n_iter))))


def _kept_parameters(estimator: Audited) -> dict[str, object]:
    values = attributes(estimator, _kept_names(estimator.__class__))
    kept = {name: _copy(value) for name, value in values.items()}
    return kept | {name: value for name, value in _OF_PROCESS.items() if name in kept}


def _copy(value: object) -> Any:
    """Return a copy of what can change; lists and arrays become tuples, as they do in a model file."""
    if not isinstance(value, (dict, list, np.ndarray)):
        return value
    if isinstance(value, dict):
        return dict(value)
    return tuple(value if isinstance(value, list) else value.tolist())


@remembered
def _kept_names(kind: type[Parametrised]) -> tuple[str, ...]:
    return tuple(name for name in parameter_names(kind) if name not in NOT_SAVED)


def has_seed(estimator: object) -> bool:
    """Whether the orders of a run are drawn from a number that a record can hold."""
    return isinstance(getattr(estimator, "random_state", 0), Integral)


def _start_weights(state: RunState) -> Start:
    """Return the weights that a run starts from, if they are not 0."""
    if "coef" not in state:  # only linear learners are given weights
        return {}
    if not isinstance(state, dict) and state.is_zero:  # a model, whose zeros need not be looked at
        return {}
    weights = {name: state[name] for name in ("coef", "intercept")}
    if all(are_zeros(array) or not array.any() for array in weights.values()):
        return {}
    return {name: array.copy() for name, array in weights.items()}


def _continues(last: Call, call: Call) -> bool:
    """Whether the calls of ``partial_fit`` are alike, but for their numbers of rows."""
    return (
        last.method == call.method == "partial_fit"
        and (last.weighted, last.arithmetic) == (call.weighted, call.arithmetic)
        and last.parameters.keys() == call.parameters.keys()
        and all(same_value(value, call.parameters[name]) for name, value in last.parameters.items())
    )


def same_value(a: object, b: object) -> bool:
    """Whether two values of a parameter are the same; lists, tuples and arrays of equal numbers are."""
    one, other = _copy(a), _copy(b)
    return one is other or (type(one) is type(other) and np.array_equal(one, other))


def _with_size(sizes: tuple[tuple[int, int], ...], rows: int) -> tuple[tuple[int, int], ...]:
    last, times = sizes[-1]
    return (*sizes[:-1], (rows, times + 1)) if last == rows else (*sizes, (rows, 1))
