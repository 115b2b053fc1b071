"""One partition on its worker: read, and learnt from. Nothing here knows whose worker that is."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows, csr_of, csr_renumbered, stored_csr
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import stored_values
from perceptron_rs.audit.digests import Digests
from perceptron_rs.distributed.weights import EpochWeights
from perceptron_rs.engines import get_engine, rows_of
from perceptron_rs.float_mode import standard
from perceptron_rs.io.batches import Batch
from perceptron_rs.mixing.rounds import make_pass
from perceptron_rs.mixing.shares import Change, Share, expand_share, restrict_state
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.settings import Chain, Data, Linear, Sequences
from perceptron_rs.targets.labels import encode
from perceptron_rs.targets.weights import survey_labels


class Parsed(NamedTuple):
    """Contents of a partition: rows as engines store them, and labels as passed; many as 0 and 1."""

    stored: StoredRows
    columns: int
    names: tuple[str, ...] | None  # of the columns
    labels: NDArray[np.generic]
    weights: NDArray[np.float64] | None = None
    lengths: NDArray[np.int64] | None = None  # of sequences
    #: What the columns stand for, in this partition alone; none, if attributes are hashed.
    attributes: tuple[str, ...] | None = None


#: Reads the examples of a learner; the errors are those of its ``fit``.

Parse: TypeAlias = Callable[[Batch], Parsed]


class PartitionFacts(NamedTuple):
    """What is known of a partition when it has been read."""

    examples: int  # or sequences
    columns: int
    names: tuple[str, ...] | None
    classes: NDArray[np.generic]  # labels that occur, sorted; of many, the numbers of the columns
    #: How often, examples of weight 0 left out; of many labels, how many have not and have each, (K, 2).
    counts: NDArray[np.int64]
    entries: int
    digest: str
    attributes: tuple[str, ...] | None
    uses: NDArray[np.int64] | None  # tokens with each of the attributes
    is_multilabel: bool


class Encoding(NamedTuple):
    """Which numbers all partitions give to labels and attributes."""

    classes: NDArray[np.generic]
    columns: NDArray[np.int64] | None = None  # of the attributes of this partition; -1: none


class EpochTask(NamedTuple):
    """What every partition is asked to do in an epoch."""

    engine: str
    mixing: str
    number: int  # of the epoch
    ended: tuple[int, ...]  # the decisions that learn no more


class Partition:
    """A partition to learn from. Where it goes to another process, it is wrapped for the engine again."""

    def __init__(self, number: int, parsed: Parsed) -> None:
        self.number, self.parsed = number, parsed
        self.facts = survey(parsed)
        self._data: tuple[str, Data, NDArray[np.int64] | None] | None = None  # of an engine

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_data": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self.parsed = Parsed(*map(aligned, self.parsed))

    def __sizeof__(self) -> int:
        arrays = [*self.parsed.stored.values(), self.parsed.labels, self.parsed.weights, self.parsed.lengths]
        return object.__sizeof__(self) + sum(array.nbytes for array in arrays if array is not None)

    def data(
        self, engine: str, encoding: Encoding, columns: int, *, may_be_few: bool
    ) -> tuple[Data, NDArray[np.int64] | None]:
        """Return what the engine learns from; and the columns with entries, if it has these few alone.

        A partition without rows may not know its columns.
        """
        if self._data is None or self._data[0] != engine:
            stored, labels, weights = self.parsed.stored, np.zeros(0, dtype=np.uint32), self.parsed.weights
            own = None
            if not len(self.parsed.labels):  # whose type nobody may know
                stored = {"rows": np.zeros((0, columns))}
            else:
                labels = encode(self.parsed.labels, encoding.classes, least=1)
                if encoding.columns is not None:
                    indptr, indices, values = csr_of(stored)
                    stored = stored_csr(*csr_renumbered(indptr, encoding.columns[indices], values))
                if may_be_few and "rows_indices" in stored:
                    stored, own = drop_empty_columns(stored, columns)
            rows = rows_of(get_engine(engine), stored, columns if own is None else len(own))
            data = Data(rows, labels, weights)
            if self.parsed.lengths is not None:
                data = Sequences(rows, labels, lengths=self.parsed.lengths)
            self._data = engine, data, own
        return self._data[1:]


def facts_of(partition: Partition) -> PartitionFacts:
    """Return what is known of a partition."""
    return partition.facts


def survey(parsed: Parsed) -> PartitionFacts:
    """Return the facts of a partition: its size, classes, counts and digests."""
    is_multilabel = parsed.labels.ndim == 2
    classes, labels, counts = survey_labels(parsed.labels, parsed.weights)
    digests = Digests().with_call(parsed.stored, parsed.columns, labels, parsed.weights)
    lengths = None if parsed.lengths is None else parsed.lengths.tolist()
    names = [classes.tolist()] if is_multilabel else classes.tolist()
    contents = (digests, names, lengths, parsed.names, parsed.attributes)
    uses = None
    if parsed.attributes:
        uses = np.bincount(parsed.stored["rows_indices"], minlength=len(parsed.attributes))
    return PartitionFacts(
        examples=len(parsed.labels if parsed.lengths is None else parsed.lengths),
        columns=parsed.columns,
        names=parsed.names,
        classes=classes,
        counts=counts,
        entries=int(stored_values(parsed.stored).size),
        digest=sha256(repr(contents).encode()).hexdigest(),
        attributes=parsed.attributes,
        uses=uses,
        is_multilabel=is_multilabel,
    )


def drop_empty_columns(stored: StoredRows, columns: int) -> tuple[StoredRows, NDArray[np.int64] | None]:
    """Return CSR rows without the columns that none of them has, if these are most, and the columns left.

    Whole groups of eight columns stay or go: so each column keeps its lane (rule 3), and sums their bits.
    """
    indices = stored["rows_indices"]
    is_there = np.zeros(-(-columns // 8), dtype=np.bool_)
    is_there[indices >> 3] = True
    groups = np.flatnonzero(is_there)
    if 16 * len(groups) > columns:
        return stored, None
    numbers = np.zeros(len(is_there), dtype=indices.dtype)
    numbers[groups] = np.arange(len(groups))
    own = (groups[:, np.newaxis] * 8 + np.arange(8)).reshape(-1)
    return stored | {"rows_indices": numbers[indices >> 3] << 3 | indices & 7}, own[own < columns]


def aligned(part: Any) -> Any:
    """Return an array, or arrays by name, as engines read them: a network may put them anywhere."""
    if isinstance(part, dict):
        return {name: aligned(array) for name, array in part.items()}
    return np.require(part, requirements=["C", "A"]) if isinstance(part, np.ndarray) else part


def batch_of(X: MatrixLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> Batch:
    """Return a block; without y, X is a batch, or a callable that returns one."""
    if y is not None:
        return Batch(X, y, sample_weight)
    parts = X() if callable(X) else X
    if not isinstance(parts, tuple) or not 2 <= len(parts) <= 4:
        raise TypeError(f"a block without y must be a tuple (X, y) or a Batch, got {parts!r:.80}")
    return Batch(*parts)


def read_partition(
    number: int, parse: Parse, X: MatrixLike, y: ArrayLike = None, sample_weight: ArrayLike = None
) -> Partition:
    """Read a block; the errors for a wrong one name the partition."""
    try:
        with standard():
            return Partition(number, parse(batch_of(X, y, sample_weight)))
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


def learn_partition(
    partition: Partition,
    encoding: Encoding,
    settings: Linear | Chain,
    expected: str,
    weights: EpochWeights,
    task: EpochTask,
    *changes: Change,
) -> Share:
    """Make one pass, from the weights after these changes.

    Raises
    ------
    PartitionChangedError
        If the digest is not the one that is expected, because a source was read again.
    ValueError
        If training overflows.
    """
    if partition.facts.digest != expected:
        raise PartitionChangedError(partition.number)
    state = weights.after(changes)
    columns = state["coef"].shape[1] if "coef" in state else len(state["emission_indptr"]) - 1
    # A penalty shrinks the weights of all columns, in whatever rows they occur.
    may_be_few = isinstance(settings, Linear) and settings.penalty is None
    data, own = partition.data(task.engine, encoding, columns, may_be_few=may_be_few)
    before = state if own is None else restrict_state(state, own)
    try:
        of_task = task.mixing, task.number, task.ended
        made = make_pass(get_engine(task.engine), data, settings, aligned(before), *of_task).share
        return made if own is None else expand_share(made, state, own)
    except OverflowError as error:
        _assert_finite(partition, data)
        raise ValueError(str(error)) from None


def _assert_finite(partition: Partition, data: Data) -> None:
    """Raise ValueError if there is a NaN or an infinity in X."""
    parsed = partition.parsed
    first = 0 if parsed.lengths is None else None  # tokens have no number
    rows = ValidatedRows(data.rows, parsed.stored)
    try:
        rows.assert_finite(SimpleNamespace(feature_names_in_=parsed.names), first)
    except ValueError as error:
        raise ValueError(f"partition {partition.number}: {error}") from None


class _NumberedError(RuntimeError):
    def __init__(self, partition: int) -> None:
        super().__init__(partition)
        self.partition = partition


class PartitionError(_NumberedError):
    """A partition ends every worker that reads it or learns from it.

    Parameters
    ----------
    partition : int
        Its number.
    """

    def __str__(self) -> str:
        return (
            f"partition {self.partition} ended each worker that tried it, for instance because it does not "
            f"fit in memory; cut it into smaller ones, or look at its data"
        )


class PartitionChangedError(_NumberedError):
    """A partition that was read again has other rows than at first.

    Parameters
    ----------
    partition : int
        Its number.
    """

    def __str__(self) -> str:
        return (
            f"partition {self.partition} was read again, and has other rows, labels or weights than at "
            f"first; make its source give the same each time, in the same order"
        )
