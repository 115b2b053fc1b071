"""Activations for prediction: the dot product that training uses, on any rows, in any split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.rows.csr import Rows
from perceptron_rs.reference.rows.dense import check_canonical

ROWS_AT_ONCE = 128


@standard()
def scores(
    rows: Rows, coef: NDArray[np.float64], intercept: NDArray[np.float64], *, threads: int
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
    d = rows.shape[1]
    if coef.ndim != 2 or coef.shape[1] != d:
        raise ValueError(f"coef must have shape (K, {d}), one column for each of rows, got {coef.shape}")
    if intercept.shape != coef.shape[:1]:
        raise ValueError(f"intercept must have shape {coef.shape[:1]} like coef, got {intercept.shape}")
    out = np.empty((rows.shape[0], len(coef)))
    for k, (w, b) in enumerate(zip(coef, intercept, strict=True)):
        out[:, k] = activations(rows, w, b)
    return out


def activations(rows: Rows, w: NDArray[np.float64], b: float) -> NDArray[np.float64]:
    """Return ``w . x + b`` for all rows; a few at a time, because the products of each take memory."""
    n: int = rows.shape[0]
    parts = [rows.dots(np.arange(i, min(i + ROWS_AT_ONCE, n)), w) for i in range(0, n, ROWS_AT_ONCE)]
    return np.concatenate([np.zeros(0), *parts]) + b
