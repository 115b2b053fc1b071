"""Examples as they were read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.common.rows.sparse import Csr

__all__ = ["Data", "held_out", "is_held_out"]


@dataclass(frozen=True)
class Data:
    """Examples; labels and names of the columns, if there are any."""

    rows: Any
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    zero_based: bool | None = None  # of svmlight text
    #: Columns that were hashed, and those of them that hold strings.
    hashed: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of examples, number of features."""
        shape: tuple[int, ...] = self.rows.shape
        return shape

    @cached_property
    def X(self) -> Any:  # noqa: N802  as everywhere
        """The examples as estimators take them."""
        if not isinstance(self.rows, Csr):
            return self.rows
        X = self.rows.matrix()
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    def part(self, begin: int, end: int) -> Data:
        """Return some examples in a row."""
        if not isinstance(self.rows, Csr):
            return replace(self, rows=self.rows[begin:end], y=None)
        indptr = self.rows.indptr[begin : end + 1]
        entries = slice(int(indptr[0]), int(indptr[-1]))
        data, indices = self.rows.data[entries], self.rows.indices[entries]
        some = Csr(data, indices, indptr - indptr[0], (len(indptr) - 1, self.rows.shape[1]))
        return replace(self, rows=some, y=None)

    def chosen(self, rows: NDArray[np.bool_]) -> Data:
        """Return some of the examples."""
        return replace(self, rows=self.X[rows], y=None if self.y is None else self.y[rows])

    @property
    def labels(self) -> NDArray[Any]:
        """The labels of a file that was loaded with them."""
        assert self.y is not None
        return self.y


def is_held_out(begin: int, end: int, share: float) -> NDArray[np.bool_]:
    """Return which of some examples are held out: evenly spaced ones, so that a later run finds the same."""
    held: NDArray[np.bool_] = np.diff(np.floor(np.arange(begin, end + 1) * share)) > 0
    return held


def held_out(n: int, share: float | None) -> NDArray[np.bool_] | None:
    """Return which of n examples are held out; None if none shall be."""
    if share is None:
        return None
    found = is_held_out(0, n, share)
    if not found.any() or found.all():
        raise CommandError(
            f"--holdout {share}: of {n} examples it leaves none, or takes none; choose another"
        )
    return found
