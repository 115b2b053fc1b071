"""The votes of all weight vectors of a run, for many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.online.voted import check_log
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["votes"]

BLOCK = 1024


@arith.standard()
def votes(
    rows: Any,
    stored_rows: Any,
    state: State,
    *,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
) -> NDArray[np.int64]:
    """Let all weight vectors vote on every row: its count if ``w . x + b >= 0``, else minus its count.

    Parameters
    ----------
    rows, stored_rows : made by ``dense_rows`` or ``csr_rows``
        n examples to vote on; the rows that the log names.
    state : dict of arrays
        ``coef``, ``intercept``: the start vectors of K planes; the log of the mistakes that made the others,
        ``log_start``, ``log_row``, ``log_step`` and ``log_bias``, the steps of the intercept; ``log_count``
        int64: the votes of each vector, those of a plane after another, the start vector first.
    threads : int

    Returns
    -------
    int64 array of shape (n, K)

    Raises
    ------
    ValueError
        If the arguments do not fit together.
    OverflowError
        If the activation of a vector that votes is not finite.
    """
    check_canonical(rows)
    check_log(stored_rows, state)
    n, d = rows.shape
    start, counts = state["log_start"], state["log_count"]
    if stored_rows.shape[1] != d:
        raise ValueError(f"stored_rows must have {d} columns like rows, got {stored_rows.shape[1]}")
    K = len(start) - 1
    if counts.shape != (start[-1] + K,):
        raise ValueError(
            f"log_count must have {start[-1] + K} entries, one for each vector, got {counts.size}"
        )
    if (counts < 0).any() or np.add.accumulate(counts.astype(object))[-1] >= 2**63:
        raise ValueError("log_count must be at least 0 and add up to less than 2^63")
    found = np.zeros((n, K), dtype=np.int64)
    for first in range(0, n, BLOCK):
        block = np.arange(first, min(first + BLOCK, n))
        for k in range(K):
            w, b = state["coef"][k] + 0.0, state["intercept"][k] + 0.0
            for vector in range(start[k + 1] - start[k] + 1):
                if vector:
                    i = start[k] + vector - 1
                    stored_rows.axpy(int(state["log_row"][i]), float(state["log_step"][i]), w)
                    b = b + state["log_bias"][i]
                a = rows.dots(block, w) + b
                if not np.isfinite(a).all():
                    raise OverflowError(
                        "rows: the activation of a vector that votes is not finite; scale the features"
                    )
                count = counts[start[k] + k + vector]
                found[block, k] += np.where(a >= 0, count, -count)
    return found
