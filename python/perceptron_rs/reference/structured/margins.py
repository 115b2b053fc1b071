"""For each token, how far the best labels with another label there are behind the best ones.

Problem
    ``score(y) - max over z with z[t] != y[t] of score(z)``, y the best label sequence.
Method
    Search once more for each token, with all labels of the first search but that of y there.
Result
    Never below 0; infinite where no other label is possible. The least margin of a sequence is the difference
    of its two best scores, bit by bit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows import Rows
from perceptron_rs.reference.structured.decode import Table, tables
from perceptron_rs.reference.structured.lattice import search
from perceptron_rs.state import State

__all__ = ["sequence_margins"]


@standard()
def sequence_margins(
    rows: Rows,
    lengths: NDArray[np.int64],
    *,
    weights: State,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
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
        As ``sequence_decode``; also if a margin of two scores is not finite.
    """
    path, margins = np.zeros(rows.shape[0], dtype=np.uint32), np.zeros(rows.shape[0])
    for found in tables(rows, lengths, weights, beam, allowed, forbidden):
        answer = found.lattice.answer(len(found.e))
        path[found.numbers] = answer
        margins[found.numbers] = [_margin(found, t, int(y)) for t, y in enumerate(answer)]
    return path, margins


def _margin(found: Table, t: int, label: int) -> float:
    may = found.lattice.kept.copy()
    may[t, label] = False
    try:
        other = search(found.e, found.pair, None, may, found.forbidden)
    except FloatingPointError:
        raise found.too_large() from None
    best = other.best(len(found.e) - 1)
    if best is None:
        return math.inf
    margin = found.score - float(other.delta[-1, best])
    if not math.isfinite(margin):
        raise found.too_large()
    return margin
