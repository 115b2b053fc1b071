"""A Cholesky factor that grows and shrinks by one row: R with ``R^T R = Q``.

R^T is kept by columns, so that the forward solve and the rotations run along memory; only the back
substitution is a sum, by the dot product of the contract. For each group g of members, ``f[g]``
solves ``R^T f = e_g``, with e_g the indicator of its members.
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_rs.arrays.named import Floats

from .dot import dot


def inner(a: Floats, b: Floats) -> float:
    """Return the dot product of two vectors."""
    return float(dot(a[np.newaxis], b)[0])


class Factor:
    """The factor of a matrix of ``size`` rows, whose members belong to one or two groups."""

    def __init__(self, groups: int) -> None:
        self.size = 0
        self.columns = np.zeros((8, 8))  # columns[j, i] is the entry in row i, column j of R^T
        self.f = np.zeros((groups, 8))

    def forward(self, b: Floats) -> Floats:
        """Solve ``R^T x = b``."""
        x = b.copy()
        for j, column in enumerate(self.columns[: self.size, : self.size]):
            x[j] = x[j] / column[j]
            x[j + 1 :] = x[j + 1 :] - x[j] * column[j + 1 :]
        return x

    def back(self, b: Floats) -> Floats:
        """Solve ``R x = b``."""
        k, x = self.size, b.copy()
        for i in range(k - 1, -1, -1):
            column = self.columns[i, :k]
            x[i] = (x[i] - inner(column[i + 1 :], x[i + 1 :])) / column[i]
        return x

    def step(self, r: Floats) -> Floats:
        """Solve ``Q d = r + sum_g mu_g e_g``, with the mu for which d sums to 0 in each group."""
        y, f = self.forward(r), self.f[:, : self.size]
        if len(f) == 1:
            z = y + (-inner(f[0], y) / inner(f[0], f[0])) * f[0]
        else:
            a, b, c = inner(f[0], f[0]), inner(f[0], f[1]), inner(f[1], f[1])
            p, q = -inner(f[0], y), -inner(f[1], y)
            determinant = a * c - b * b
            z = y + ((p * c - q * b) / determinant) * f[0]
            z = z + ((q * a - p * b) / determinant) * f[1]
        return self.back(z)

    def append(self, r: Floats, rho: float, group: int) -> None:
        """Add the column ``(r, rho)`` to R, for a member of ``group``."""
        k = self.size
        if k == len(self.columns):
            grown = np.zeros((2 * k, 2 * k))
            grown[:k, :k] = self.columns
            self.columns = grown
            self.f = np.hstack([self.f, np.zeros_like(self.f)])
        self.columns[:k, k] = r
        self.columns[k, k] = rho
        for g, f in enumerate(self.f):
            f[k] = (float(g == group) - inner(r, f[:k])) / rho
        self.size = k + 1

    def remove(self, p: int) -> None:
        """Take the member at place ``p`` away, by Givens rotations."""
        k, columns = self.size, self.columns
        for j in range(p, k - 1):
            left, right = columns[j, j + 1 : k].copy(), columns[j + 1, j + 1 : k].copy()
            length = math.sqrt(left[0] * left[0] + right[0] * right[0])
            c, s = left[0] / length, right[0] / length
            columns[j, j + 1 : k] = c * left + s * right
            columns[j + 1, j + 1 : k] = c * right - s * left
            for f in self.f:
                f[j], f[j + 1] = c * f[j] + s * f[j + 1], c * f[j + 1] - s * f[j]
        columns[: k - 1, p : k - 1] = columns[: k - 1, p + 1 : k].copy()
        self.size = k - 1

    def packed(self) -> Floats:
        """Return the columns of R one after another, without their zeros."""
        columns = [self.columns[: k + 1, k] for k in range(self.size)]
        return np.concatenate([np.zeros(0), *columns])

    @classmethod
    def unpacked(cls, numbers: Floats) -> Factor:
        """Return the factor of no groups with these columns."""
        factor, rest = cls(0), numbers
        while len(rest):
            k = factor.size
            factor.append(rest[:k], float(rest[k]), 0)
            rest = rest[k + 1 :]
        return factor
