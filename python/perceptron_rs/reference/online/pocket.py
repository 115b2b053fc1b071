"""The pocket perceptron.

Problem
    Data that no hyperplane separates. The perceptron never settles there; of the vectors that it
    goes through, keep the one with the fewest errors on all examples.
Update rule
    The perceptron's. At certain moments, which ``check`` chooses, the errors of the vector of that
    moment are counted; if there are strictly fewer than the pocket's vector has, it takes its
    place. The start vector is in the pocket at first. A run is the examples in a row that a vector
    gets right; it goes on across epochs. Its length is the sum of their weights, as errors are.

    - "run": when a run ends (at a mistake, or with the training) that is longer than all that
      were counted before;
    - "ratchet": as soon as a run is longer than the one recorded with the pocket's vector when
      that was put there;
    - "update": after every update;
    - "epoch": at the end of each epoch.

    The vector of an epoch without a mistake is counted in any case.
Given
    What the perceptron is given, and ``check``.
Result
    ``coef_pocket``, ``intercept_pocket``: the pocket's vector; ``pocket_errors``, ``pocket_run``: its
    errors and its run when it was put there; ``swap_plane``, ``swap_epoch``, ``swap_t``, ``swap_errors``:
    what was put there, plane after plane, when (epoch, examples seen), and its errors. Beside them the
    last w, b.
Paper
    S. I. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks 1(2),
    1990: the pocket algorithm, and for "ratchet" the pocket algorithm with ratchet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.online.count import count
from perceptron_rs.reference.online.problem import Decision
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.rows import Mistake, Rows

__all__ = ["CHECKS", "Pocket"]

CHECKS = ("run", "ratchet", "update", "epoch")


class Pocket(Rule):
    """One pocket a plane, and a copy of the plane's weights that lags behind at most one block."""

    one_plane_at_a_time = True

    def begin(self, rows: Rows, decisions: list[Decision], check: str) -> None:
        """Put the start vectors into the pockets."""
        self.rows, self.decisions, self.check = rows, decisions, check
        self.w, self.b = self.state["coef"].copy(), self.state["intercept"].copy()  # the vectors of now
        self.born = self.state["seen"].tolist()  # examples seen when they came to be
        self.length = [0.0] * len(decisions)  # of their runs, up to where they have been looked at
        self.counted = [True] * len(decisions)
        self.longest = [0.0] * len(decisions)
        self.epoch = 0
        self.best_w, self.best_b = self.w.copy(), self.b.copy()
        self.errors = [count(rows, d, self.w[k], self.b[k]) for k, d in enumerate(decisions)]
        self.run = [0] * len(decisions)
        self.recorded = [0.0] * len(decisions)  # length of that run
        self.swaps: list[tuple[int, int, int, float]] = []

    def start_epoch(self, epoch: int, order: NDArray[np.intp]) -> None:
        """Take note of its number, and of the weights of the examples to come."""
        self.epoch = epoch
        weights = [decision.weight[order] for decision in self.decisions]
        self.to_come = [weight[weight != 0] for weight in weights]
        self.looked_at = self.state["seen"].tolist()  # examples seen before those

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:
        """At each mistake the vector before it, whose run ends, and the one after it."""
        for row, k, t, c in log:
            self._extend(k, t - 1)
            if self.check == "run":
                self._consider_run(k, t, t - 1 - self.born[k])
            rows.axpy(row, c, self.w[k])
            if self.fit_intercept:
                self.b[k] += c
            self.born[k], self.length[k], self.counted[k] = t, 0.0, False
            self.to_come[k], self.looked_at[k] = self.to_come[k][1:], t
            if self.check == "update":
                self._consider(k, t, 0, 0.0)

    def end_epoch(self, k: int, clean: bool) -> None:
        """Look at the run that is going on."""
        t = int(self.state["seen"][k])
        self._extend(k, t)
        if clean or self.check == "epoch":
            self._consider(k, t, t - self.born[k], self.length[k])

    def end_training(self, k: int) -> None:
        """End the last run too."""
        if self.check == "run":
            t = int(self.state["seen"][k])
            self._consider_run(k, t, t - self.born[k])

    def _extend(self, k: int, t: int) -> None:
        """Lengthen the run by the examples up to the t-th.

        With the ratchet, look back to the one that made it longer than the recorded run.
        """
        new, self.to_come[k] = np.split(self.to_come[k], [t - self.looked_at[k]])
        lengths = arith.running_total(self.length[k], new)
        longer = np.flatnonzero(lengths > self.recorded[k])
        if self.check == "ratchet" and len(longer):
            then = self.looked_at[k] + int(longer[0])
            self._consider(k, then, then - self.born[k], float(lengths[longer[0]]))
        self.looked_at[k], self.length[k] = t, float(lengths[-1])

    def _consider(self, k: int, t: int, run: int, length: float) -> None:
        """Count the errors of the vector of now, once, and swap if they are fewer."""
        if self.counted[k]:
            return
        self.counted[k] = True
        errors = count(self.rows, self.decisions[k], self.w[k], self.b[k])
        if errors < self.errors[k]:
            self.best_w[k], self.best_b[k] = self.w[k], self.b[k]
            self.errors[k], self.run[k], self.recorded[k] = errors, run, length
            self.swaps.append((k, self.epoch, t, errors))

    def _consider_run(self, k: int, t: int, run: int) -> None:
        if self.length[k] > self.longest[k]:
            self.longest[k] = self.length[k]
            self._consider(k, t, run, self.length[k])

    def memory(self) -> State:
        """Return what the state holds besides the last weights."""
        swaps = sorted(self.swaps, key=lambda swap: swap[0])
        plane, epoch, t = (np.array([swap[i] for swap in swaps], dtype=np.int64) for i in range(3))
        return {
            "coef_pocket": self.best_w.copy(),
            "intercept_pocket": self.best_b.copy(),
            "pocket_errors": np.array(self.errors),
            "pocket_run": np.array(self.run, dtype=np.int64),
            "swap_plane": plane,
            "swap_epoch": epoch,
            "swap_t": t,
            "swap_errors": np.array([swap[3] for swap in swaps], dtype=np.float64),
        }

    def answer(self) -> tuple[NDArray[Any], ...]:
        """Return the pocket's weights, and their errors, which may overflow as a sum."""
        return self.best_w, self.best_b, np.array(self.errors)
