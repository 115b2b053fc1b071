"""Epochs over partitions: each is a pass over every partition, whose shares are mixed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine, RunState
from perceptron_rs.errors import ArgumentError
from perceptron_rs.mixing.shares import (
    DraftState,
    Share,
    apply_change,
    mix,
    share_of_draft,
    share_of_pass,
)
from perceptron_rs.settings import Chain, Data, Epoch, Linear


class PartitionPass(NamedTuple):
    """What one pass over one partition has learnt, and what it tracked."""

    share: Share
    tracked: State


#: Makes the passes of an epoch: given the state, the number of the epoch and the decisions that have ended,
#: returns the mixed state, the report of the epoch, and what each partition tracked.
RoundFunction: TypeAlias = Callable[[State, int, Collection[int]], tuple[State, Epoch, Sequence[State]]]


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
    begin = perf_counter()
    run = engine.start(data, engine.Model.from_state(settings.learner, state), settings)
    for decision in ended:
        run.end(decision)
    epoch = run.epoch(number)
    share = share_of_pass(state, run.state().state(), epoch, mixing, perf_counter() - begin)
    return PartitionPass(share, run.tracked())


class Mixed:
    """A learner at work on partitions; see `perceptron_rs.engines.Run`."""

    def __init__(self, state: State, make_round: RoundFunction) -> None:
        self._state, self._round = _copied(state), make_round
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
        return self._state.model() if isinstance(self._state, DraftState) else _copied(self._state)

    def tracked(self) -> State:
        """Return the mistakes on each example, if they are counted."""
        return {"mistakes_per_example": np.concatenate(self._mistakes)} if self._mistakes else {}


def _copied(state: State) -> State:
    is_lent = isinstance(state, DraftState)
    return state if is_lent else {name: array.copy() for name, array in state.items()}


def in_threads(
    engine: Engine, parts: Sequence[Data], settings: Linear | Chain, mixing: str, threads: int
) -> RoundFunction:
    """Return a function that learns from each partition in memory once, on so many threads, and mixes."""
    numbered = [replace(settings, partition=p) for p in range(len(parts))]

    def make_round(state: State, number: int, ended: Collection[int]) -> tuple[State, Epoch, Sequence[State]]:
        if isinstance(state, DraftState) and ended:  # a draft learns all planes
            state = state.model().state()
        free = list(state.drafts()) if isinstance(state, DraftState) else []

        def learn(data: Data, settings: Linear | Chain) -> PartitionPass:
            if not isinstance(settings, Linear) or not isinstance(state, DraftState):
                return make_pass(engine, data, settings, state, mixing, number, ended)
            draft, begin = free.pop(), perf_counter()  # each thread has one at a time
            try:
                epoch, now, tracked = draft.learn(data, settings, number)
                share = share_of_draft(now, epoch, mixing, perf_counter() - begin)
                return PartitionPass(share, tracked)
            finally:
                free.append(draft)

        if threads == 1:
            passes = list(map(learn, parts, numbered))
        else:
            with ThreadPoolExecutor(min(threads, len(parts)), "perceptrons-partition") as pool:
                passes = list(pool.map(learn, parts, numbered))
        change, epoch = mix(settings, state, [done.share for done in passes], number)
        if not epoch.interrupted:
            state = apply_change(state, change)
        return state, epoch, [done.tracked for done in passes]

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
    return np.cumsum([0, *lengths], dtype=np.int64)


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
