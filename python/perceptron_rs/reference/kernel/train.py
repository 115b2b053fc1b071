"""The kernel perceptron.

Problem
    A classifier that is linear in a space of features known by its inner product alone, the kernel K.
Update rule
    In the dual form the sum of an example i is ``S_i = sum_k c_k K(x_k, x_i)`` over the mistakes in their
    order, its activation ``S_i + b``. A mistake on example k with the step c makes ``S_i += c K(x_k, x_i)``
    for every i, and ``b += c``. So the sums are the weights of a perceptron whose examples are unit
    vectors, and whose updates add rows of the Gram matrix: `Dual` is these examples, and ``online.fit``
    runs over them as over any others.
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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import AskForRow, KernelSpec, OnEpoch, Report, State
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.gram import Gram
from perceptron_rs.reference.kernel.kernels import check_kernel
from perceptron_rs.reference.online.fit import RULES, fit
from perceptron_rs.reference.online.voted import Voted
from perceptron_rs.reference.rows import Mistake, Rows
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["Dual", "kernel_fit"]


class Dual:
    """The examples of the dual form: n unit vectors."""

    canonical = True

    def __init__(self, rows: Any, kernel: KernelSpec, ask: AskForRow | None = None) -> None:
        self.row = Gram(kernel, rows, rows).row if ask is None else _foreign(ask)
        self.n = rows.shape[0]
        #: S before the update, and K(x, x), of each update in turn.
        self.updates: list[tuple[float, float]] = []

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, twice."""
        return self.n, self.n

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of the examples with these numbers."""
        sums: NDArray[np.float64] = w[numbers]
        return sums

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Add ``c`` times one row of the Gram matrix to the sums."""
        row = self.row(number)
        self.updates.append((float(w[number]), float(row[number])))
        w[:] = arith.add(w, c, row)

    def read(self, number: int) -> NDArray[np.intp]:
        """Return the place of the 1."""
        return np.array([number])


def _foreign(ask: AskForRow) -> AskForRow:
    def row(number: int) -> NDArray[np.float64]:
        with arith.foreign():
            return ask(number)

    return row


class KernelRule(Voted):
    """The log of each plane, and N after each entry."""

    def __init__(self, state: State, fit_intercept: bool) -> None:
        super().__init__(state, fit_intercept)
        self.norms: list[list[float]] = [[] for _ in self.log]

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:
        """Keep the log, and let the norms grow."""
        super().absorb(rows, log)
        assert isinstance(rows, Dual)
        for entry, (s, own) in zip(log, rows.updates, strict=True):
            norm = arith.grown(float(self.state["norm"][entry.plane]), entry.c, s, own)
            self.state["norm"][entry.plane] = norm
            self.norms[entry.plane].append(norm)
        rows.updates.clear()

    def memory(self) -> State:
        """Return the log as arrays."""
        norms = [norm for norms in self.norms for norm in norms]
        return super().memory() | {"log_norm": np.array(norms, dtype=np.float64)}


RULES["kernel"] = KernelRule


def kernel_fit(
    rows: Any,
    labels: NDArray[np.uint32],
    sample_weight: NDArray[np.float64] | None,
    *,
    kernel: KernelSpec,
    cache_bytes: int,  # noqa: ARG001  each row of the Gram matrix is computed where it is needed
    state: State,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    fit_intercept: bool,
    seed: int | None,
    first_epoch: int,
    max_iter: int,
    tol: float | None,
    n_iter_no_change: int,
    track_mistakes: bool,
    threads: int,
    margin: float = 0.0,
    added_feature: float = 0.0,
    max_mistakes_per_example: int | None = None,
    joint: str | None = None,
    record: bool = False,
    on_epoch: OnEpoch | None = None,
    keep_on_interrupt: bool = False,
    ask: AskForRow | None = None,
) -> Report:
    """Run epochs until every plane has stopped; ``state`` is not modified.

    Parameters are those of ``fit``, and

    kernel : KernelSpec
    cache_bytes : int
        Memory for rows of the Gram matrix that may be needed again. It changes no result.
    state : dict of arrays
        ``sums`` float64 (K, n): S of each example under the vectors to start from; ``intercept`` float64
        (K,), ``norm`` float64 (K,): their N, and ``seen`` int64 (K,).
    ask : callable or None
        Returns the kernel values of all rows with the one of a number, float64 (n,), the same ones each
        time; it is asked when they are needed. With it the kernel is "precomputed", and of ``rows`` the
        number alone matters.

    Returns
    -------
    Report
        Its state holds ``intercept``, ``norm``, ``seen``, and the log of the call, plane by plane:
        ``log_start`` int64 (K + 1,), ``log_row`` and ``log_t`` int64 (M,), ``log_step`` and ``log_norm``
        float64 (M,).

    Raises
    ------
    OverflowError
        If a number is not finite; the text names the epoch. All sums are looked at, at the end of
        each epoch.
    ValueError
        If arguments do not fit together.
    """
    check_kernel(kernel)
    check_canonical(rows)
    n, columns = rows.shape
    if ask is not None and kernel.name != "precomputed":
        raise ValueError("kernel must be precomputed where a source gives its values")
    if ask is None and kernel.name == "precomputed" and n != columns:
        raise ValueError(
            f"rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}"
        )
    for name in ("sums", "norm"):
        if name not in state:
            raise ValueError(f"state lacks {name!r}, which the learner needs")
    start = {"coef" if name == "sums" else name: values for name, values in state.items()}
    with arith.standard():
        dual = Dual(rows, kernel, ask)
    report = fit(
        dual,
        labels,
        sample_weight,
        learner="kernel",
        state=start,
        positive=positive,
        class_weight=class_weight,
        eta0=eta0,
        tie=tie,
        fit_intercept=fit_intercept,
        seed=seed,
        first_epoch=first_epoch,
        max_iter=max_iter,
        tol=tol,
        n_iter_no_change=n_iter_no_change,
        track_mistakes=track_mistakes,
        threads=threads,
        margin=margin,
        added_feature=added_feature,
        max_mistakes_per_example=max_mistakes_per_example,
        joint=joint,
        record=record,
        on_epoch=on_epoch,
        keep_on_interrupt=keep_on_interrupt,
    )
    del report["state"]["coef"]
    return report
