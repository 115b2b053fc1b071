"""Iterative parameter mixing: partitions of the data are learnt from side by side.

Problem
    That of the learner, for examples that lie in P partitions: on threads, or on as many machines.
Update rule
    Each epoch makes one pass over each partition, all from the same weights w, with the learner's own
    updates. It leads to the weights w_p. The next epoch starts from ``(k_1 w_1 + ... + k_P w_P) / (k_1 + ...
    + k_P)``, where k_p is 1 ("uniform"), or the number of mistakes on partition p ("mistakes").
Given
    What the learner is given, in P parts.
Result
    The state of a learner that has seen all these examples: its average is the sum of all vectors, over
    all partitions and epochs, divided once.
Paper
    R. McDonald, K. Hall, G. Mann, "Distributed training strategies for the structured perceptron", NAACL
    2010: figure 3.

Nothing here knows where the passes are made. ARITHMETIC.md says in which order numbers are added.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine
from perceptron_rs.float_mode import standard
from perceptron_rs.settings import Chain, Data, Epoch, Linear, State

__all__ = ["MIXINGS", "Mixed", "Pass", "Round", "bounds", "in_threads", "is_whole", "make_pass", "mix"]

MIXINGS = ("uniform", "mistakes")
#: Matrices that a state has in the form CSR.
_SPARSE = ("emission", "pair")


class Pass(NamedTuple):
    """What one pass over one partition has learnt, and what is told of it."""

    state: State
    epoch: Epoch
    tracked: State


#: Makes the passes of an epoch: given the state, the number of the epoch and the decisions that have ended,
#: returns the state mixed of all, what is told of the epoch, and what each partition tracked.
Round: TypeAlias = Callable[[State, int, Collection[int]], tuple[State, Epoch, Sequence[State]]]


def make_pass(
    engine: Engine, data: Data, settings: Linear | Chain, state: State, number: int, ended: Iterable[int]
) -> Pass:
    """Learn from a partition once; ``settings`` say which one it is."""
    run = engine.start(data, state, settings)
    for decision in ended:
        run.end(decision)
    epoch = run.epoch(number)
    return Pass(run.state(), epoch, run.tracked())


@standard()
def mix(
    settings: Linear | Chain, state: State, passes: Sequence[tuple[State, Epoch]], mixing: str, number: int
) -> tuple[State, Epoch]:
    """Mix what the passes over all partitions have made of ``state``; tell of them as of one epoch.

    Raises
    ------
    OverflowError
        If a number is not finite (rule 9).
    """
    states, epochs = [done for done, _ in passes], [epoch for _, epoch in passes]
    mistakes = [epoch.mistakes for epoch in epochs]
    visits = [done["seen"] - state["seen"] for done in states]
    weights = [np.ones_like(made) if mixing == "uniform" else made for made in mistakes]
    mixed = _mixed(state, states, weights)
    if not all(np.isfinite(numbers).all() for numbers in mixed.values()):
        raise OverflowError(
            f"training overflowed in epoch {number} (counted from 0): a weight or an average is not finite "
            f"after mixing; scale the features or lower eta0"
        )
    if isinstance(settings, Chain):  # its losses count wrong labels
        losses = np.add.reduce([epoch.losses for epoch in epochs])
    else:
        planes = [each[: len(made)] for each, made in zip(visits, mistakes, strict=True)]
        losses = mean([epoch.losses for epoch in epochs], planes)
    told = Epoch(np.add.reduce(mistakes), losses, losses, any(epoch.interrupted for epoch in epochs))
    return mixed, told


def mean(terms: Sequence[NDArray[Any]], weights: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return the weighted mean, added up from the first term on and divided once.

    The mean of equal numbers is that number, which a rounded sum can miss. So what no partition has changed
    stays as it is; and one partition is learnt from as without partitions. Weights belong to the first axis;
    weights that are all 0 count as ones.
    """
    total = np.add.reduce(weights)
    shape = (-1, *(1 for _ in terms[0].shape[1:]))
    factors = [np.where(total == 0, 1, k).reshape(shape).astype(np.float64) for k in weights]
    found = factors[0] * terms[0]
    equal = np.ones(found.shape, dtype=np.bool_)
    for k, term in zip(factors[1:], terms[1:], strict=True):
        found += k * term
        equal &= term == terms[0]
    found /= np.where(total == 0, len(weights), total).reshape(shape)
    found += 0.0  # a quotient that is too small may be -0.0
    return np.where(equal, terms[0], found)


def mean_sums(
    start: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    passes: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
    w: NDArray[Any],
    seen: NDArray[Any],
) -> NDArray[np.float64]:
    """Return the u that belongs to the mixed weights ``w`` after ``seen`` examples.

    The sum of all vectors is S = (T + 1) w - u (`reference/linear/averaged.py`). With what each pass has
    added to it, S_p - S, it shall be S' = S_1 + ... + S_P - (P - 1) S, whose u is (T' + 1) w' - S'.
    ``start`` and ``passes`` are triples w, u, T.
    """
    shape = (-1, *(1 for _ in w.shape[1:]))
    w_0, u_0, T_0 = start
    others = float(len(passes) - 1)
    u, v = passes[0][1].copy(), _times(passes[0][2], shape) * passes[0][0]
    touched = (passes[0][0] != w_0) | (passes[0][1] != u_0)
    for w_p, u_p, T_p in passes[1:]:
        u += u_p
        v += _times(T_p, shape) * w_p
        touched |= (w_p != w_0) | (u_p != u_0)
    u -= others * u_0
    u += ((_times(seen, shape) * w) - v) + others * (_times(T_0, shape) * w_0)
    u += 0.0
    return np.where(touched, u, u_0)


def _times(T: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    return (T + 1).reshape(shape).astype(np.float64)


def _mixed(start: State, states: Sequence[State], weights: Sequence[NDArray[np.int64]]) -> State:
    (begin, *ends), places = _aligned([start, *states])
    seen = start["seen"] + np.add.reduce([end["seen"] - start["seen"] for end in ends])
    mixed: State = {"seen": seen}
    for name, w_0 in begin.items():
        if name in ("seen", "ages"):  # no penalty is pending after an epoch
            mixed.setdefault(name, w_0)
        elif not name.endswith("_u"):
            w = mixed[name] = mean([end[name] for end in ends], weights)
            if (sums := f"{name}_u") in begin:
                triples = [(end[name], end[sums], end["seen"]) for end in ends]
                mixed[sums] = mean_sums((w_0, begin[sums], start["seen"]), triples, w, seen)
    for name, (keys, rows) in places.items():
        mixed |= _to_csr(mixed.pop(name), name, keys, rows)
    return mixed


def _aligned(states: Sequence[State]) -> tuple[list[State], dict[str, tuple[NDArray[np.int64], int]]]:
    """Return the states with vectors in the place of CSR matrices; and for each the places of its numbers.

    A place is one where any of the matrices of weights, or of sums, has a number.
    """
    found = [dict(state) for state in states]
    places = {}
    for matrix in _SPARSE:
        names = [f"{matrix}{u}" for u in ("", "_u") if f"{matrix}_indptr{u}" in states[0]]
        read = [[_from_csr(state, name) for name in names] for state in found]
        if not names:
            continue
        keys = np.unique(np.concatenate([keys for each in read for keys, _, _ in each]))
        for state, each in zip(found, read, strict=True):
            for name, (own, values, rows) in zip(names, each, strict=True):
                state[name] = np.zeros(len(keys))
                state[name][np.searchsorted(keys, own)] = values
                places[name] = keys, rows
    return found, places


def _from_csr(state: State, name: str) -> tuple[NDArray[np.int64], NDArray[Any], int]:
    """Take a matrix out of a state; return its places, row by row, its numbers, and how many rows it has."""
    stem, u = name.removesuffix("_u"), "_u" if name.endswith("_u") else ""
    indptr, indices, data = (state.pop(f"{stem}_{part}{u}") for part in ("indptr", "indices", "data"))
    rows = len(indptr) - 1
    return np.repeat(np.arange(rows), np.diff(indptr)) << 32 | indices, data, rows


def _to_csr(values: NDArray[Any], name: str, keys: NDArray[np.int64], rows: int) -> State:
    stem, u = name.removesuffix("_u"), "_u" if name.endswith("_u") else ""
    kept = np.flatnonzero(values)
    ends = np.cumsum(np.bincount(keys[kept] >> 32, minlength=rows))
    return {
        f"{stem}_indptr{u}": np.concatenate([[0], ends]).astype(np.int64),
        f"{stem}_indices{u}": (keys[kept] & (2**32 - 1)).astype(np.int32),
        f"{stem}_data{u}": values[kept],
    }


class Mixed:
    """A learner at work on partitions; see `perceptron_rs.engines.Run`."""

    def __init__(self, state: State, make_round: Round) -> None:
        self._state, self._round = {name: array.copy() for name, array in state.items()}, make_round
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

    def state(self) -> State:
        """Return a copy of what has been learnt."""
        return {name: array.copy() for name, array in self._state.items()}

    def tracked(self) -> State:
        """Return the mistakes made on each example, if they are counted."""
        return {"mistakes_per_example": np.concatenate(self._mistakes)} if self._mistakes else {}


def in_threads(
    engine: Engine, parts: Sequence[Data], settings: Linear | Chain, mixing: str, threads: int
) -> Round:
    """Return a round over partitions in memory; their passes are made on so many threads."""
    numbered = [replace(settings, partition=p) for p in range(len(parts))]

    def make_round(state: State, number: int, ended: Collection[int]) -> tuple[State, Epoch, Sequence[State]]:
        learn = partial(make_pass, engine, state=state, number=number, ended=ended)
        if threads == 1:
            passes = list(map(learn, parts, numbered))
        else:
            with ThreadPoolExecutor(min(threads, len(parts)), "perceptron-rs-partition") as pool:
                passes = list(pool.map(learn, parts, numbered))
        ends = [(done.state, done.epoch) for done in passes]
        mixed, epoch = mix(settings, state, ends, mixing, number)
        return mixed, epoch, [done.tracked for done in passes]

    return make_round


def is_whole(n_partitions: Any) -> bool:
    """Whether the data is one partition."""
    return n_partitions == 1 if np.ndim(n_partitions) == 0 else len(n_partitions) == 1


def bounds(n_partitions: Any, n: int) -> NDArray[np.int64]:
    """Return where each of the partitions of n examples begins, and the end.

    A number cuts them into parts of equal length, the first ones longer by one where that does not go up;
    a list has the length of each part.
    """
    if np.ndim(n_partitions) == 0:
        each, more = divmod(n, int(n_partitions))
        lengths = [each + (p < more) for p in range(int(n_partitions))]
    else:
        lengths = [int(length) for length in n_partitions]
        if not lengths or min(lengths) < 0 or sum(lengths) != n:
            raise ValueError(
                f"n_partitions must be a number, or lengths of at least 0 that add up to the number of "
                f"examples, {n}; got {n_partitions!r:.80}"
            )
    return np.cumsum([0, *lengths], dtype=np.int64)
