"""Rows whose scale is not known yet: the counts of texts, apart from what is beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.features.text import HashedRows
from perceptron_rs.rows.sparse import CsrArrays


@dataclass(frozen=True, eq=False)
class CountedTexts:
    """Some rows after others, so that what becomes of them takes the place of what they were.

    Parameters
    ----------
    pieces : list of list of HashedRows
        Of each piece of the rows, the counts of n-grams of each text.
    rest, numbers : HashedRows or None
        Of all rows, what is beside texts, and the numbers of that alone: categories are 1, however rare.
    n_columns : int
    """

    pieces: list[list[HashedRows]]
    rest: HashedRows | None
    numbers: HashedRows | None
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, number of columns."""
        return sum(len(piece[0].indptr) - 1 for piece in self.pieces), self.n_columns

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> CountedTexts:
        """Return some of the rows."""
        chosen = np.zeros(self.shape[0], dtype=np.bool_)
        chosen[rows] = True
        pieces, begin = [], 0
        for piece in self.pieces:
            begin, first = begin + len(piece[0].indptr) - 1, begin
            pieces.append([_chosen(part, chosen[first:begin]) for part in piece])
        rest, numbers = (
            None if part is None else _chosen(part, chosen) for part in (self.rest, self.numbers)
        )
        return replace(self, pieces=pieces, rest=rest, numbers=numbers)

    def learnable(self, chosen: NDArray[np.bool_] | None, *, of_texts: bool) -> MatrixLike:
        """Return what a scale is learnt from, of some rows: all n-grams, in any order, or the numbers."""
        if not of_texts:
            assert self.numbers is not None
            numbers = self.numbers if chosen is None else _chosen(self.numbers, chosen)
            return CsrArrays.of(*numbers, self.n_columns)
        some = self if chosen is None else self[chosen]
        rows = joined_rows(part for piece in some.pieces for part in piece)
        return replace(CsrArrays.of(*rows, self.n_columns), shape=some.shape)

    def emptied(self) -> Iterator[tuple[list[HashedRows], int, int]]:
        """Give each piece with the numbers of its rows, and keep it no longer."""
        self.pieces.reverse()
        begin = 0
        while self.pieces:
            piece = self.pieces.pop()
            begin, first = begin + len(piece[0].indptr) - 1, begin
            yield piece, first, begin


def all_counted(several: Sequence[CountedTexts]) -> CountedTexts:
    """Return the rows of several as those of one."""
    rest, numbers = (
        None if parts[0] is None else joined_rows(parts)
        for parts in zip(*((blocks.rest, blocks.numbers) for blocks in several), strict=True)
    )
    pieces = [piece for blocks in several for piece in blocks.pieces]
    return replace(several[0], pieces=pieces, rest=rest, numbers=numbers)


def joined_rows(parts: Iterable[Any]) -> HashedRows:
    """Return some rows after others."""
    every = [(part.data, part.indices, np.diff(part.indptr)) for part in parts]
    data, indices, lengths = (np.concatenate(arrays) for arrays in zip(*every, strict=True))
    return HashedRows(data, indices, np.append(0, np.cumsum(lengths, dtype=np.int64)))


def _chosen(rows: HashedRows, chosen: NDArray[np.bool_]) -> HashedRows:
    some: Any = CsrArrays.of(*rows, 1).chosen(chosen)
    return HashedRows(some.data, some.indices, some.indptr)
