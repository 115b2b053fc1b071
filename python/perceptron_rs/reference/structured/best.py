"""The k best label sequences of many sequences.

Problem
    Of all label sequences, the k with the largest scores, each the sum that the search makes of it.
Method
    Of the prefixes that end in label y at token t, the first k are kept: those that extend the first k of
    every label of the token before. Rounding keeps order, so no others are needed.
Ties
    Of prefixes that end in y at t, the one comes first whose score before ``e[t, y]`` is larger; then that
    with the lower label before; then that whose rest comes first by the same order. Of whole sequences:
    larger score, lower last label, then that order.
Paper
    V. Jimenez, A. Marzal, "Computing the k shortest paths: a new algorithm and an experimental comparison",
    WAE 1999. Theirs puts prefixes in order as far as they are needed; so does the core.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows import Rows
from perceptron_rs.reference.structured.decode import SequenceTable, tables

Prefix = tuple[float, list[int]]


@standard()
def sequence_k_best(
    rows: Rows,
    lengths: NDArray[np.int64],
    *,
    weights: State,
    k: int,
    threads: int,
    beam: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
    """Return the k best label sequences of every sequence, one after another; scores; how many each has.

    Parameters
    ----------
    rows, lengths, weights, threads, beam, allowed, forbidden
        As of ``sequence_decode``. With a beam, sequences of the labels that it keeps.
    k : int
        At least 1. There may be fewer.

    Raises
    ------
    ValueError, OverflowError
        As ``sequence_decode``.
    """
    if k == 0:
        raise ValueError("k must be at least 1, got 0")
    labels, scores, counts = [np.zeros(0, dtype=np.uint32)], list[float](), list[int]()
    for table in tables(rows, lengths, weights, beam, allowed, forbidden):
        best = _best(table, k)
        counts.append(len(best))
        for score, path in best:
            if not math.isfinite(score):
                raise table.too_large()
            scores.append(score)
            labels.append(np.array(path, dtype=np.uint32))
    return np.concatenate(labels), np.array(scores), np.array(counts, dtype=np.int64)


def _best(table: SequenceTable, k: int) -> list[Prefix]:
    e, pair, kept = table.e, table.pair, table.lattice.kept
    at: dict[int, list[Prefix]] = {y: [(float(e[0, y]), [y])] for y in np.flatnonzero(kept[0]).tolist()}
    for t in range(1, len(e)):
        before, at = at, {}
        for y in np.flatnonzero(kept[t]).tolist():
            longer = [
                (score + float(pair[t, other, y]), [*path, y])
                for other, prefixes in before.items()
                for score, path in prefixes
            ]
            longer = [prefix for prefix in longer if not (table.forbids and prefix[0] == -math.inf)]
            at[y] = [(score + float(e[t, y]), path) for score, path in _first(longer, k)]
    return _first([prefix for prefixes in at.values() for prefix in prefixes], k)


def _first(prefixes: list[Prefix], k: int) -> list[Prefix]:
    """Return the k largest; of equal ones those that stand first."""
    return sorted(prefixes, key=lambda prefix: -prefix[0])[:k]
