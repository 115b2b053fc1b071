"""Runs of the kernel perceptron on a budget. What is kept, and what goes, is decided in ``kept.py``.

The sums of all examples are not kept up to date here, as ``train.py`` does: those of an example are
computed when it is visited, from its kernel values with the examples kept alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import KernelSpec, OnEpoch, Report, State
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.gram import squares, wide
from perceptron_rs.reference.kernel.kept import Budget, Kept, check_kept, kept_of, state_of
from perceptron_rs.reference.kernel.kernels import check_kernel, finish
from perceptron_rs.reference.online.fit import RULES, fit
from perceptron_rs.reference.online.problem import Decision
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.rows import Mistake, Rows
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["kernel_fit_budget"]


class BudgetRows:
    """The examples of a run on a budget. The one weight of a plane is its number.

    A member of a set is the number of a stored row, or behind these of a row of the run.
    """

    canonical = True

    def __init__(
        self, rows: Any, stored_rows: Any, kernel: KernelSpec, sets: list[Kept], budget: Budget, width: int
    ) -> None:
        self.rows, self.stored_rows, self.kernel = rows, stored_rows, kernel
        self.sets, self.budget, self.width = sets, budget, width
        self.first = stored_rows.shape[0]
        self.squares = np.concatenate([squares(kernel, stored_rows), squares(kernel, rows)])
        self.written_out: dict[int, NDArray[np.float64]] = {}
        #: The last mistake, with its set, until it is taken in: a joint one comes class by class.
        self.update: tuple[int, int, NDArray[np.float64]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, and of weights."""
        return self.rows.shape[0], 1

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of the examples with these numbers."""
        self.settle()
        place, k = self._place(w)
        kept, sums = self.sets[place], np.zeros(len(numbers))
        for member, steps in zip(kept.members, kept.steps, strict=True):
            if steps[k] != 0:
                dots = self.rows.dots(numbers, self._weights(member))
                own, others = float(self.squares[member]), self.squares[self.first + numbers.astype(np.intp)]
                sums = arith.add(sums, steps[k], finish(self.kernel, dots, own, others))
        return sums

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Note a step of a mistake."""
        place, k = self._place(w)
        if self.update is None:
            self.update = int(number), place, np.zeros(self.width)
        self.update[2][k] = c

    def settle(self) -> None:
        """Take the last mistake in.

        Raises
        ------
        FloatingPointError
            If a number is not finite after it.
        """
        if self.update is None:
            return
        (number, place, steps), self.update = self.update, None
        self.sets[place].take(self.first + number, steps, place, self.budget, self.between)
        members = {member for kept in self.sets for member in kept.members}
        self.written_out = {m: w for m, w in self.written_out.items() if m in members}

    def between(self, one: int, members: list[int]) -> NDArray[np.float64]:
        """Return the kernel values of one member with others."""
        if self.kernel.name == "precomputed":
            row = wide(self.rows, one)
            return row[members]
        dots = np.array([arith.inner(self._weights(member), self._weights(one)) for member in members])
        return finish(self.kernel, dots, float(self.squares[one]), self.squares[members])

    def read(self, number: int) -> NDArray[np.intp]:  # noqa: ARG002
        """Return no column: the one weight of a plane is its number, which no example reads."""
        return np.zeros(0, dtype=np.intp)

    def _place(self, w: NDArray[np.float64]) -> tuple[int, int]:
        """Return the set of a plane, and the plane's place among the steps of its members."""
        plane = int(w[0])
        return (plane, 0) if self.width == 1 else (0, plane)

    def _weights(self, member: int) -> NDArray[np.float64]:
        """Return what the kernel value of a row with a member is the dot product with."""
        if self.kernel.name == "precomputed":
            unit = np.zeros(self.rows.shape[1])
            unit[member] = 1.0
            return unit
        if member not in self.written_out:
            rows, number = (
                (self.stored_rows, member) if member < self.first else (self.rows, member - self.first)
            )
            self.written_out[member] = wide(rows, number)
        return self.written_out[member]


class BudgetRule(Rule):
    """What the sets keep, as arrays."""

    def begin(self, rows: Any, decisions: list[Decision], check: str) -> None:  # noqa: ARG002
        """Take note of the sets."""
        self.rows: BudgetRows = rows

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:  # noqa: ARG002
        """Take in the last mistake of a block."""
        self.rows.settle()

    def memory(self) -> State:
        """Return what is kept."""
        return state_of(self.rows.sets, self.rows.width)


RULES["budget"] = BudgetRule


def kernel_fit_budget(
    rows: Any,
    stored_rows: Any,
    labels: NDArray[np.uint32],
    sample_weight: NDArray[np.float64] | None,
    *,
    kernel: KernelSpec,
    budget: int,
    policy: str,
    policy_seed: int,
    distance: float,
    state: State,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    seed: int | None,
    first_epoch: int,
    max_iter: int,
    tol: float | None,
    n_iter_no_change: int,
    track_mistakes: bool,
    margin: float = 0.0,
    max_mistakes_per_example: int | None = None,
    joint: str | None = None,
    on_epoch: OnEpoch | None = None,
    keep_on_interrupt: bool = False,
) -> Report:
    """Run epochs on a budget until every plane has stopped; ``state`` is not modified.

    Parameters are those of ``fit``, and

    rows, stored_rows : made by ``dense_rows`` or ``csr_rows``
        n examples, and m of which the state tells. There are none of these with a precomputed kernel:
        the state then tells of the examples themselves.
    kernel : KernelSpec
    budget : int
        B, at least 1: of each plane, or of all classes of a joint decision together.
    policy : "oldest", "random", "forgetron" or "projectron"
    policy_seed : int
        Key of what "random" draws.
    distance : float
        Up to which "projectron" projects an example, at least 0.
    state : dict of arrays
        ``seen`` int64 (K,). For G sets, K or one of a joint decision, ``kept_start`` int64 (G + 1,): where
        the members of each begin and end; ``kept_row`` int64 (M,): the row of each member, ``kept_number``
        int64 (M,): the number of the mistake that added it, counted from 1, and ``kept_step`` float64
        (M, 1), or (M, K) of a joint decision: its steps; ``kept_mistakes`` int64 (G,),
        ``kept_harm`` float64 (G,), and ``kept_factor`` float64: with "projectron" the factors of the Gram
        matrices, of which each column is as long as it has entries.

    Returns
    -------
    Report
        Its state has the same arrays. Row m + i is the one with the number i of this run.

    Raises
    ------
    OverflowError
        If an activation or a step is not finite. The text names the epoch.
    ValueError
        If arguments do not fit together.
    """
    check_kernel(kernel)
    for side in (rows, stored_rows):
        check_canonical(side)
    size = Budget(budget, policy, policy_seed, distance, eta0)
    size.check()
    (n, columns), (m, needed) = rows.shape, stored_rows.shape
    if kernel.name == "precomputed" and (n != columns or m):
        raise ValueError(
            f"rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}, "
            f"and stored_rows must have no rows, got {m}"
        )
    if columns != needed:
        raise ValueError(f"rows must have {needed} columns, like the other rows, got {columns}")
    planes = len(positive)
    width = planes if joint else 1
    check_kept(state, size, planes // width, width, m if kernel.name != "precomputed" else n)
    with arith.standard():
        sets = kept_of(state, policy)
        examples = BudgetRows(rows, stored_rows, kernel, sets, size, width)
    report = fit(
        examples,
        labels,
        sample_weight,
        learner="budget",
        state={
            "coef": np.arange(planes, dtype=np.float64)[:, np.newaxis],
            "intercept": np.zeros(planes),
            "seen": state["seen"],
        },
        positive=positive,
        class_weight=class_weight,
        eta0=eta0,
        tie=tie,
        fit_intercept=False,
        seed=seed,
        first_epoch=first_epoch,
        max_iter=max_iter,
        tol=tol,
        n_iter_no_change=n_iter_no_change,
        track_mistakes=track_mistakes,
        threads=1,
        margin=margin,
        max_mistakes_per_example=max_mistakes_per_example,
        joint=joint,
        on_epoch=on_epoch,
        keep_on_interrupt=keep_on_interrupt,
    )
    for name in ("coef", "intercept"):
        del report["state"][name]
    return report
