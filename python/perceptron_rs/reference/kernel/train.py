"""The kernel perceptron.

Problem
    A classifier that is linear in a space of features known by its inner product alone, the kernel K.
Update rule
    In the dual form the sum of an example i is ``S_i = sum_k c_k K(x_k, x_i)`` over the mistakes in their
    order, its activation ``S_i + b``. A mistake on example k with the step c makes ``S_i += c K(x_k, x_i)``
    for every i, and ``b += c``. So the sums are a plane whose examples are their numbers, and whose updates
    add rows of the Gram matrix; the loop is that of ``linear/perceptron.py``. N grows by
    ``c (2 S_k + c K(x_k, x_k))``.
Given
    The examples and a kernel; the sums to start from, and the squared norm N of the vector there.
Result
    The log of mistakes, as that of the voted perceptron, and N after each of them.
Paper
    M. A. Aizerman, E. M. Braverman, L. I. Rozonoer, "Theoretical foundations of the potential function
    method in pattern recognition learning", Automation and Remote Control 25, 1964; Y. Freund,
    R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine Learning 37,
    1999: section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import foreign
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.gram import Gram
from perceptron_rs.reference.linear.perceptron import Plane
from perceptron_rs.reference.linear.run import Decision, Run, check_shapes, decisions
from perceptron_rs.reference.linear.voted import Voted, log_arrays
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.settings import Data, Kernel


class Dual(Plane):
    """S of every example, b, and N of the vector and of each one before it."""

    def __init__(
        self,
        row: Callable[[int], NDArray[np.float64]],
        S: NDArray[np.float64],
        b: float,
        norm: float,
        fit_intercept: bool,
        t: int,
    ) -> None:
        super().__init__(S, b, fit_intercept, t)
        self.row, self.norm, self.norms = row, norm, list[float]()

    def activation(self, x: int) -> float:
        """Return ``S_x + b``."""
        return float(self.w[x] + self.b)

    def update(self, c: float, x: int) -> None:
        """``S += c K(x, .)``, ``b += c``."""
        K = self.row(x)
        self.norm = arith.grown(self.norm, c, float(self.w[x]), float(K[x]))
        self.norms.append(self.norm)
        self.w += c * K
        if self.fit_intercept:
            self.b += c

    def is_finite(self) -> bool:
        """Whether all sums, b and N are."""
        return super().is_finite() and bool(np.isfinite(self.norm))


def start_kernel(data: Data, state: State, settings: Kernel) -> Run:
    """Begin a run of the kernel perceptron."""
    check_canonical(data.rows)
    (n, columns), K = data.rows.shape, len(settings.positive)
    if settings.ask is None and settings.kernel.name == "precomputed" and n != columns:
        raise ValueError(
            f"rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}"
        )
    check_shapes(state, {"sums": (K, n), "intercept": (K,), "norm": (K,), "seen": (K,)})
    source = settings.ask or Gram(settings.kernel, data.rows, data.rows).row

    def row(i: int) -> NDArray[np.float64]:  # a function: a run that is copied shares what is behind it
        with nullcontext() if settings.ask is None else foreign():
            return source(i)

    S, b, norm = (state[name] + 0.0 for name in ("sums", "intercept", "norm"))
    planes: list[Plane] = [
        Dual(row, S[k], float(b[k]), float(norm[k]), settings.fit_intercept, int(state["seen"][k]))
        for k in range(K)
    ]
    laid_out = decisions(data, settings, planes)
    for decision in laid_out:
        decision.learners += [Voted() for _ in decision.planes]
    return Run(range(n), laid_out, settings, kernel_memory)


def kernel_memory(every: list[Decision]) -> State:
    """Return the log of the run, intercepts and norms, as arrays."""
    planes = [plane for decision in every for plane in decision.planes if isinstance(plane, Dual)]
    logs = [learner.log for decision in every for learner in decision.learners if isinstance(learner, Voted)]
    return log_arrays(logs) | {
        "intercept": np.array([plane.b for plane in planes]),
        "norm": np.array([plane.norm for plane in planes]),
        "log_norm": np.array([norm for plane in planes for norm in plane.norms], dtype=np.float64),
    }
