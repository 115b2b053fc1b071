"""The partitions of a fit on a Dask cluster: tasks that can be made again wherever a worker is left.

Weights are arguments of a task, and not scattered: scattered data is lost with its worker, an argument stays
with the scheduler. Small ones go to each pass, and what it has learnt comes back to the client: that is
quick. Large ones are handed on by one task, so that the scheduler sends them once and workers get them from
each other; then what epochs have changed. They are mixed on the workers, the largest pair by pair.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, count, pairwise
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from dask import delayed
from dask.base import is_dask_collection
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, has_shape
from perceptron_rs.arrays.named import State
from perceptron_rs.distributed.partition import (
    Encoding,
    EpochTask,
    Parse,
    PartitionError,
    PartitionFacts,
    facts_of,
    learn_partition,
    read_partition,
)
from perceptron_rs.distributed.weights import EpochWeights, Mixture, SentWeights, mixed, state_bytes
from perceptron_rs.io.batches import Batch
from perceptron_rs.mixing.shares import Change, Share, add_shares, reduce_tree
from perceptron_rs.settings import Chain, Linear

#: Weights of so many bytes for all partitions go to each, and are mixed by the client.
_SMALL = 1 << 20
#: Of more bytes than that, shares are added on their way: no worker has to hold all of them.
_LARGE = 1 << 26

T = TypeVar("T")


class DaskCluster:
    """See `perceptron_rs.distributed.fitting.Cluster`."""

    def __init__(self, client: Client, blocks: Sequence[PartitionData]) -> None:
        self.client, self.name = client, f"perceptron-{uuid4().hex[:12]}"
        self.blocks = blocks
        self.partitions: list[Future] = []
        #: The tasks of the last epoch.
        self.promises: list[Future] = []
        self.sent = SentWeights(self.send)

    def look(self, parse: Parse) -> list[PartitionFacts]:
        """Read the partitions."""
        promises = [
            delayed(read_partition, pure=False)(p, parse, *block, dask_key_name=f"{self.name}-read-{p}")
            for p, block in enumerate(self.blocks)
        ]
        with self.explained():
            self.partitions = self.client.compute(promises)
            facts: list[PartitionFacts] = self.client.gather(self.map("facts", facts_of, [self.partitions]))
        return facts

    def begin(
        self, encodings: Sequence[Encoding], settings: Sequence[Linear | Chain], digests: Sequence[str]
    ) -> None:
        """Take what is needed of each partition to learn from it."""
        promises: dict[int, Future] = {}  # partitions may have one in common
        for p, encoding in enumerate(encodings):
            if id(encoding) not in promises:
                promises[id(encoding)] = self.submit(f"encoding-{p}", handed_on, encoding)
        self.settings = settings[0]
        self.of_each = [promises[id(encoding)] for encoding in encodings], settings, digests

    def round(self, state: State, task: EpochTask) -> tuple[State, Mixture]:
        """Make a pass over each partition, and mix."""
        number = task.number
        step = f"epoch-{number}"
        change = self.sent.change(state)
        is_small = len(self.partitions) * state_bytes(state) <= _SMALL
        made: Mixture
        with self.explained():
            weights, changes = (
                (EpochWeights(state, number), []) if is_small else self.sent.weights(state, change, number)
            )
            each = self.partitions, *self.of_each
            passes = self.map(f"{step}-learn", learn_partition, each, (weights, task, *changes))
            # Only now are the promises of the last epoch let go: a message behind that waits for 10 ms.
            if is_small:
                self.promises = passes
                made = mix_sent(self.settings, weights, changes, self.client.gather(passes), number)
            else:
                # A share is no larger than what all shares change, and about as large as the last one.
                if len(passes) * state_bytes(state if change is None else change) > _LARGE:
                    nodes = (f"{step}-add-{node}" for node in count())
                    passes = [
                        reduce_tree(
                            passes, lambda *two: self.submit(next(nodes), sum_of, weights, changes, *two)
                        )
                    ]
                mix = self.submit(f"{step}-mix", mix_sent, self.settings, weights, changes, passes, number)
                self.promises = [*passes, mix]
                made = mix.result()
        return self.sent.after(state, made)

    def send(self, value: object, epoch: int) -> Future:
        """Return a promise of weights, or of what has changed."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # as large as weights are
            return self.submit(f"epoch-{epoch}-weights", handed_on, value)

    def submit(self, step: str, function: object, *arguments: object) -> Future:
        """Return a promise of a function's result."""
        return self.client.submit(function, *arguments, key=f"{self.name}-{step}")

    def map(self, step: str, function: Any, each: Sequence[Any], of_all: Sequence[Any] = ()) -> list[Future]:
        """Return a promise for each partition, by lists with an argument for each, and arguments of all.

        They go to the scheduler in one message. Keywords of ``Client.map`` are no way to give the latter: a
        large one becomes a task of its own, whose key is the keyword, in every call.
        """
        P = len(self.partitions)
        keys = [f"{self.name}-{step}-{p}" for p in range(P)]
        futures: list[Future] = self.client.map(function, *each, *([value] * P for value in of_all), key=keys)
        return futures

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say of errors of the cluster which partition they are about."""
        try:
            yield
        except KilledWorker as error:
            name, _, number = str(error.task).rpartition("-")
            if not name.startswith(self.name) or not number.isdigit():
                raise
            raise PartitionError(int(number)) from error
        except FutureCancelledError as error:
            raise ValueError(
                f"X has blocks that were lost with their worker and cannot be made again ({error}); give "
                f"blocks that Dask can compute, such as those of dask.array.from_array or of delayed "
                f"functions, instead of scattered data"
            ) from error


def no_bytes(_given: EpochWeights | Change) -> int:
    """Make passes run where the partitions are: without a hint, all would run where the weights are."""
    return 0


sizeof.register((EpochWeights, Change), no_bytes)


def handed_on(value: T) -> T:
    """Return the argument: a copy of it that workers send each other."""
    return value


def sum_of(weights: EpochWeights, changes: Sequence[Change], left: Share, right: Share) -> Share:
    """Return what two neighbours have learnt."""
    return add_shares(weights.after(changes), left, right)


def mix_sent(
    settings: Linear | Chain,
    weights: EpochWeights,
    changes: Sequence[Change],
    shares: Sequence[Share],
    number: int,
) -> Mixture:
    """Mix what the passes have learnt from the weights after these changes."""
    return mixed(settings, weights.after(changes), shares, number)


class PartitionData(NamedTuple):
    """Rows, labels and weights of a partition, or promises of them; without y, X is a batch of all."""

    X: MatrixLike
    y: ArrayLike
    sample_weight: ArrayLike


def is_lazy(X: MatrixLike) -> bool:
    """Whether X is a collection of Dask, or a list of blocks."""
    return is_dask_collection(X) or _is_list(X)


def blocks(X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike = None) -> list[PartitionData]:
    """Return the blocks of X, each with its labels and weights."""
    if _is_list(X):
        parts, lengths = list(X), None
    elif is_dask_collection(X):
        parts, lengths = row_blocks(X), _lengths(X)
    else:
        raise TypeError(
            f"X must be a Dask array or dataframe, or a list of blocks, got {type(X).__name__}; use the "
            f"learners of perceptron_rs for data in memory"
        )
    labels = [None] * len(parts) if y is None else _beside(y, "y", len(parts), lengths)
    if y is None and not all(map(_may_be_batch, parts)):
        raise ValueError("y must be given, unless each block is a Batch, or a callable that returns one")
    if y is None and sample_weight is not None:
        raise ValueError(
            "sample_weight must be None without y: each block has its own weights, Batch(X, y, sample_weight)"
        )
    weights = [None] * len(parts)
    if sample_weight is not None:
        weights = _beside(sample_weight, "sample_weight", len(parts), lengths)
    # They are wrapped, because Dask would take a callable for a task, and a tuple for a list.
    is_plain = [
        isinstance(part, Batch) or (callable(part) and not isinstance(part, Delayed)) for part in parts
    ]
    parts = [
        delayed(part, pure=False, traverse=False) if plain else part
        for part, plain in zip(parts, is_plain, strict=True)
    ]
    return [PartitionData(*block) for block in zip(parts, labels, weights, strict=True)]


def row_blocks(X: MatrixLike) -> list[Any]:
    """Return promises of the blocks of rows of a collection.

    Of a data frame these are its partitions: to optimize it further would read several of few columns at
    once, and so leave X and y with other blocks.
    """
    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        return list(X.to_delayed().ravel())
    return list(X.simplify().to_delayed(optimize_graph=False) if hasattr(X, "simplify") else X.to_delayed())


def _is_list(X: MatrixLike) -> bool:
    """Whether X is a list of blocks, not one of rows."""
    return isinstance(X, (list, tuple)) and any(_may_be_batch(part) or has_shape(part) for part in X)


def _may_be_batch(part: object) -> bool:
    """Whether a block can hold labels as well."""
    return isinstance(part, (Delayed, Batch)) or callable(part) or hasattr(part, "key")


def _lengths(X: MatrixLike) -> tuple[int, ...] | None:
    """Return the numbers of rows of the blocks, if they are known."""
    chunks = getattr(X, "chunks", None)
    return None if chunks is None or any(map(math.isnan, chunks[0])) else tuple(chunks[0])


def _beside(values: Any, name: str, parts: int, lengths: tuple[int, ...] | None) -> list[Any]:
    """Split y, or the weights, into the blocks of X."""
    if _is_list(values):
        blocks = list(values)
    elif is_dask_collection(values):
        if lengths is not None and _lengths(values) not in (None, lengths):
            values = values.rechunk({0: lengths})
        blocks = row_blocks(values)
    elif lengths is not None:
        blocks = [values[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]
    else:
        raise TypeError(f"{name} must be a Dask collection or a list, with a block for each of X")
    if len(blocks) != parts:
        raise ValueError(f"{name} must have as many blocks as X, {parts}, got {len(blocks)}; rechunk it")
    return blocks
