"""Runs of the kernel perceptron on a budget. Which members stay is decided in ``support_set.py``.

The sums of all examples are not kept up to date here, as ``train.py`` does: those of an example are
computed when it is visited, from its kernel values with the examples kept alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.gram import finish, squares, wide
from perceptron_rs.reference.kernel.support_set import SupportSet, sets_of, state_of
from perceptron_rs.reference.linear.perceptron import Learner, Plane
from perceptron_rs.reference.linear.run import Decision, Run, decisions
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.settings import Budget, Data, check_kept


class MemberValues:
    """Kernel values of examples with members: numbers of stored rows, or behind these of rows of the run."""

    def __init__(self, data: Data, settings: Budget) -> None:
        self.rows, self.stored_rows, self.kernel = data.rows, data.stored_rows, settings.kernel
        self.first = self.stored_rows.shape[0]
        self.squares = np.concatenate(
            [squares(self.kernel, self.stored_rows), squares(self.kernel, self.rows)]
        )

    def __deepcopy__(self, memo: dict[int, object]) -> MemberValues:  # it never changes
        return self

    def __call__(self, one: int, members: list[int]) -> NDArray[np.float64]:
        """Return the kernel values of one example with members."""
        rows, number = self.place(one)
        if self.kernel.name == "precomputed":
            return wide(rows, number)[members]
        x = rows[number]
        dots = [arith.row_dot(x.columns, x.values, wide(*self.place(member))) for member in members]
        return finish(self.kernel, np.array(dots), float(self.squares[one]), self.squares[members])

    def place(self, number: int) -> tuple[Any, int]:
        """Return the rows in which an example stands, and its number there."""
        if number < self.first:
            return self.stored_rows, number
        return self.rows, number - self.first


@dataclass
class Shared:
    """A set, and the steps of the last mistake until all are there: a joint one comes class by class."""

    kept: SupportSet
    number: int  # of the set
    width: int  # classes that share it
    values: MemberValues
    settings: Budget
    steps: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def settle(self) -> None:
        """Take the last mistake in; FloatingPointError if a number is not finite after it."""
        for x, steps in self.steps.items():
            self.kept.take(x, steps, self.number, self.settings, self.values)
        self.steps.clear()


class Forgetful(Plane):
    """A plane that is a sum over few examples, and forgets others: class k of those that share a set."""

    def __init__(self, shared: Shared, k: int, t: int) -> None:
        super().__init__(np.zeros(0), 0.0, fit_intercept=False, t=t)
        self.shared, self.k = shared, k

    def activation(self, x: int) -> float:
        """Return the sum of the members' ``c_j K(x_j, x)``, in the order in which they came."""
        self.shared.settle()
        kept = self.shared.kept
        terms = [
            (m, steps[self.k])
            for m, steps in zip(kept.members, kept.steps, strict=True)
            if steps[self.k] != 0
        ]
        values = self.shared.values(x, [member for member, _ in terms])
        return arith.total([c * K for (_, c), K in zip(terms, values, strict=True)])

    def update(self, c: float, x: int) -> None:
        """Note a step of a mistake."""
        self.shared.steps.setdefault(x, np.zeros(self.shared.width))[self.k] = c

    def is_finite(self) -> bool:
        """Take in the last mistake of an epoch, which looks at its numbers."""
        self.shared.settle()
        return True


def start_budget(data: Data, state: State, settings: Budget) -> Run:
    """Begin a run on a budget."""
    for side in (data.rows, data.stored_rows):
        check_canonical(side)
    (n, columns), (m, needed) = data.rows.shape, data.stored_rows.shape
    precomputed = settings.kernel.name == "precomputed"
    if precomputed and (n != columns or m):
        raise ValueError(
            f"rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}, "
            f"and stored_rows must have no rows, got {m}"
        )
    if columns != needed:
        raise ValueError(f"rows must have {needed} columns, like the other rows, got {columns}")
    K = len(settings.positive)
    width = K if settings.joint else 1
    rows = n if precomputed else m
    check_kept(state, settings.budget, settings.policy, sets=K // width, width=width, rows=rows)
    values = MemberValues(data, settings)
    sets = sets_of(state, settings.policy)
    shared = [Shared(kept, g, width, values, settings) for g, kept in enumerate(sets)]
    planes: list[Plane] = [Forgetful(shared[k // width], k % width, int(state["seen"][k])) for k in range(K)]
    decided = decisions(data, settings, planes)
    for decision in decided:
        decision.learners += [Learner() for _ in decision.planes]

    def memory(decided: list[Decision]) -> State:
        planes = [plane for decision in decided for plane in decision.planes if isinstance(plane, Forgetful)]
        return state_of([plane.shared.kept for plane in planes[::width]], width)

    return Run(range(m, m + n), decided, settings, memory)
