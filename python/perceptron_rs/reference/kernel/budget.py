"""The kernel perceptron on a budget: at most B mistaken examples are kept, for streams that never end.

Problem
    As the kernel perceptron, in bounded memory and time for each example.
Update rule
    The activation is the sum of ``c_j K(x_j, x)`` over the examples kept, in the order in which they came.
    A mistake adds its example with its step c. If that makes more than B of them,

    - "oldest": the first one goes;
    - "random": one of those there before goes, drawn by the seed, the plane and t;
    - "forgetron": all steps are multiplied by the largest phi in (0, 1] with
      ``Psi + Q <= 15/32 M``, then the first one goes. M counts the mistakes, Q adds up Psi,
      ``Psi = (sigma phi)^2 + 2 sigma phi (1 - phi mu)`` is the harm of its going: sigma is the
      size of its step, mu its activation times the sign of its step;
    - "projectron": nothing goes. An example is not added if it is within ``threshold`` of the span of
      those kept, or if there are B of them: its projection is, that is c d is added to their steps, with
      ``d`` the inverse of their Gram matrix times their kernel values with the example.
Given
    The examples, a kernel, a budget and a policy; what was kept before.
Result
    What is kept of each plane: rows and steps in their order.
Paper
    "random": G. Cavallanti, N. Cesa-Bianchi, C. Gentile, "Tracking the best hyperplane with a simple budget
    perceptron", Machine Learning 69, 2007 (figure 2). "forgetron": O. Dekel, S. Shalev-Shwartz,
    Y. Singer, "The Forgetron: a kernel-based perceptron on a budget", SIAM J. Computing 37, 2008 (figure 3,
    the self-tuned one). "projectron": F. Orabona, J. Keshet, B. Caputo, "Bounded kernel-based online
    learning", JMLR 10, 2009 (algorithm 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import KernelSpec, OnEpoch, Report, State
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.kernels import check_kernel, finish, needs_squares
from perceptron_rs.reference.online.fit import fit
from perceptron_rs.reference.order import below
from perceptron_rs.reference.rows import Rows, dense_rows
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["POLICIES", "kernel_fit_budget"]

POLICIES = ("oldest", "random", "forgetron", "projectron")

#: The share of the mistakes that the harm of all removals may come to.
SHARE = 15 / 32


@dataclass
class Kept:
    """What one plane keeps."""

    rows: list[int] = field(default_factory=list)  # numbers of stored rows, then of those of this call
    steps: list[float] = field(default_factory=list)
    mistakes: int = 0
    harm: float = 0.0  # Q
    inverse: list[list[float]] = field(default_factory=list)  # of the Gram matrix


class BudgetRows:
    """The examples of a run on a budget; the one weight of a plane is its number."""

    canonical = True

    def __init__(
        self,
        rows: Any,
        stored_rows: Any,
        kernel: KernelSpec,
        planes: list[Kept],
        seen: NDArray[np.int64],
        budget: int,
        policy: str,
        policy_seed: int,
        threshold: float,
    ) -> None:
        self.kernel, self.planes, self.seen = kernel, planes, seen
        self.budget, self.policy, self.seed, self.threshold = budget, policy, policy_seed, threshold
        self.n, d = rows.shape
        m = stored_rows.shape[0]
        self.first = m
        self.values = np.zeros((m + self.n, d))
        for i in range(m):
            stored_rows.axpy(i, 1.0, self.values[i])
        for i in range(self.n):
            rows.axpy(i, 1.0, self.values[m + i])
        self.squares = np.zeros(m + self.n)
        if needs_squares(kernel):
            for i, row in enumerate(self.values):
                self.squares[i] = arith.dot(row[np.newaxis], row)[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and of weights."""
        return self.n, 1

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of the examples with these numbers."""
        kept = self.planes[int(w[0])]
        sums = np.zeros(len(numbers))
        chosen = numbers.astype(np.intp) + self.first
        for row, c in zip(kept.rows, kept.steps, strict=True):
            dots = arith.dot(self.values[chosen], self.values[row])
            values = finish(self.kernel, dots, self.squares[row], self.squares[chosen])
            sums = arith.add(sums, c, values)
        return sums

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Take in a mistake."""
        plane = int(w[0])
        kept = self.planes[plane]
        kept.mistakes += 1
        row = int(number) + self.first
        if self.policy == "projectron":
            self._project(kept, row, c)
            return
        if self.policy == "random" and len(kept.rows) == self.budget:
            gone = below(self.budget, seed=self.seed, epoch=kept.mistakes, partition=plane)
            del kept.rows[gone], kept.steps[gone]
        kept.rows.append(row)
        kept.steps.append(c)
        if len(kept.rows) > self.budget:
            if self.policy == "forgetron":
                self._shrink(kept)
            del kept.rows[0], kept.steps[0]

    def read(self, number: int) -> NDArray[np.intp]:  # noqa: ARG002
        """Return no columns: there is no penalty."""
        return np.arange(0)

    def _values(self, kept: Kept, row: int) -> list[float]:
        """Kernel values of all that is kept with a row."""
        dots = arith.dot(self.values[kept.rows], self.values[row])
        found = finish(self.kernel, dots, self.squares[row], self.squares[kept.rows])
        return [float(value) for value in found]

    def _shrink(self, kept: Kept) -> None:
        values = self._values(kept, kept.rows[0])
        mu = _dot(kept.steps, values)
        sigma = abs(kept.steps[0])
        if kept.steps[0] < 0:
            mu = -mu
        phi = shrinking(sigma, mu, kept.harm - SHARE * kept.mistakes)
        kept.harm = kept.harm + harm(sigma, mu, phi)
        kept.steps = [phi * c for c in kept.steps]

    def _project(self, kept: Kept, row: int, c: float) -> None:
        k = self._values(kept, row)
        d = [_dot(line, k) for line in kept.inverse]
        own = self.values[[row]]
        square = np.zeros(1) + self.squares[row]
        whole = float(finish(self.kernel, arith.dot(own, own[0]), self.squares[row], square)[0])
        rest = whole - _dot(d, k)
        if len(kept.rows) == self.budget or not rest > self.threshold * self.threshold:
            kept.steps = [step + c * part for step, part in zip(kept.steps, d, strict=True)]
            return
        d.append(-1.0)
        for line in kept.inverse:
            line.append(0.0)
        kept.inverse.append([0.0] * len(d))
        kept.inverse = [
            [old + part * other / rest for old, other in zip(line, d, strict=True)]
            for line, part in zip(kept.inverse, d, strict=True)
        ]
        kept.rows.append(row)
        kept.steps.append(c)


def _dot(a: list[float], b: list[float]) -> float:
    """Return the sum of products in their order."""
    total = 0.0
    for x, z in zip(a, b, strict=True):
        total = total + x * z
    return total


def harm(sigma: float, mu: float, phi: float) -> float:
    """Return Psi: what the removal of an example costs after shrinking by phi."""
    step = sigma * phi
    return step * step + 2.0 * step * (1.0 - phi * mu)


def shrinking(sigma: float, mu: float, rest: float) -> float:
    """Return the largest phi in (0, 1] with ``harm + rest <= 0``; 1 if there is none.

    The harm is ``a phi^2 + b phi``; if phi = 1 does not do, the smaller root of
    ``a phi^2 + b phi + rest`` does.
    """
    if harm(sigma, mu, 1.0) + rest <= 0:
        return 1.0
    a, b = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma
    discriminant = b * b - 4.0 * a * rest
    if not discriminant >= 0:
        return 1.0
    phi = -2.0 * rest / (b + math.sqrt(discriminant))
    return phi if 0 < phi < 1 else 1.0
