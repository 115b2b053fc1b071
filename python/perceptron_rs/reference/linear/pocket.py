"""The pocket perceptron.

Problem
    Data that no hyperplane separates. The perceptron never settles there; of the vectors that it
    goes through, keep the one with the fewest errors on all examples.
Update rule
    The perceptron's. At certain moments, which ``check`` chooses, the errors of the vector of that
    moment are counted; if there are strictly fewer than the pocket's vector has, it takes its
    place. An error is a wrong prediction: an activation of 0, a mistake for both classes, is right for
    the one that ``tie`` makes it predict; zeros, which have no side, get all examples wrong. The start
    vector is in the pocket at first. A run is the examples in a row that a vector gets right; it goes
    on across epochs. Its length is the sum of their weights, as errors are.

    - "run": when a run ends (at a mistake, or with the training) that is longer than all that
      were counted before;
    - "ratchet": as soon as a run is longer than the one recorded with the pocket's vector when
      that was put there;
    - "update": after every update;
    - "epoch": never but at the end of an epoch.

    The vector at the end of an epoch is counted in any case. With ``average``, so is then the average of all
    vectors since the start of the run. It has no run, and the next vector of the run that "ratchet" counts
    must still have a longer one than the last vector of the run that was put into the pocket.
Given
    What the perceptron is given, ``check``, and ``average``.
Result
    The pocket's vector, its errors, and its run when it was put there, 0 of an average; the swaps: what was
    put there, in which epoch, after how many examples, with how many errors, and whether it was an average.
    Beside them the last w, b.
Paper
    S. I. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks 1(2),
    1990: the pocket algorithm, and for "ratchet" the pocket algorithm with ratchet; without ``average``
    exactly these. The average is that of the averaged perceptron.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.linear.averaged import mean
from perceptron_rs.reference.linear.perceptron import Learner, Log, Plane
from perceptron_rs.reference.rows import activations
from perceptron_rs.settings import Linear


class Pocket(Learner):
    """Goes through an epoch once more, by its log, with a plane of its own.

    It looks at the decision's y and weights s of the examples, as the loop does.
    """

    def __init__(self, state: State, k: int, x: Any, decision: Any, settings: Linear) -> None:
        self.plane = plane = Plane.of(state, k, settings.fit_intercept)
        self.check = settings.check
        self.y, self.s = decision.y, decision.s
        self.t = self.born = plane.t  # examples seen, and those seen when the vector came to be
        self.length, self.longest = 0.0, 0.0  # of its run, and of the longest one that was counted
        self.counted = True  # whether its errors have been
        self.number = -1  # of the epoch
        self.best: tuple[NDArray[np.float64], float] = plane.w.copy(), plane.b
        self.of_zero = 1.0 if settings.tie == "positive" else -1.0  # what an activation of 0 predicts
        self.errors = self.count(x, *self.best)
        self.run, self.recorded = 0, 0.0  # of the pocket's vector: its run in examples, and its length
        self.swaps: list[tuple[int, int, float, bool]] = []
        self.start = plane.t  # of the run
        self.u = Plane(np.zeros_like(plane.w), 0.0, plane.fit_intercept) if settings.average else None

    def epoch(self, number: int, x: Any, order: list[int], log: Log) -> None:
        """Take in an epoch."""
        self.number = number
        made = {i: c for _, i, c in log}
        for i in order:
            self.t += 1
            if i in made:
                if self.check == "run":
                    self.end_run(x, self.t - 1)
                self.plane.update(made[i], x[i])
                if self.u is not None:
                    self.u.update((self.t - self.start) * made[i], x[i])
                self.born, self.length, self.counted = self.t, 0.0, False
                if self.check == "update":
                    self.consider(x, self.t)
            else:
                self.length += float(self.s[i])
                if self.check == "ratchet" and self.length > self.recorded:
                    self.consider(x, self.t)
        self.consider(x, self.t)
        if self.u is not None:
            self.consider_average(x, self.u)

    def end(self, x: Any) -> None:
        """End the last run, too."""
        if self.check == "run":
            self.end_run(x, self.t)

    def end_run(self, x: Any, t: int) -> None:
        """Consider the vector if its run, up to the t-th example, is the longest."""
        if self.length > self.longest:
            self.longest = self.length
            self.consider(x, t)

    def consider(self, x: Any, t: int) -> None:
        """Count the errors of the vector, once, and put it into the pocket if they are fewer."""
        if self.counted:
            return
        self.counted = True
        if self.swap(x, self.plane.w.copy(), self.plane.b, is_average=False):
            self.run, self.recorded = t - self.born, self.length

    def consider_average(self, x: Any, u: Plane) -> None:
        """Do the same with the average; FloatingPointError if it is not finite."""
        T = self.t - self.start
        average = Plane(mean(self.plane.w, u.w, T), float(mean(self.plane.b, u.b, T)), u.fit_intercept)
        if not (u.is_finite() and average.is_finite()):
            raise FloatingPointError
        if self.swap(x, average.w, average.b, is_average=True):
            self.run = 0

    def swap(self, x: Any, w: NDArray[np.float64], b: float, *, is_average: bool) -> bool:
        """Put a vector into the pocket if it has fewer errors; return whether it has."""
        errors = self.count(x, w, b)
        if not errors < self.errors:
            return False
        self.best, self.errors = (w, b), errors
        self.swaps.append((self.number, self.t, errors, is_average))
        return True

    def count(self, x: Any, w: NDArray[np.float64], b: float) -> float:
        """Weights of the examples that a vector gets wrong, added in row order."""
        m = self.y * activations(x, w, b)
        has_sides = w.any() or b != 0
        right = has_sides & ((m > 0) | ((m == 0) & (self.y == self.of_zero)))
        return arith.total(self.s[(self.s != 0) & ~right])

    def objective(self, loss: float) -> float:
        """Return the pocket's errors."""
        return self.errors

    def answer(self, plane: Plane) -> tuple[Any, ...]:
        """Return the pocket's vector, and its errors, which may overflow as a sum."""
        return *self.best, self.errors

    @classmethod
    def arrays(cls, learners: Sequence[Pocket], last: State) -> State:
        """Return the pockets, their swaps plane after plane, and the last weights by other names."""
        swaps = [(k, *swap) for k, pocket in enumerate(learners) for swap in pocket.swaps]
        plane, epoch, t, average = (
            np.array([swap[i] for swap in swaps], dtype=np.int64) for i in (0, 1, 2, 4)
        )
        return {f"last_{name}": array for name, array in last.items()} | {
            "coef": np.array([pocket.best[0] for pocket in learners]),
            "intercept": np.array([pocket.best[1] for pocket in learners]),
            "pocket_errors": np.array([pocket.errors for pocket in learners]),
            "pocket_run": np.array([pocket.run for pocket in learners], dtype=np.int64),
            "swap_plane": plane,
            "swap_epoch": epoch,
            "swap_t": t,
            "swap_errors": np.array([swap[3] for swap in swaps], dtype=np.float64),
            "swap_average": average,
        }
