"""Partitions that cannot be learnt from."""

from __future__ import annotations


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
