"""Kernel values, and rows of a Gram matrix, from dot products by rule 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith
from perceptron_rs.reference.arith import exp, tanh
from perceptron_rs.reference.rows import Rows, check_canonical
from perceptron_rs.settings import KernelSpec


def needs_squares(kernel: KernelSpec) -> bool:
    """Whether the kernel of two rows needs the dot product of each with itself."""
    return kernel.name == "rbf"


def finish(
    kernel: KernelSpec, dots: NDArray[np.float64], square: float, squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the kernel values of one row, of this square, with many, of these squares."""
    if kernel.name == "poly":
        return arith.power(kernel.gamma * dots + kernel.coef0, kernel.degree)
    if kernel.name == "rbf":
        return exp(-kernel.gamma * arith.squared_distance(square, squares, dots))
    if kernel.name == "sigmoid":
        return tanh(kernel.gamma * dots + kernel.coef0)
    return dots


class Gram:
    """Kernel values of the rows with others; rows that are precomputed hold them."""

    def __init__(self, kernel: KernelSpec, rows: Rows, others: Rows) -> None:
        self.kernel, self.rows, self.others = kernel, rows, others
        self.numbers = np.arange(rows.shape[0])
        self.squares = squares(kernel, rows)
        self.other_squares = self.squares if rows is others else squares(kernel, others)

    def row(self, other: int) -> NDArray[np.float64]:
        """Kernel values of one of the others with every row."""
        if self.kernel.name == "precomputed":
            unit = np.zeros(self.rows.shape[1])
            unit[other] = 1.0
            column: NDArray[np.float64] = self.rows.dots(self.numbers, unit)
            return column
        dots = self.rows.dots(self.numbers, wide(self.others, other))
        return finish(self.kernel, dots, float(self.other_squares[other]), self.squares)


def wide(rows: Rows, number: int) -> NDArray[np.float64]:
    """Return one row as float64."""
    w = np.zeros(rows.shape[1])
    rows.axpy(number, 1.0, w)
    return w


def squares(kernel: KernelSpec, rows: Rows) -> NDArray[np.float64]:
    """Return the dot product of each row with itself, or 0 for a kernel that does not need it."""
    return _all_squares(rows) if needs_squares(kernel) else np.zeros(rows.shape[0])


def _all_squares(rows: Rows) -> NDArray[np.float64]:
    squares = np.zeros(rows.shape[0])
    for i in range(len(squares)):
        squares[i] = rows.dots(np.array([i]), wide(rows, i))[0]
    return squares


@standard()
def scale_gamma(rows: Rows) -> float:
    """Return one divided by the number of columns and the variance of all values; 1 if that is 0."""
    check_canonical(rows)
    n, columns = rows.shape
    return arith.scale(rows.dots(np.arange(n), np.ones(columns)), _all_squares(rows), columns)


def same_columns(kernel: KernelSpec, rows: Rows, others: Rows) -> None:
    """Raise ValueError for rows and others that have no kernel values with each other."""
    for side in (rows, others):
        check_canonical(side)
    needed, name = others.shape[1], "like the other rows"
    if kernel.name == "precomputed":
        needed, name = others.shape[0], "one for each of the other rows"
    if rows.shape[1] != needed:
        raise ValueError(f"rows must have {needed} columns, {name}, got {rows.shape[1]}")


@standard()
def kernel_matrix(rows: Rows, others: Rows, *, kernel: KernelSpec, threads: int) -> NDArray[np.float64]:
    """Kernel values of every row with every one of the others.

    Parameters
    ----------
    rows, others : made by ``dense_rows`` or ``csr_rows``
        n and m examples of equally many columns.
    kernel : KernelSpec
    threads : int

    Returns
    -------
    float64 array of shape (n, m)

    Raises
    ------
    ValueError
        If the arguments do not fit together.
    """
    same_columns(kernel, rows, others)
    gram = Gram(kernel, rows, others)
    out = np.empty((rows.shape[0], others.shape[0]))
    for j in range(others.shape[0]):
        out[:, j] = gram.row(j)
    return out
