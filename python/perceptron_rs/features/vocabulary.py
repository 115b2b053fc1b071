"""The attributes of tokens as columns, in a vocabulary or hashed: what an encoder does, in NumPy alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import attribute_rows
from perceptron_rs.arrays.csr import CsrTriple
from perceptron_rs.features.entries import collect
from perceptron_rs.features.hashing import hashed
from perceptron_rs.float_mode import standard


@dataclass(frozen=True)
class Vocabulary:
    """Which column each attribute has.

    Parameters
    ----------
    names : dict of str to int
        Columns by names; empty if names are hashed.
    n_columns : int
        Number of columns.
    is_hashed : bool
        Whether names are hashed to their columns.
    """

    names: dict[str, int]
    n_columns: int
    is_hashed: bool

    def rows(self, tokens: list[object]) -> CsrTriple:
        """Return the known attributes as the arrays of a CSR matrix: where rows begin, columns, values."""
        arrays = None if self.is_hashed else attribute_rows(self.names, tokens)
        if arrays is not None:
            return arrays
        with standard():
            columns, values, ends = self.entries(tokens)
        data: NDArray[np.generic] = np.ones(len(columns), dtype=np.int8) if values is None else values
        index = np.int32 if ends[-1] < 1 << 31 else np.int64
        return ends.astype(index), columns.astype(index, copy=False), data

    def entries(
        self, tokens: Iterable[object]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64]]:
        """Return the columns of all known attributes, their values (None: all 1), and where each token ends.

        A token may name a column twice.
        """
        if self.is_hashed:
            try:
                return collect(tokens, lambda names: hashed(names, self.n_columns)[0])
            except UnicodeEncodeError as error:
                raise ValueError(f"X holds an attribute that is not valid Unicode: {error}") from None
        columns, values, ends = collect(tokens, lambda names: map(self.names.get, names, repeat(-1)))
        known = columns >= 0
        if not known.all():
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
            columns, values = columns[known], None if values is None else values[known]
        return columns, values, ends
