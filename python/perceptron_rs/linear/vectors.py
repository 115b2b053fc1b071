"""All weight vectors of a run, kept as its start vectors and the log of mistakes.

They are a dict of arrays, and none of these is ever changed in place. For K planes:

- ``coef``, ``intercept``: the start vectors; ``coef_u``, ``intercept_u``: the sums u so far;
- ``first_t``, ``first_row``: the example that made the start vector (or 1), and its row in X (or -1);
- ``log_start`` (K + 1,): where the entries of each plane begin and end;
- ``log_row`` (a stored row), ``log_t``, ``log_step`` (of the weights), ``log_bias`` (of the intercept) and
  ``log_origin`` (the row in X) of each mistake;
- ``rows``: the stored rows; or, if they are sparse, ``rows_indptr``, ``rows_indices`` and ``rows_values``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.rows.selection import chosen, joined
from perceptron_rs.engines import Engine, Rows, State
from perceptron_rs.settings import Data, are_zeros, zeros
from perceptron_rs.stream.run import Block, Learner

__all__ = [
    "Carried",
    "Vectors",
    "ballots",
    "begun",
    "carried",
    "collected",
    "continued",
    "counts_of",
    "each",
    "forgotten",
    "rows_of",
]

Vectors: TypeAlias = dict[str, NDArray[Any]]

#: What their names begin with in the state of a run over a stream.
_OF_STREAM = "vectors_"
_ENTRIES = ("log_row", "log_t", "log_step", "log_bias", "log_origin")


def begun(state: State) -> Vectors:
    """Return the vectors of a cold start: those of the state, and an empty log."""
    planes, columns = state["coef"].shape
    whole = np.zeros(0, dtype=np.int64)
    return {
        "coef": state["coef"] if are_zeros(state["coef"]) else state["coef"] + 0.0,
        "intercept": state["intercept"] + 0.0,
        "coef_u": zeros((planes, columns)),
        "intercept_u": np.zeros(planes),
        "first_t": np.ones(planes, dtype=np.int64),
        "first_row": np.full(planes, -1, dtype=np.int64),
        "log_start": np.zeros(planes + 1, dtype=np.int64),
        "log_row": whole,
        "log_t": whole,
        "log_step": np.zeros(0),
        "log_bias": np.zeros(0),
        "log_origin": whole,
        "rows": np.zeros((0, columns), dtype=np.uint8),
    }


def continued(
    vectors: Vectors, log: State, data: Examples, *, fit_intercept: bool, first_row: int = 0
) -> Vectors:
    """Return the vectors with those that a run on these examples, from row ``first_row`` on, has added."""
    if len(log["log_row"]) == 0:
        return vectors
    distinct, place = np.unique(log["log_row"], return_inverse=True)
    added = {
        "log_row": place.reshape(-1).astype(np.int64) + _n_stored(vectors),
        "log_t": log["log_t"],
        "log_step": log["log_step"],
        "log_bias": log["log_step"] if fit_intercept else np.zeros(len(log["log_step"])),
        "log_origin": log["log_row"] + first_row,
    }
    order = np.argsort(np.concatenate([_planes(vectors), _planes(log)]), kind="stable")
    entries = {name: np.concatenate([vectors[name], added[name]])[order] for name in _ENTRIES}
    rows = joined(_stored(vectors), chosen(data.stored, distinct))
    kept = {name: array for name, array in vectors.items() if not name.startswith("rows")}
    return kept | entries | rows | {"log_start": vectors["log_start"] + log["log_start"]}


def forgotten(vectors: Vectors, engine: Engine, most: int | None) -> Vectors:
    """Return the last ``most`` vectors of each plane: the oldest of these is the new start."""
    lengths = np.diff(vectors["log_start"])
    gone = np.zeros_like(lengths) if most is None else np.maximum(lengths + 1 - most, 0)
    if not gone.any():
        return vectors
    new = engine.replay(rows_of(vectors, engine), vectors, upto=gone)
    last = vectors["log_start"][:-1] + gone - 1  # the entry that made the new start vector
    for first, entry in (("first_t", "log_t"), ("first_row", "log_origin")):
        new[first] = np.where(gone > 0, vectors[entry][np.maximum(last, 0)], vectors[first])
    number = np.arange(len(vectors["log_row"])) - np.repeat(vectors["log_start"][:-1], lengths)
    kept = number >= np.repeat(gone, lengths)
    entries = {name: vectors[name][kept] for name in _ENTRIES}
    used, place = np.unique(entries["log_row"], return_inverse=True)
    entries["log_row"] = place.reshape(-1).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(lengths - gone)]).astype(np.int64)
    return new | entries | chosen(_stored(vectors), used) | {"log_start": start}


class Carried(Learner):
    """The vectors of a run over a stream: in its state under names of their own, with the rows so far."""

    def __init__(self, engine: Engine, most: int | None, *, fit_intercept: bool) -> None:
        self.engine, self.most, self.fit_intercept = engine, most, fit_intercept

    def begin(self, block: Block, state: State) -> tuple[Data, State]:
        """Return what an engine starts with: a run begins with an empty log."""
        return super().begin(block, {name: w for name, w in state.items() if not name.startswith(_OF_STREAM)})

    def end(self, block: Block, before: State, after: State) -> State:
        """Return the state with the mistakes of a block added to the log."""
        vectors = continued(
            taken_along(before),
            after,
            block.data,
            fit_intercept=self.fit_intercept,
            first_row=block.first,
        )
        vectors = forgotten(vectors, self.engine, self.most)
        state = {name: w for name, w in after.items() if not name.startswith("log_")}
        return state | carried(vectors)


def carried(vectors: Vectors) -> State:
    """Return the vectors as they stand in the state of a run over a stream."""
    return {f"{_OF_STREAM}{name}": w for name, w in vectors.items()}


def taken_along(state: State) -> Vectors:
    """Return the vectors in the state of a run over a stream."""
    return {name.removeprefix(_OF_STREAM): w for name, w in state.items() if name.startswith(_OF_STREAM)}


def collected(state: State) -> Vectors:
    """Return these vectors with each row stored once, as a run in memory leaves them; or nothing."""
    vectors = taken_along(state)
    if not vectors or len(vectors["log_row"]) == 0:
        return vectors
    _, entry, place = np.unique(vectors["log_origin"], return_index=True, return_inverse=True)
    rows = chosen(_stored(vectors), vectors["log_row"][entry])
    kept = {name: array for name, array in vectors.items() if not name.startswith("rows")}
    return kept | rows | {"log_row": place.reshape(-1).astype(np.int64)}


def counts_of(vectors: Vectors, seen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return how many examples each vector of each plane survived, of ``seen`` ones."""
    logs = np.split(vectors["log_t"], vectors["log_start"][1:-1])
    return [
        np.diff(np.concatenate([[first], log, [last + 1]])).astype(np.int64)
        for first, log, last in zip(vectors["first_t"], logs, seen, strict=True)
    ]


def each(
    vectors: Vectors, engine: Engine, plane: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield weights (d,) and intercept () of each vector of a plane, one update after another."""
    rows, first, last = rows_of(vectors, engine), *vectors["log_start"][plane : plane + 2]
    own = {name: vectors[name][plane : plane + 1] for name in ("coef", "intercept")}
    sums = {name: np.zeros_like(vectors[name][:1]) for name in ("coef_u", "intercept_u")}
    one = {"log_start": np.array([0, 1], dtype=np.int64)}
    yield own["coef"][0], own["intercept"][0]
    for k in range(first, last):
        entry = {name: vectors[name][k : k + 1] for name in ("log_row", "log_t", "log_step", "log_bias")}
        own = engine.replay(rows, own | sums | one | entry, upto=np.ones(1, dtype=np.int64))
        yield own["coef"][0], own["intercept"][0]


def ballots(
    vectors: Vectors, seen: NDArray[np.int64], engine: Engine, rows: Rows, threads: int
) -> NDArray[np.float64]:
    """Return the votes (n, K) of all vectors on every row, divided by the number of votes."""
    counts = counts_of(vectors, seen)
    state = vectors | {"log_count": np.concatenate(counts)}
    votes = engine.votes(rows, rows_of(vectors, engine), state, threads=threads)
    number = np.array([count.sum() for count in counts])
    shares: NDArray[np.float64] = votes / np.maximum(number, 1)  # no votes are shared as 0
    return shares


def rows_of(vectors: Vectors, engine: Engine) -> Rows:
    """Return the stored rows as those of an engine."""
    stored = _stored(vectors)
    if "rows" in stored:
        return engine.dense_rows(np.require(stored["rows"], requirements=["C", "A"]))
    parts = [np.require(stored[name], requirements=["C", "A"]) for name in sorted(stored)]
    indices, indptr, values = parts
    return engine.csr_rows(indptr, indices, values, vectors["coef"].shape[1])


def _stored(vectors: Vectors) -> Vectors:
    return {name: array for name, array in vectors.items() if name.startswith("rows")}


def _n_stored(vectors: Vectors) -> int:
    return len(vectors["rows"]) if "rows" in vectors else len(vectors["rows_indptr"]) - 1


def _planes(log: State) -> NDArray[np.intp]:
    lengths = np.diff(log["log_start"])
    return np.repeat(np.arange(len(lengths)), lengths)
