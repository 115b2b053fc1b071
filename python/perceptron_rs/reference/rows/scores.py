"""Activations for prediction: the dot product that training uses, on any rows, in any split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.arith import standard

__all__ = ["check_canonical", "scores"]

BLOCK = 128


@standard()
def scores(
    rows: Any,
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    *,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
) -> NDArray[np.float64]:
    """Activations ``w . x + b`` of every row under every plane.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n examples of d columns.
    coef : float64 array of shape (K, d)
    intercept : float64 array of shape (K,)
    threads : int

    Returns
    -------
    float64 array of shape (n, K)

    Raises
    ------
    ValueError
        If the shapes do not agree, or the columns of a sparse row are not sorted and unique.
    """
    check_canonical(rows)
    n, d = rows.shape
    if coef.ndim != 2 or coef.shape[1] != d:
        raise ValueError(f"coef must have shape (K, {d}), one column for each of rows, got {coef.shape}")
    if intercept.shape != coef.shape[:1]:
        raise ValueError(f"intercept must have shape {coef.shape[:1]} like coef, got {intercept.shape}")
    out = np.empty((n, len(coef)))
    for start in range(0, n, BLOCK):
        numbers = np.arange(start, min(start + BLOCK, n))
        for k, w in enumerate(coef):
            out[numbers, k] = rows.dots(numbers, w) + intercept[k]
    return out


def check_canonical(rows: Any) -> None:
    """Refuse sparse rows whose sums would depend on how they are stored."""
    if not rows.canonical:
        raise ValueError(
            "rows: the columns must be sorted and unique in every row; call sort_indices and sum_duplicates"
        )
