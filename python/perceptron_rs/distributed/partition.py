"""One partition on its worker: read, encoded, learnt from. Nothing here knows whose worker that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.digests import Digests, Stored
from perceptron_rs.common.labels import encode, label_array
from perceptron_rs.common.mixing import make_pass
from perceptron_rs.common.rows.examples import Examples, examples
from perceptron_rs.common.rows.selection import rows_of
from perceptron_rs.common.rows.storage import to_stored
from perceptron_rs.common.weights import sample_weights
from perceptron_rs.distributed.errors import PartitionChangedError
from perceptron_rs.engines import get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.linear.perceptron import Perceptron
from perceptron_rs.settings import Data, Epoch, Linear, State

__all__ = ["Facts", "Learnt", "Partition", "Source", "encoded", "learn", "read"]


class Facts(NamedTuple):
    """What is known of a partition before the classes are."""

    rows: int
    columns: int
    names: tuple[str, ...] | None  # of the columns
    classes: NDArray[Any]  # labels that occur, sorted
    counts: NDArray[np.int64]  # how often


@dataclass(frozen=True)
class Source:
    """A partition as it was read: rows as engines store them, and labels as they were given."""

    number: int
    stored: Stored
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    facts: Facts


class Partition:
    """A partition to learn from. Where it goes to another process, it is wrapped for the engine again."""

    def __init__(self, source: Source, classes: NDArray[Any]) -> None:
        self.number, self.stored, self.weights = source.number, source.stored, source.weights
        self.columns = source.facts.columns
        no_labels = np.zeros(0, dtype=np.uint32)  # of no rows, whose type nobody may know
        self.labels = encode(source.labels, classes) if source.facts.rows else no_labels
        found = Digests().with_call(self.stored, self.columns, self.labels, self.weights)
        self.digest = sha256(repr(found).encode()).hexdigest()
        self._data: dict[str, Data] = {}  # by engine

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_data": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.stored = aligned(self.stored)
        self.labels = np.require(self.labels, requirements=["C", "A"])
        if self.weights is not None:
            self.weights = np.require(self.weights, requirements=["C", "A"])

    @property
    def entries(self) -> int:
        """Number of values that are stored."""
        return int(self.stored["rows" if "rows" in self.stored else "rows_values"].size)

    def data(self, engine: str, columns: int) -> Data:
        """Return what the engine learns from. A partition without rows may not know its columns."""
        if engine not in self._data:
            stored = self.stored if len(self.labels) else {"rows": np.zeros((0, columns))}
            rows = rows_of(get_engine(engine), stored, columns)
            self._data[engine] = Data(rows, self.labels, self.weights)
        return self._data[engine]


class Learnt(NamedTuple):
    """What a pass has learnt."""

    state: State
    epoch: Epoch
    seconds: float


def aligned(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays as engines read them: those that came through a network may lie anywhere."""
    return {name: np.require(array, requirements=["C", "A"]) for name, array in arrays.items()}


def read(number: int, X: Any, y: Any, sample_weight: Any = None) -> Source:
    """Read a block; the errors for a wrong one name the partition."""
    try:
        return _read(number, X, y, sample_weight)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


@standard()
def _read(number: int, X: Any, y: Any, sample_weight: Any) -> Source:
    if y is None:  # a source of both
        X, y, sample_weight = (*X(), None)[:3]
    model = Perceptron()  # whose checks these are
    if X.shape[0]:
        data = examples(model, get_engine("rust"), X, reset=True)
        stored, names = data.stored, getattr(model, "feature_names_in_", None)
    else:
        stored, names = {"rows": to_stored(np.zeros(X.shape))}, None
    labels = np.asarray(y).reshape(-1)[:0] if X.shape[0] == 0 else label_array(model, y, X.shape[0])
    weights = None
    if sample_weight is not None and X.shape[0]:
        weights = sample_weights(sample_weight, labels)
        assert weights is not None
        data.assert_finite_in(weights == 0, model)  # the engine does not meet these rows
    classes, counts = np.unique(labels, return_counts=True)
    told = None if names is None else tuple(map(str, names))
    return Source(
        number, stored, labels, weights, Facts(X.shape[0], X.shape[1], told, classes, counts.astype(np.int64))
    )


def encoded(source: Source, classes: NDArray[Any]) -> Partition:
    """Return the partition with its labels as indices of the classes, and its digest."""
    return Partition(source, classes)


def learn(
    partition: Partition,
    state: State,
    engine: str,
    settings: Linear,
    number: int,
    ended: Iterable[int],
    expected: str,
) -> Learnt:
    """Make one pass.

    Raises
    ------
    PartitionChangedError
        If the digest is not the one that is expected, because a source was read again.
    ValueError
        If training overflows.
    """
    if partition.digest != expected:
        raise PartitionChangedError(partition.number)
    begin = perf_counter()
    try:
        data = partition.data(engine, state["coef"].shape[1])
        done = make_pass(get_engine(engine), data, settings, aligned(state), number, ended)
    except OverflowError as error:
        values = partition.stored["rows" if "rows" in partition.stored else "rows_values"]
        Examples(data.rows, values, None, partition.stored).assert_finite(Perceptron())
        raise ValueError(str(error)) from None
    return Learnt(done.state, done.epoch, perf_counter() - begin)
