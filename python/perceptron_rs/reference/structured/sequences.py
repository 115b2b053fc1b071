"""Rows that belong together: a sequence is a run of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.rows import Row, Rows, check_canonical


@dataclass(frozen=True)
class Tokens:
    """The rows of a sequence: x[t] is that of token t."""

    rows: Rows
    numbers: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, t: int) -> Row:
        row: Row = self.rows[self.numbers[t]]
        return row

    def dots(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dot product of each row with w."""
        dots: NDArray[np.float64] = self.rows.dots(self.numbers, w)
        return dots


def sequences(rows: Rows, lengths: NDArray[np.int64]) -> list[Tokens]:
    """Return the sequences of these lengths, which lie one after another.

    Raises
    ------
    ValueError
        If a length is not at least 1, or if they do not add up to the number of rows.
    """
    check_canonical(rows)
    if len(lengths) and lengths.min() < 1:
        i = int(np.argmax(lengths < 1))
        raise ValueError(
            f"lengths must be at least 1, got {lengths[i]} for sequence {i}; leave empty sequences out"
        )
    ends = np.cumsum(lengths).tolist()
    end = ends[-1] if ends else 0
    if end != rows.shape[0]:
        raise ValueError(
            f"lengths must add up to the number of rows, {rows.shape[0]}, got {end}; "
            "give one length a sequence"
        )
    return [Tokens(rows, np.arange(a, b)) for a, b in pairwise([0, *ends])]
