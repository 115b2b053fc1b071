"""The best label sequences of many sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats, State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows import Rows
from perceptron_rs.reference.structured.lattice import Lattice, search
from perceptron_rs.reference.structured.sequences import sequences
from perceptron_rs.reference.structured.weights import to_chain


def sequence_weights(weights: State) -> State:
    """Return the weights: the core checks them here, once for many searches."""
    return weights


@standard()
def sequence_decode(
    rows: Rows,
    lengths: NDArray[np.int64],
    *,
    weights: State,
    threads: int,
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the best labels of every row, and the score of every sequence.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n tokens of d columns.
    lengths : int64 array
        Of the sequences, which lie one after another.
    weights : dict
        Emission, transition, start, end, perhaps pair, as in the state of a chain.
    threads : int
    beam : int or None
        How many labels of a token are kept in the search.
    allowed : bool array of shape (n, K) or None
        The labels that each row may have.
    forbidden : bool array of shape (K, K) or None
        The labels (columns) that may not follow a label (rows).

    Raises
    ------
    ValueError
        If no labels are left for a sequence, or if shapes do not agree.
    OverflowError
        If a score is not finite.
    """
    path, scores = np.zeros(rows.shape[0], dtype=np.uint32), np.zeros(len(lengths))
    for i, table in enumerate(tables(rows, lengths, weights, beam, allowed, forbidden)):
        path[table.numbers] = table.lattice.answer(len(table.e))
        scores[i] = table.score
    return path, scores


@dataclass(frozen=True)
class SequenceTable:
    """The table of the search over one sequence, in which there are labels for all of its tokens."""

    sequence: int
    numbers: NDArray[np.intp]  # of its rows
    e: Floats
    pair: Floats  # -inf where a pair of labels is forbidden
    lattice: Lattice
    forbids: bool

    @property
    def score(self) -> float:
        """Return the score of the best label sequence."""
        best = self.lattice.best(len(self.e) - 1)
        return float(self.lattice.delta[-1, best])

    def too_large(self) -> OverflowError:
        """Return the error of a sum that is not finite."""
        return OverflowError(f"a score of sequence {self.sequence} is not finite; scale the features")


def tables(
    rows: Rows,
    lengths: NDArray[np.int64],
    weights: State,
    beam: int | None,
    allowed: NDArray[np.bool_] | None,
    forbidden: NDArray[np.bool_] | None,
) -> Iterator[SequenceTable]:
    """Search all sequences."""
    x, w = sequences(rows, lengths), to_chain(weights, rows.shape[1])
    if beam == 0:
        raise ValueError("beam must be at least 1, got 0; None looks at all labels")
    K = len(w.start)
    may = _mask("allowed", allowed, (rows.shape[0], K))
    may_not = _mask("forbidden", forbidden, (K, K))
    for i, tokens in enumerate(x):
        e, pair = w.scores(tokens)
        try:
            lattice = search(e, pair, beam, None if may is None else may[tokens.numbers], may_not)
        except FloatingPointError:
            raise OverflowError(f"a score of sequence {i} is not finite; scale the features") from None
        if lattice.best(len(tokens) - 1) is None:
            raise ValueError(
                f"allowed and forbidden leave no labels for sequence {i}; allow more, or widen the beam"
            )
        if may_not is not None:
            pair = np.where(may_not, -np.inf, pair)
        yield SequenceTable(i, tokens.numbers, e, pair, lattice, may_not is not None)


def _mask(name: str, mask: NDArray[np.bool_] | None, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    """Return booleans: a byte that is neither 0 nor 1 is true, whatever NumPy makes of it."""
    if mask is None:
        return None
    if mask.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {mask.shape}")
    return np.asarray(mask.view(np.uint8) != 0)
