"""The partitions of a fit on Spark: each question to them is a job of ``mapInArrow``, a task each."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame, functions

from perceptron_rs.common.mixing import mix
from perceptron_rs.distributed.errors import PartitionChangedError, PartitionError
from perceptron_rs.distributed.fitting import Encoded, Round
from perceptron_rs.distributed.partition import Facts, Learnt, Source, encoded, learn, read
from perceptron_rs.settings import Linear, State

__all__ = ["Columns", "SparkCluster", "matrix"]

#: What tasks return: the number of the partition, and an answer.
_ANSWER = "number int, answer binary"


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold the examples: of one list each, or of numbers."""

    features: tuple[str, ...]
    label: str
    weight: str | None


class SparkCluster:
    """See `perceptron_rs.distributed.fitting.Cluster`."""

    def __init__(self, frame: DataFrame, columns: Columns) -> None:
        self.columns = columns
        names = [*columns.features, columns.label, *([columns.weight] if columns.weight else [])]
        self.frame = frame.select([as_list(frame, name) for name in names])
        self.context = frame.sparkSession.sparkContext
        self.classes: NDArray[Any]  # once they are known

    def look(self) -> list[Facts]:
        """Read the partitions."""
        found: list[Facts] = self.ask(facts_of)
        return found

    def encode(self, classes: NDArray[Any]) -> list[Encoded]:
        """Turn labels into class indices."""
        self.classes = classes
        found: list[Encoded] = self.ask(partial(encoded_of, classes))
        return found

    def round(
        self,
        state: State,
        engine: str,
        settings: Sequence[Linear],
        mixing: str,
        number: int,
        ended: Collection[int],
        digests: Sequence[str],
    ) -> Round:
        """Make a pass over each partition, and mix here, where the weights are broadcast from."""
        common = self.context.broadcast((state, settings, digests))
        try:
            passes = self.ask(partial(learnt_of, common, self.classes, engine, number, sorted(ended)))
        finally:
            common.destroy()
        mixed, epoch = mix(settings[0], state, [(done.state, done.epoch) for done in passes], mixing, number)
        mistakes = [int(np.add.reduce(done.epoch.mistakes)) for done in passes]
        return Round(mixed, epoch, mistakes, [done.seconds for done in passes])

    def ask(self, question: Callable[[Source], Any]) -> Any:
        """Return the answers of all partitions, in their order."""
        try:
            rows = self.frame.mapInArrow(partial(answered, question, self.columns), _ANSWER).collect()
        except Exception as error:  # what Spark raises depends on how one is connected to it
            raise explained(error) from error
        answers = {row["number"]: pickle.loads(row["answer"]) for row in rows}
        return [answers[p] for p in range(len(answers))]


def as_list(frame: DataFrame, name: str) -> Any:
    """Return a column that Arrow can carry: vectors of pyspark.ml become lists."""
    if frame.schema[name].dataType.typeName() == "vectorudt":
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(name).alias(name)
    return functions.col(name)


def answered(
    question: Callable[[Source], Any], columns: Columns, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Answer a question on a worker."""
    context = TaskContext.get()
    number = context.partitionId() if context is not None else 0
    parts = list(batches)
    names = [*columns.features, columns.label, *([columns.weight] if columns.weight else [])]
    table = pa.Table.from_batches(parts) if parts else pa.table({name: pa.array([]) for name in names})
    weight = None if columns.weight is None else table[columns.weight].to_numpy()
    labels = table[columns.label].to_numpy()
    answer = question(read(number, matrix(table, columns.features), labels, weight))
    payload = pickle.dumps(answer, protocol=5)
    yield pa.record_batch([pa.array([number], pa.int32()), pa.array([payload])], names=["number", "answer"])


def matrix(table: pa.Table, features: Sequence[str]) -> NDArray[Any]:
    """Return the examples of a table, from a column of lists or from columns of numbers."""
    if not len(table):
        return np.zeros((0, 0))
    first = table[features[0]].combine_chunks()
    if len(features) > 1 or not (pa.types.is_list(first.type) or pa.types.is_large_list(first.type)):
        return np.column_stack([table[name].to_numpy() for name in features])
    flat, rows = first.flatten().to_numpy(zero_copy_only=False), len(table)
    if len(flat) % rows:
        raise ValueError(f"the lists of column {features[0]!r} must have equal lengths")
    found: NDArray[Any] = flat.reshape(rows, -1)
    return found


def facts_of(source: Source) -> Facts:
    """Return what is known of a partition. Columns of a data frame are named by their order here."""
    return source.facts


def encoded_of(classes: NDArray[Any], source: Source) -> Encoded:
    """Return what an encoded partition says of itself."""
    partition = encoded(source, classes)
    return Encoded(partition.entries, partition.digest)


def learnt_of(
    common: Any, classes: NDArray[Any], engine: str, number: int, ended: Sequence[int], source: Source
) -> Learnt:
    """Make a pass. The partition is read anew in each epoch, and its digest compared."""
    state, settings, digests = common.value
    p = source.number
    return learn(encoded(source, classes), state, engine, settings[p], number, ended, digests[p])


def explained(error: Exception) -> Exception:
    """Return the error of a job as that of its partition, where it is one: Spark passes on texts."""
    text = str(error)
    changed = re.search(r"PartitionChangedError: partition (\d+) was read again", text)
    if changed is not None:
        return PartitionChangedError(int(changed[1]))
    told = re.findall(r"^(?:ValueError|TypeError): (.*)$", text, re.MULTILINE)
    if told:
        return ValueError(told[-1])  # those before are what it was raised from
    died = re.search(r"Task (\d+) in stage", text)
    if died is not None and ("worker exited unexpectedly" in text or "ExecutorLostFailure" in text):
        return PartitionError(int(died[1]))
    return error
