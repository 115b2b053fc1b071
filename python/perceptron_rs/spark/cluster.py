"""The partitions of a fit on Spark: each question to them is a job of ``mapInArrow``, a task each.

Weights are broadcast: whole once, and then what epochs have changed. A Python worker keeps what has been
broadcast from job to job, and so the weights that it has made of them.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast, TaskContext
from pyspark.sql import Column, DataFrame, functions

from perceptron_rs.arrays.named import State
from perceptron_rs.distributed.partition import (
    Encoding,
    EpochTask,
    Parse,
    Partition,
    PartitionChangedError,
    PartitionError,
    PartitionFacts,
    facts_of,
    learn_partition,
    read_partition,
)
from perceptron_rs.distributed.weights import EpochWeights, Mixture, SentWeights, mixed
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.tables.columns import (
    CellError,
    features_of,
    is_lists,
    matrix,
    number_column,
    quoted_names,
)
from perceptron_rs.mixing.shares import Change, Share
from perceptron_rs.settings import Chain, Linear

#: What tasks return: the number of the partition, and an answer.
_ANSWER = "number int, answer binary"

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold the examples: of one list each, or of numbers.

    A row of ``is_sequence`` holds the tokens of a sequence, and their labels.
    """

    features: tuple[str, ...]
    label: str
    weight: str | None = None
    is_sequence: bool = False

    @property
    def all(self) -> list[str]:
        """The names."""
        return [*self.features, self.label, *([self.weight] if self.weight else [])]


class SparkCluster:
    """See `perceptron_rs.distributed.fitting.Cluster`."""

    def __init__(self, frame: DataFrame, columns: Columns) -> None:
        if not hasattr(frame, "mapInArrow"):
            raise TypeError(
                f"frame must be a data frame of Spark, got {frame!r:.80}; make one by createDataFrame of a "
                f"SparkSession"
            )
        if not columns.features:
            raise ValueError("features must name a column, got none")
        for name in columns.all:
            if name not in frame.columns:
                raise ValueError(
                    f"frame has no column {name!r:.80}; its columns are {quoted_names(frame.columns)}"
                )
            if columns.all.count(name) > 1:
                raise ValueError(f"column {name!r:.80} is named twice in features, label and weight")
        self.columns = columns
        self.frame = numbered(frame.select([as_list(frame, name) for name in columns.all]))
        self.context = frame.sparkSession.sparkContext
        self.parse: Parse  # once it is known
        self.encodings: Broadcast | None = None
        self.of_each: tuple[Sequence[Linear | Chain], Sequence[str]]
        self.sent = SentWeights(self.send)
        self.broadcasts: list[Broadcast] = []

    def look(self, parse: Parse) -> list[PartitionFacts]:
        """Read the partitions."""
        self.parse = parse
        facts: list[PartitionFacts] = self.ask(facts_of)
        return facts

    def begin(
        self, encodings: Sequence[Encoding], settings: Sequence[Linear | Chain], digests: Sequence[str]
    ) -> None:
        """Take what is needed of each partition to learn from it."""
        self.encodings, self.of_each = self.context.broadcast(encodings), (settings, digests)

    def round(self, state: State, task: EpochTask) -> tuple[State, Mixture]:
        """Make a pass over each partition, and mix here, where the weights are broadcast from."""
        weights, changes = self.sent.weights(state, self.sent.change(state), task.number)
        self.keep([weights, *changes])
        shares: list[Share] = self.ask(
            partial(learn_again, self.encodings, *self.of_each, weights, task, changes)
        )
        return self.sent.after(state, mixed(self.of_each[0][0], state, shares, task.number))

    def send(self, value: EpochWeights | Change, _epoch: int) -> Broadcast:
        """Broadcast weights, or what has changed."""
        self.broadcasts.append(self.context.broadcast(value))
        return self.broadcasts[-1]

    def keep(self, wanted: Sequence[Broadcast]) -> None:
        """Let go what has been broadcast of the weights, but for that."""
        for broadcast in self.broadcasts:
            if broadcast not in wanted:
                broadcast.destroy()
        self.broadcasts = list(wanted)

    def close(self) -> None:
        """Let go all that has been broadcast."""
        self.keep([])
        if self.encodings is not None:
            self.encodings.destroy()

    def ask(self, question: Callable[[Partition], Answer]) -> list[Answer]:
        """Return the answers of all partitions, in their order."""
        try:
            rows = self.frame.mapInArrow(
                partial(answered, question, self.parse, self.columns), _ANSWER
            ).collect()
        except Exception as error:  # what Spark raises depends on how one is connected to it
            raise error_of_partition(error) from error
        answers = {row["number"]: pickle.loads(row["answer"]) for row in rows}
        return [answers[p] for p in range(len(answers))]


def as_list(frame: DataFrame, name: str) -> Column:
    """Return a column that Arrow can carry: vectors of pyspark.ml become lists."""
    column = functions.col(f"`{name.replace('`', '``')}`")
    if frame.schema[name].dataType.typeName() != "vectorudt":
        return column
    from pyspark.ml.functions import vector_to_array

    return functions.when(column.isNotNull(), vector_to_array(column)).alias(name)  # it fails on null


def numbered(frame: DataFrame) -> DataFrame:
    """Return the data frame with numbers as names: to Spark a dot in a name is of a column within another."""
    return frame.toDF(*map(str, range(len(frame.columns))))


def answered(
    question: Callable[[Partition], object], parse: Parse, columns: Columns, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Answer a question on a worker."""
    context = TaskContext.get()
    number = context.partitionId() if context is not None else 0
    rows = (pa.RecordBatch.from_arrays(part.columns, columns.all) for part in batches)
    answer = question(read_partition(number, parse, lambda: batch_of_rows(list(rows), columns)))
    payload = pickle.dumps(answer, protocol=5)
    yield pa.record_batch([pa.array([number], pa.int32()), pa.array([payload])], names=["number", "answer"])


def batch_of_rows(parts: Sequence[pa.RecordBatch], columns: Columns) -> Batch:
    """Return the examples of some rows; without a column of labels, without them."""
    if not sum(part.num_rows for part in parts):
        return Batch(np.zeros((0, 0)), np.zeros(0))
    table = pa.Table.from_batches(parts)
    y = None if columns.label not in table.column_names else table[columns.label]
    if columns.is_sequence:
        tokens, labels = table[columns.features[0]].to_pylist(), None if y is None else y.to_pylist()
        if not pa.types.is_floating(innermost(table[columns.features[0]].type)):
            return Batch(tokens, labels)
        check_sequences(tokens, labels)
        lengths = [len(sequence) for sequence in tokens]
        rows = np.array([token for sequence in tokens for token in sequence])
        flat = None if labels is None else [label for sequence in labels for label in sequence]
        return Batch(rows, flat, None, lengths)
    try:
        weight = None if columns.weight is None else number_column(table[columns.weight], columns.weight)
        if y is not None:
            y = matrix_of_columns(table, [columns.label]) if is_lists(y.type) else y.to_numpy()
        return Batch(matrix_of_columns(table, columns.features), y, weight)
    except CellError as error:
        row = "" if error.row is None else f"row {error.row + 1}: "
        raise ValueError(f"{row}{error.facts['text']}") from None


def innermost(kind: pa.DataType) -> pa.DataType:
    """Return the type of what lists of lists hold."""
    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = kind.value_type
    return kind


def matrix_of_columns(table: pa.Table, names: Sequence[str]) -> NDArray[np.generic]:
    """Return columns of numbers, or of lists of them, as one matrix."""
    return matrix(table, features_of(table.schema, names, lambda: table))


def check_sequences(sequences: Sequence[Any], labels: Sequence[Any] | None) -> None:
    """Raise ValueError for the first row whose tokens have other lengths, or whose labels are not as many."""
    width = next((len(token) for sequence in sequences for token in sequence or () if token), 0)
    for row, sequence in enumerate(sequences):
        if sequence is None or any(token is None or len(token) != width for token in sequence):
            raise ValueError(
                f"row {row + 1}: the tokens must be lists of {width} numbers, got {sequence!r:.80}"
            )
        if labels is not None and len(labels[row] or ()) != len(sequence):
            raise ValueError(
                f"row {row + 1}: there must be a label for each of {len(sequence)} tokens, got "
                f"{labels[row]!r:.80}"
            )


def learn_again(
    encodings: Broadcast,
    settings: Sequence[Linear | Chain],
    digests: Sequence[str],
    weights: Broadcast,
    task: EpochTask,
    changes: Sequence[Broadcast],
    partition: Partition,
) -> Share:
    """Make a pass. The partition is read anew in each epoch, and its digest compared."""
    p = partition.number
    of_each = encodings.value[p], settings[p], digests[p]
    return learn_partition(partition, *of_each, weights.value, task, *(change.value for change in changes))


def error_of_partition(error: Exception) -> Exception:
    """Return the error of a job as that of its partition, where it is one: Spark passes on texts."""
    text = str(error)
    changed = re.search(r"PartitionChangedError: partition (\d+) was read again", text)
    if changed is not None:
        return PartitionChangedError(int(changed[1]))
    messages = re.findall(r"^(?:ValueError|TypeError|perceptron_rs\.errors\.\w+): (.*)$", text, re.MULTILINE)
    if messages:
        return ValueError(messages[-1])  # those before are what it was raised from
    died = re.search(r"Task (\d+) in stage", text)
    if died is not None and ("worker exited unexpectedly" in text or "ExecutorLostFailure" in text):
        return PartitionError(int(died[1]))
    return error
