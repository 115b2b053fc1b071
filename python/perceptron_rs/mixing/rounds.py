"""Epochs over partitions: each is a pass over every partition, whose shares are mixed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine, Model, RunOfModel, RunState
from perceptron_rs.errors import ArgumentError
from perceptron_rs.mixing.shares import (
    Share,
    apply_change,
    mix,
    overflow,
    share_of_pass,
    weight,
    whole_epoch,
)
from perceptron_rs.settings import Chain, Data, Epoch, Linear

T = TypeVar("T")


class PartitionPass(NamedTuple):
    """What one pass over one partition has learnt, and what it tracked."""

    share: Share
    tracked: State


#: Makes the passes of an epoch: given what has been learnt, the number of the epoch and the decisions that
#: have ended, returns what is mixed, the report of the epoch, and what each partition tracked.
RoundFunction: TypeAlias = Callable[[Any, int, Collection[int]], tuple[RunState, Epoch, Sequence[State]]]


def make_pass(
    engine: Engine,
    data: Data,
    settings: Linear | Chain,
    state: State,
    mixing: str,
    number: int,
    ended: Iterable[int],
) -> PartitionPass:
    """Learn from a partition once; ``settings`` say which one it is."""
    begin, model = perf_counter(), engine.Model.from_state(settings.learner, state)
    run, epoch = _one_epoch(engine, data, settings, model, number, ended)
    share = share_of_pass(state, run.state().state(), epoch, mixing, perf_counter() - begin)
    return PartitionPass(share, run.tracked())


def _one_epoch(
    engine: Engine,
    data: Data,
    settings: Linear | Chain,
    model: Model,
    number: int,
    ended: Iterable[int],
) -> tuple[RunOfModel, Epoch]:
    run = engine.start(data, model, settings)
    for decision in ended:
        run.end(decision)
    return run, run.epoch(number)


class Drafts:
    """Weights of a linear learner that stay with drafts of the core, which are all alike.

    The drafts take over a ``change`` when they are asked for: what Ctrl-C leaves of an epoch before that is
    the state before it.
    """

    def __init__(self, drafts: Sequence[_core.Draft], change: _core.Excerpt | None = None) -> None:
        self._drafts, self._change = drafts, change

    def drafts(self) -> Sequence[_core.Draft]:
        """Return the drafts, with this state. To take it over twice does no harm."""
        if self._change is not None:
            for draft in self._drafts:
                draft.put(self._change)
            self._change = None
        return self._drafts

    def model(self) -> _core.Model:
        """Return what has been learnt."""
        return self.drafts()[0].model()

    def after(self, change: _core.Excerpt) -> Drafts:
        """Return the state after a change."""
        return Drafts(self._drafts, change)


class Mixed:
    """A learner at work on partitions; see `perceptron_rs.engines.Run`."""

    def __init__(self, state: RunState | Drafts, make_round: RoundFunction) -> None:
        self._state: Any = state if isinstance(state, Drafts) else _copied(state)
        self._round = make_round
        self._ended: set[int] = set()
        self._mistakes: list[Any] = []  # on the examples of each partition

    def epoch(self, number: int) -> Epoch:
        """Make a pass over each partition, and mix. Ctrl-C leaves what was mixed before."""
        state, epoch, records = self._round(self._state, number, self._ended)
        if epoch.interrupted:
            D = len(epoch.mistakes)
            return Epoch(np.zeros(D, dtype=np.int64), np.zeros(D), np.zeros(D), interrupted=True)
        made = [record["mistakes_per_example"] for record in records if "mistakes_per_example" in record]
        before = self._mistakes or [0] * len(made)
        self._state, self._mistakes = state, [a + b for a, b in zip(before, made, strict=True)]
        return epoch

    def end(self, decision: int) -> None:
        """Say that a decision goes on no more."""
        self._ended.add(decision)

    def state(self) -> RunState:
        """Return a copy of what has been learnt."""
        return _copied(self._state)

    def tracked(self) -> State:
        """Return the mistakes on each example, if they are counted."""
        return {"mistakes_per_example": np.concatenate(self._mistakes)} if self._mistakes else {}


def _copied(state: RunState | Drafts) -> RunState:
    if isinstance(state, Drafts):
        return state.model()
    return {name: array.copy() for name, array in state.items()} if isinstance(state, dict) else state.copy()


def in_threads(
    engine: Engine, parts: Sequence[Data], settings: Linear | Chain, mixing: str, threads: int
) -> RoundFunction:
    """Return a function that learns from each partition in memory once, on so many threads, and mixes."""
    numbered = [replace(settings, partition=p) for p in range(len(parts))]

    def of_each(learn: Callable[[Data, Linear | Chain], T]) -> Sequence[T]:
        if threads == 1:
            return list(map(learn, parts, numbered))
        with ThreadPoolExecutor(min(threads, len(parts)), "perceptrons-partition") as pool:
            return list(pool.map(learn, parts, numbered))

    def make_round(state: Any, number: int, ended: Collection[int]) -> tuple[Any, Epoch, Sequence[State]]:
        if isinstance(state, Drafts) and ended:  # a draft learns all planes
            state = state.model()
        if isinstance(state, _core.Model):
            return of_models(state, number, ended)
        if isinstance(state, Drafts):
            return of_drafts(state, number)
        passes = of_each(lambda data, own: make_pass(engine, data, own, state, mixing, number, ended))
        shares, tracked = zip(*passes, strict=True)
        change, epoch = mix(settings, state, shares, number)
        return (state if epoch.interrupted else apply_change(state, change)), epoch, tracked

    def of_models(
        model: _core.Model, number: int, ended: Collection[int]
    ) -> tuple[_core.Model, Epoch, Sequence[State]]:
        passes = of_each(lambda data, own: _one_epoch(engine, data, own, model, number, ended))
        runs, epochs = zip(*passes, strict=True)
        tracked = [run.tracked() for run in runs]
        mixed, visits = model.mixed(list(runs), [weight(epoch, mixing) for epoch in epochs])
        if mixed is None:
            raise overflow(number)
        return mixed, whole_epoch(settings, epochs, list(visits)), tracked

    def of_drafts(state: Drafts, number: int) -> tuple[Drafts, Epoch, Sequence[State]]:
        free = list(state.drafts())

        def learn(data: Data, own: Linear | Chain) -> tuple[Epoch, _core.Excerpt, State]:
            assert isinstance(own, Linear)
            draft = free.pop()  # each thread has one at a time
            try:
                return draft.learn(data, own, number)
            finally:
                free.append(draft)

        epochs, passes, tracked = zip(*of_each(learn), strict=True)
        mixed, visits = free[0].mixed(list(passes), [weight(epoch, mixing) for epoch in epochs])
        if mixed is None:
            raise overflow(number)
        return state.after(mixed), whole_epoch(settings, epochs, list(visits)), tracked

    return make_round


def is_whole(n_partitions: Any) -> bool:
    """Whether the data is one partition."""
    return n_partitions == 1 if np.ndim(n_partitions) == 0 else len(n_partitions) == 1


def partition_bounds(n_partitions: Any, n: int) -> NDArray[np.int64]:
    """Return where each of the partitions of n examples begins, and the end.

    A number cuts them into parts of equal length, the first ones longer by one where that does not go up;
    a list has the length of each part.
    """
    if np.ndim(n_partitions) == 0:
        if n_partitions > n:
            raise ArgumentError(
                "{n_partitions} must be at most the number of examples that are learnt from, {n}",
                "make fewer",
                values={"n_partitions": n_partitions},
                n=n,
            )
        each, more = divmod(n, int(n_partitions))
        lengths = [each + (p < more) for p in range(int(n_partitions))]
    else:
        array = np.asarray(n_partitions)
        lengths = array.tolist()
        if array.dtype.kind not in "iu" or array.ndim != 1 or sum(lengths) != n or min(lengths) < 0:
            raise ValueError(
                f"n_partitions must be a number, or lengths of at least 0 that add up to the number of "
                f"examples, {n}; got {n_partitions!r:.80}"
            )
    return np.array([*accumulate(lengths, initial=0)], dtype=np.int64)


def visited_bounds(n_partitions: Any, n: int, rows: NDArray[np.generic] | None) -> NDArray[np.int64]:
    """Return where each partition of n examples begins, and the end, if just these ``rows`` are learnt from.

    A number cuts the examples that are learnt from into equal parts, as if there were no others; lengths are
    those of parts of all examples.
    """
    if rows is None or np.ndim(n_partitions):
        return partition_bounds(n_partitions, n)
    bounds = np.append(rows, n)[partition_bounds(n_partitions, len(rows))].astype(np.int64)
    bounds[0] = 0
    return bounds
