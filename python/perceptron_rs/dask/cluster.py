"""The partitions of a fit on a Dask cluster: tasks that can be made again wherever a worker is left.

Weights are arguments of a task, and not scattered: scattered data is lost with its worker, an argument stays
with the scheduler. One task hands them on, so that the scheduler sends them once and workers get them from
each other; another one mixes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
from dask import delayed
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError
from numpy.typing import NDArray

from perceptron_rs.common.mixing import mix
from perceptron_rs.dask.blocks import Block
from perceptron_rs.distributed.errors import PartitionError
from perceptron_rs.distributed.fitting import Encoded, Round
from perceptron_rs.distributed.partition import Facts, Learnt, Partition, Source, encoded, learn, read
from perceptron_rs.settings import Linear, State

__all__ = ["DaskCluster"]


class DaskCluster:
    """See `perceptron_rs.distributed.fitting.Cluster`."""

    def __init__(self, client: Client, blocks: Sequence[Block]) -> None:
        self.client, self.name = client, f"perceptron-{uuid4().hex[:12]}"
        self.sources: list[Future] = []
        self.partitions: list[Future] = []
        self.blocks = blocks

    def look(self) -> list[Facts]:
        """Read the partitions."""
        promises = [
            delayed(read, pure=False)(p, *block, dask_key_name=f"{self.name}-read-{p}")
            for p, block in enumerate(self.blocks)
        ]
        with self.explained():
            self.sources = self.client.compute(promises)
            found: list[Facts] = self.gathered(self.mapped("facts", facts_of, self.sources))
        return found

    def encode(self, classes: NDArray[Any]) -> list[Encoded]:
        """Turn labels into class indices."""
        with self.explained():
            self.partitions = self.mapped("encode", encoded, self.sources, classes)
            found: list[Encoded] = self.gathered(self.mapped("digest", encoded_of, self.partitions))
        self.sources = []  # Dask knows how to make them again
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
        """Make a pass over each partition, and mix."""
        submit, name = self.client.submit, f"{self.name}-epoch-{number}"
        with self.explained():
            common = submit(handed_on, state, key=f"{name}-weights")
            passes = [
                submit(
                    learn, part, common, engine, own, number, sorted(ended), digest, key=f"{name}-learn-{p}"
                )
                for p, (part, own, digest) in enumerate(zip(self.partitions, settings, digests, strict=True))
            ]
            mixed = submit(mixed_of, settings[0], common, passes, mixing, number, key=f"{name}-mix")
            found: Round = mixed.result()
        return found

    def mapped(self, step: str, function: Any, parts: Sequence[Future], *more: Any) -> list[Future]:
        """Return promises of a function of each partition."""
        return [
            self.client.submit(function, part, *more, key=f"{self.name}-{step}-{p}")
            for p, part in enumerate(parts)
        ]

    def gathered(self, futures: Sequence[Future]) -> Any:
        """Wait for all of them; the first that fails raises its error."""
        return [future.result() for future in futures]

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


def facts_of(source: Source) -> Facts:
    """Return what is known of a partition."""
    return source.facts


def encoded_of(partition: Partition) -> Encoded:
    """Return what an encoded partition says of itself."""
    return Encoded(partition.entries, partition.digest)


def handed_on(state: State) -> State:
    """Return the weights: a copy that workers can ask each other for."""
    return state


def mixed_of(settings: Linear, state: State, passes: Sequence[Learnt], mixing: str, number: int) -> Round:
    """Mix what the passes have learnt."""
    mixed, epoch = mix(settings, state, [(done.state, done.epoch) for done in passes], mixing, number)
    mistakes = [int(np.add.reduce(done.epoch.mistakes)) for done in passes]
    return Round(mixed, epoch, mistakes, [done.seconds for done in passes])
