"""For each token, how far the best labels with another label there are behind the best ones.

Problem
    ``max over z with z[t] = y[t] of score(z) - max over z with z[t] != y[t] of score(z)``, y the best label
    sequence: a difference of max-marginals.
Method
    ``rest[t, y]`` is the best score of what may follow label y at token t, made from the end as the search
    makes its table from the start:
    ``rest[t, y] = max over z of (pair[t+1, y, z] + (e[t+1, z] + rest[t+1, z]))``. Then
    ``delta[t, y] + rest[t, y]`` is the best score of the sequences that have y at t.
Result
    Never below 0; infinite where no other label is possible. Where no sum is rounded, the least margin of a
    sequence is the difference of its two best scores.
Paper
    M. J. Wainwright, T. S. Jaakkola, A. S. Willsky, "Tree consistency and bounds on the performance of the
    max-product algorithm and its generalizations", Statistics and Computing 14, 2004: max-marginals.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows import Rows
from perceptron_rs.reference.structured.decode import SequenceTable, tables


@standard()
def sequence_margins(
    rows: Rows,
    lengths: NDArray[np.int64],
    *,
    weights: State,
    threads: int,
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the best labels of every row, and how far the best ones with another label there are behind.

    Parameters
    ----------
    rows, lengths, weights, threads, beam, allowed, forbidden
        As of ``sequence_decode``. With a beam, sequences of the labels that it keeps.

    Raises
    ------
    ValueError, OverflowError
        As ``sequence_decode``; also if a score or a margin is not finite.
    """
    path, margins = np.zeros(rows.shape[0], dtype=np.uint32), np.zeros(rows.shape[0])
    for table in tables(rows, lengths, weights, beam, allowed, forbidden):
        answer = table.lattice.answer(len(table.e))
        path[table.numbers] = answer
        scores = _scores(table)
        margins[table.numbers] = [_margin(table, scores[t], int(y)) for t, y in enumerate(answer)]
    return path, margins


def _scores(table: SequenceTable) -> NDArray[np.float64]:
    """Return for each token and label the best score of the sequences that have it there, if any is kept."""
    e, pair, kept = table.e, table.pair, table.lattice.kept
    rest = np.zeros(e.shape)
    for t in range(len(e) - 2, -1, -1):
        after = np.flatnonzero(kept[t + 1])
        rest[t] = (pair[t + 1][:, after] + (e[t + 1, after] + rest[t + 1, after])).max(axis=1)
    scores = np.where(kept, table.lattice.delta + rest, -np.inf)
    good = np.isfinite(scores) | ((scores == -np.inf) & (~kept | table.forbids))
    if not good.all():
        raise table.too_large()
    return scores


def _margin(table: SequenceTable, scores: NDArray[np.float64], label: int) -> float:
    best, second = float(scores[label]), float(np.delete(scores, label).max(initial=-math.inf))
    margin = best - second
    if not math.isfinite(best) or (not math.isfinite(margin) and second != -math.inf):
        raise table.too_large()
    return max(margin, 0.0)
