"""All weight vectors of a run, as its start vectors and the log of mistakes.

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
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import frozen, own_copies, rows_in, without_rows, zeros
from perceptron_rs.engines import Engine, LinearModel, Model, Rows, RunState, State, get_engine, rows_of
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import concatenate_rows, select_rows
from perceptron_rs.schema.columns import COLUMNS, within
from perceptron_rs.schema.mistake_log import draw_vectors, plane_of_entries, survival_counts

Vectors: TypeAlias = State

Hyperplanes: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]

#: What their names begin with in the state of a model, and in that of a run over a stream.
PREFIX = "vectors_"
LAST = ("coef", "intercept", "seen")
_ENTRIES = ("log_row", "log_t", "log_step", "log_bias", "log_origin")


def cold_vectors(start: LinearModel) -> Vectors:
    """Return the vectors of a cold start: those of a model of an engine, and an empty log."""
    planes, columns = start.shape
    whole = np.zeros(0, dtype=np.int64)
    return {
        "coef": zeros((planes, columns)) if start.is_zero else start["coef"],
        "intercept": start["intercept"],
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


@dataclass(frozen=True, slots=True, eq=False)
class MistakeLog:
    """The mistakes of a run: its log, and copies of the rows that it names."""

    log: State
    place: NDArray[np.int64]  # of each entry, among these rows
    rows: Vectors
    fit_intercept: bool
    first_row: int

    @classmethod
    def of(cls, log: State, data: ValidatedRows, *, fit_intercept: bool, first_row: int = 0) -> Self:
        """Return those of a run on these examples, from row ``first_row`` on."""
        distinct, place = np.unique(log["log_row"], return_inverse=True)
        rows = select_rows(data.stored, distinct)
        return cls(log, place.reshape(-1).astype(np.int64), rows, fit_intercept, first_row)

    def entries(self, n_stored: int) -> Vectors:
        """Return the entries, if so many rows are stored before these."""
        step = self.log["log_step"]
        return {
            "log_row": self.place + n_stored,
            "log_t": self.log["log_t"],
            "log_step": step,
            "log_bias": step if self.fit_intercept else np.zeros(len(step)),
            "log_origin": self.log["log_row"] + self.first_row,
        }


#: A linked list of logs that are not yet joined: the earlier ones, the last one, the number of entries.
Pending: TypeAlias = tuple["Pending | None", MistakeLog, int]


def extended_vectors(vectors: Vectors, *runs: MistakeLog) -> Vectors:
    """Return the vectors with those that some runs have added."""
    runs = tuple(run for run in runs if len(run.place))
    if not runs:
        return vectors
    before = np.cumsum([_n_stored(vectors), *(_n_stored(run.rows) for run in runs)]).tolist()
    added = [vectors, *(run.entries(n) for run, n in zip(runs, before, strict=False))]
    logs = [vectors, *(run.log for run in runs)]
    order = np.argsort(np.concatenate([plane_of_entries(log) for log in logs]), kind="stable")
    entries = {name: np.concatenate([part[name] for part in added])[order] for name in _ENTRIES}
    rows = concatenate_rows(rows_in(vectors), *(run.rows for run in runs))
    kept = without_rows(vectors)
    start = np.add.reduce([log["log_start"] for log in logs])
    return kept | entries | rows | {"log_start": start}


def newest_vectors(vectors: Vectors, engine: Engine, most: int | None) -> Vectors:
    """Return the last ``most`` vectors of each plane: the oldest of these is the new start."""
    lengths = np.diff(vectors["log_start"])
    gone = np.zeros_like(lengths) if most is None else np.maximum(lengths + 1 - most, 0)
    if not gone.any():
        return vectors
    new = engine.replay(log_rows(vectors, engine), vectors, upto=gone)
    last = vectors["log_start"][:-1] + gone - 1  # the entry that made the new start vector
    for first, entry in (("first_t", "log_t"), ("first_row", "log_origin")):
        new[first] = np.where(gone > 0, vectors[entry][np.maximum(last, 0)], vectors[first])
    number = np.arange(len(vectors["log_row"])) - np.repeat(vectors["log_start"][:-1], lengths)
    kept = number >= np.repeat(gone, lengths)
    entries = {name: vectors[name][kept] for name in _ENTRIES}
    used, place = np.unique(entries["log_row"], return_inverse=True)
    entries["log_row"] = place.reshape(-1).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(lengths - gone)]).astype(np.int64)
    return new | entries | select_rows(rows_in(vectors), used) | {"log_start": start}


def each_vector(
    vectors: Vectors, engine: Engine, plane: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield weights (d,) and intercept () of each vector of a plane, one update after another."""
    rows, first, last = log_rows(vectors, engine), *vectors["log_start"][plane : plane + 2]
    own = {name: vectors[name][plane : plane + 1] for name in ("coef", "intercept")}
    sums = {name: np.zeros_like(vectors[name][:1]) for name in ("coef_u", "intercept_u")}
    one = {"log_start": np.array([0, 1], dtype=np.int64)}
    yield own["coef"][0], own["intercept"][0]
    for k in range(first, last):
        entry = {name: vectors[name][k : k + 1] for name in ("log_row", "log_t", "log_step", "log_bias")}
        own = engine.replay(rows, own | sums | one | entry, upto=np.ones(1, dtype=np.int64))
        yield own["coef"][0], own["intercept"][0]


class VotedModel:
    """What a voted perceptron has learnt: all vectors, and a model of the engine with the last one.

    It never changes. What runs have made is joined when somebody asks for the vectors, or has become more
    than what is joined: a pass over a few examples costs what its own mistakes cost.
    """

    last_pass = None

    def __init__(
        self, engine: Engine, last: LinearModel, vectors: Vectors, seed: int, made: Pending | None = None
    ) -> None:
        self.engine, self.last, self.seed, self.shape = engine, last, seed, last.shape
        #: What is joined, and what is not: the runs before and the last one, None: nothing.
        self._parts: tuple[Vectors, Pending | None] = frozen(vectors), made
        self._weights: dict[str, Hyperplanes] = {}

    @classmethod
    def from_state(cls, engine: Engine, state: State) -> Self:
        """Return the model of copies of the arrays of a state."""
        vectors = {name.removeprefix(PREFIX): w for name, w in state.items() if name.startswith(PREFIX)}
        seed = int(vectors.pop("seed")[0])
        return cls(engine, last_model(engine, state), own_copies(vectors), seed)

    def after(self, state: RunState, made: MistakeLog, most: int | None, seed: int) -> Self:
        """Return the model after a run that has ended in this state, with the last ``most`` vectors."""
        known, before = self._parts
        n_pending = len(made.place) + (before[2] if before else 0)
        last = last_model(self.engine, state)
        model = type(self)(self.engine, last, known, seed, (before, made, n_pending))
        if most is None and n_pending <= len(known["log_row"]):
            return model
        vectors = model.vectors if most is None else newest_vectors(model.vectors, self.engine, most)
        return type(self)(self.engine, last, vectors, seed)

    @property
    def vectors(self) -> Vectors:
        """All vectors."""
        known, rest = self._parts
        if rest is None:
            return known
        runs = []
        while rest is not None:
            rest, made, _ = rest
            runs.append(made)
        vectors = extended_vectors(known, *reversed(runs))
        self._parts = frozen(vectors), None
        return vectors

    def state(self) -> State:
        """Return all that it takes to go on."""
        vectors = self.vectors | {"seed": np.array([self.seed], dtype=np.int64)}
        return {name: self.last[name] for name in LAST} | {
            f"{PREFIX}{name}": w for name, w in vectors.items()
        }

    def keys(self) -> list[str]:
        """Return the names of the numbers of the last vector."""
        return list(LAST)

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        return self.last[name]

    def __contains__(self, name: object, /) -> bool:
        return name in LAST

    @property
    def is_zero(self) -> bool:
        """Whether all is as at a start from zeros."""
        return self.last.is_zero and len(self.vectors["log_row"]) == 0

    @property
    def coef(self) -> NDArray[np.float64]:
        """Weights of the last vector."""
        return self["coef"]

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercepts of the last vector."""
        return self["intercept"]

    def copy(self, *, last_pass: bool = True) -> Self:  # noqa: ARG002
        """Return the model, which never changes."""
        return self

    def scores(self, rows: Rows, prediction: str, tie: str, threads: int) -> NDArray[np.float64]:
        """Return what every row gets under a kind of prediction, (n, K)."""
        if prediction == "vote":
            return ballots(self.vectors, self["seen"], self.engine, rows, tie, threads)
        return self.engine.scores(rows, *self.weights(prediction), threads=threads)

    def weights(self, prediction: str) -> Hyperplanes:
        """Return the weights and intercepts of a kind of prediction that is no vote."""
        if prediction == "last":
            return self.coef, self.intercept
        planes = self._weights.get(prediction)
        if planes is None:
            coef, intercept = self._replayed(prediction)
            coef.flags.writeable = intercept.flags.writeable = False
            planes = self._weights[prediction] = coef, intercept
        return planes

    def _replayed(self, prediction: str) -> Hyperplanes:
        vectors, seen = self.vectors, self["seen"]
        counts = survival_counts(vectors, seen)
        if prediction == "average":
            numbers = np.diff(vectors["log_start"])
        elif prediction == "longest":
            numbers = np.array([count.argmax() for count in counts], dtype=np.int64)
        else:
            numbers = draw_vectors(counts, self.seed)
        replayed = self.engine.replay(log_rows(vectors, self.engine), vectors, upto=numbers)
        if prediction == "average":
            model = self.engine.Model.from_state("averaged", replayed | {"seen": seen})
            return model.coef, model.intercept
        return replayed["coef"], replayed["intercept"]


def last_model(engine: Engine, state: RunState) -> Model:
    """Return a model of the engine with the last vector of a state or a model."""
    return engine.Model.from_state("voted", {name: state[name] for name in LAST})


def ballots(
    vectors: Vectors, seen: NDArray[np.int64], engine: Engine, rows: Rows, tie: str, threads: int
) -> NDArray[np.float64]:
    """Return the votes (n, K) of all vectors on every row, divided by the number of votes."""
    counts = survival_counts(vectors, seen)
    state = vectors | {"log_count": np.concatenate(counts)}
    votes = engine.votes(rows, log_rows(vectors, engine), state, tie=tie, threads=threads)
    number = np.array([count.sum() for count in counts])
    shares: NDArray[np.float64] = votes / np.maximum(number, 1)  # no votes are shared as 0
    return shares


def log_rows(vectors: Vectors, engine: Engine) -> Rows:
    """Return the stored rows, which the log names, as the engine has them."""
    return rows_of(engine, rows_in(vectors), vectors["coef"].shape[1])


def check_vectors(arrays: State) -> None:
    """Raise ValueError unless the vectors in a state are those of a run that ended at its weights."""
    vectors = {name.removeprefix(PREFIX): w for name, w in arrays.items() if name.startswith(PREFIX)}
    if COLUMNS in arrays:
        vectors |= within(rows_in(vectors), arrays[COLUMNS])
    engine = get_engine("rust")
    try:
        last = engine.replay(log_rows(vectors, engine), vectors, upto=np.diff(vectors["log_start"]))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the tensors {PREFIX}... do not agree: {error}") from None
    logs = np.split(vectors["log_t"], vectors["log_start"][1:-1])
    for first, log, seen in zip(vectors["first_t"], logs, arrays["seen"], strict=True):
        times = np.concatenate([[first], log, [seen + 1]])
        if (np.diff(times) < 0).any() or (np.diff(log) < 1).any():
            raise ValueError(f"the tensors {PREFIX}log_t and {PREFIX}first_t must rise to the examples seen")
    if any(last[name].tobytes() != arrays[name].tobytes() for name in ("coef", "intercept")):
        raise ValueError(f"the tensors {PREFIX}... do not lead to the weights of the file")


def _n_stored(vectors: Vectors) -> int:
    return len(vectors["rows"]) if "rows" in vectors else len(vectors["rows_indptr"]) - 1
