"""The dot product of the contract: eight lanes by column, then a fixed tree.

Lane ``j mod 8`` starts at +0.0 and receives ``w[j] * x[j]`` in increasing ``j``, each product
rounded before it is added. Then ``t[i] = l[i] + l[i+4]``, ``u[i] = t[i] + t[i+2]`` and the
result is ``u[0] + u[1]``.

A lane that starts at +0.0 never becomes -0.0. Adding the zero product of a dense row to it
and skipping it, as a sparse row does, are therefore the same: both functions below give
the same bits for the same values, as long as the weights are finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .axpy import widen

LANES = 8


def row_dot(column: NDArray[Any], x: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Dot product of one row with ``w``: columns increase, and x[i] stands in column[i]."""
    return float(_of_products(1, column % LANES, x * w[column])[0])


def row_square(column: NDArray[Any], x: NDArray[np.float64]) -> float:
    """Dot product of one row with itself."""
    return float(_of_products(1, column % LANES, x * x)[0])


def dot(x: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Dot product of each row of ``x`` with ``w``.

    Parameters
    ----------
    x : array of shape (n, d), any storage type
    w : float64 array of shape (d,)

    Returns
    -------
    float64 array of shape (n,)
    """
    n, d = x.shape
    # The first group of eight stays +0.0, where the lanes start; so does the end of the last one.
    groups = np.zeros((n, 1 + -(-d // LANES), LANES))
    groups.reshape(n, groups.shape[1] * LANES)[:, LANES : LANES + d] = widen(x) * w
    return _tree(np.add.accumulate(groups, axis=1)[:, -1])


def sparse_dot(
    n: int, line: NDArray[Any], column: NDArray[Any], x: NDArray[Any], w: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Dot product of each of ``n`` sparse rows with ``w``.

    Parameters
    ----------
    n : number of rows
    line, column : integer arrays of shape (m,)
        Where each stored entry stands; columns increase within a row.
    x : array of shape (m,), any storage type
        The stored entries.
    w : float64 array of shape (d,)

    Returns
    -------
    float64 array of shape (n,)
    """
    return _of_products(n, line * LANES + column % LANES, widen(x) * w[column])


def _of_products(n: int, lane: NDArray[Any], products: NDArray[np.float64]) -> NDArray[np.float64]:
    lanes = np.zeros(n * LANES)
    np.add.at(lanes, lane, products)  # one after the other
    return _tree(lanes.reshape(n, LANES))


def _tree(lanes: NDArray[np.float64]) -> NDArray[np.float64]:
    t = lanes[:, :4] + lanes[:, 4:]
    u = t[:, :2] + t[:, 2:]
    s: NDArray[np.float64] = u[:, 0] + u[:, 1]
    return s
