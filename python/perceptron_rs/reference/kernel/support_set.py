"""The kernel perceptron on a budget: at most B mistaken examples are kept, for streams that never end.

Problem
    As the kernel perceptron's, in bounded memory and with bounded work for each example.
Update rule
    The sum of an example x is ``S = sum_j c_j K(x_j, x)`` over the examples kept, in the order in which they
    came. A mistake adds its example with its step c. If that makes more than B of them,

    - "oldest": the first one goes;
    - "random": one of those there before goes, drawn by the seed, the number of the set and that of
      the mistake;
    - "forgetron": all steps are multiplied by the largest phi in (0, 1] with
      ``Q + Psi <= 15/32 M``, then the first one goes. M counts the mistakes, Q adds up Psi, the harm of
      each removal: ``Psi = (sigma phi)^2 + 2 sigma phi (1 - phi mu)``, where sigma is the size of the step
      that goes and mu the sum at its example times the sign of the step, both in units of eta0;
    - "projectron": nothing goes. The example is not added if it is no farther than a given
      distance from the span of those kept, or if there are B of them: its projection is, that is, c d is
      added to their steps, with ``d`` the coefficients of the projection.

    Each plane keeps a set of its own. The classes of a joint decision share one: an example is kept
    with a step for each class, sigma is the largest size of these, and mu their sum of
    ``(c_k / sigma) S_k``.
Given
    The examples, a kernel, B and a policy; what was kept before.
Result
    The examples kept and their steps, in their order; M, Q, and the factor of their Gram matrix.
Paper
    "oldest" and "random": G. Cavallanti, N. Cesa-Bianchi, C. Gentile, "Tracking the best hyperplane with a
    simple budget perceptron", Machine Learning 69, 2007: figure 3 has the randomized budget perceptron.
    The first perceptron on a budget: K. Crammer, J. Kandola, Y. Singer, "Online classification on
    a budget", NIPS 2003. "forgetron": O. Dekel, S. Shalev-Shwartz, Y. Singer, "The Forgetron: a kernel-based
    perceptron on a budget", SIAM Journal on Computing 37, 2008: the self-tuned one. "projectron":
    F. Orabona, J. Keshet, B. Caputo, "The Projectron: a bounded kernel-based perceptron", ICML 2008,
    and "Bounded kernel-based online learning", JMLR 10, 2009: algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.order import below
from perceptron_rs.settings import Budget

#: Partitions of the draws of what goes: no permutation of examples has them.
_FIRST_PARTITION = 2**63

#: The kernel values of one example with some.
KernelValues = Callable[[int, list[int]], NDArray[np.float64]]


@dataclass
class SupportSet:
    """What a set keeps: members, the numbers of their mistakes, and a step for each class that shares it."""

    members: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    steps: list[NDArray[np.float64]] = field(default_factory=list)
    mistakes: int = 0
    harm: float = 0.0
    factor: arith.Factor = field(default_factory=lambda: arith.Factor(0))

    def take(
        self, member: int, steps: NDArray[np.float64], number: int, budget: Budget, values: KernelValues
    ) -> None:
        """Take in a mistake on an example, with its steps; ``number`` is that of the set.

        Raises
        ------
        FloatingPointError
            If a number is not finite after it.
        """
        self.mistakes += 1
        if budget.policy == "projectron":
            self._project(member, steps, budget, values)
        else:
            self._exchange(member, steps, number, budget, values)
        if not (np.isfinite(self.harm) and all(np.isfinite(steps).all() for steps in self.steps)):
            raise FloatingPointError

    def _exchange(
        self, member: int, steps: NDArray[np.float64], number: int, budget: Budget, values: KernelValues
    ) -> None:
        """Add an example, and let one go if there are too many."""
        if budget.policy == "random" and len(self.members) >= budget.budget:
            partition = _FIRST_PARTITION + number
            self._drop(
                below(len(self.members), seed=budget.policy_seed, epoch=self.mistakes, partition=partition)
            )
        self._add(member, steps)
        if len(self.members) > budget.budget:
            if budget.policy == "forgetron":
                self._shrink(budget, values)
            self._drop(0)

    def _add(self, member: int, steps: NDArray[np.float64]) -> None:
        self.members.append(member)
        self.numbers.append(self.mistakes)
        self.steps.append(steps)

    def _drop(self, place: int) -> None:
        del self.members[place], self.numbers[place], self.steps[place]

    def _shrink(self, budget: Budget, values: KernelValues) -> None:
        """Multiply all steps so that the first one may go."""
        with_all = values(self.members[0], self.members)
        sums = np.zeros(len(self.steps[0]))
        for k in range(len(sums)):
            for steps, value in zip(self.steps, with_all, strict=True):
                if steps[k] != 0:
                    sums[k] = sums[k] + steps[k] * value
        phi, self.harm = arith.shrinking(
            self.steps[0], sums, eta0=budget.eta0, so_far=self.harm, mistakes=self.mistakes
        )
        self.steps = [phi * steps for steps in self.steps]

    def _project(self, member: int, steps: NDArray[np.float64], budget: Budget, values: KernelValues) -> None:
        """Add an example, or its projection on the span of the others."""
        r = self.factor.forward(values(member, self.members))
        own = float(values(member, [member])[0])
        rest = own - arith.inner(r, r)
        if not np.isfinite(rest):
            raise FloatingPointError
        if len(self.members) < budget.budget and not arith.within_span(rest, own, budget.distance):
            self.factor.append(r, float(np.sqrt(rest)), 0)
            self._add(member, steps)
            return
        d = self.factor.back(r)
        for k, c in enumerate(steps):
            if c != 0:
                for old, part in zip(self.steps, d, strict=True):
                    old[k] = old[k] + c * part


def sets_of(state: State, policy: str) -> list[SupportSet]:
    """Return the sets of a state."""
    sets, factors = [], state["kept_factor"]
    for g, (begin, end) in enumerate(zip(state["kept_start"][:-1], state["kept_start"][1:], strict=True)):
        kept = SupportSet(
            state["kept_row"][begin:end].tolist(),
            state["kept_number"][begin:end].tolist(),
            list(state["kept_step"][begin:end].copy()),
            int(state["kept_mistakes"][g]),
            float(state["kept_harm"][g]),
        )
        if policy == "projectron":
            numbers = len(kept.members) * (len(kept.members) + 1) // 2
            kept.factor, factors = arith.Factor.unpacked(factors[:numbers]), factors[numbers:]
        sets.append(kept)
    return sets


def state_of(sets: list[SupportSet], width: int) -> State:
    """Return the sets as arrays."""
    steps = [steps for kept in sets for steps in kept.steps]
    return {
        "kept_start": np.cumsum([0, *(len(kept.members) for kept in sets)], dtype=np.int64),
        "kept_row": np.array([member for kept in sets for member in kept.members], dtype=np.int64),
        "kept_number": np.array([number for kept in sets for number in kept.numbers], dtype=np.int64),
        "kept_step": np.array(steps, dtype=np.float64).reshape(-1, width),
        "kept_mistakes": np.array([kept.mistakes for kept in sets], dtype=np.int64),
        "kept_harm": np.array([kept.harm for kept in sets], dtype=np.float64),
        "kept_factor": np.concatenate([kept.factor.packed() for kept in sets]),
    }
