"""From what callers give as X and y to a list of blocks, none of which is read here."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from dask import delayed
from dask.base import is_dask_collection
from dask.delayed import Delayed

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, has_shape
from perceptron_rs.io.batches import Batch


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
