"""The averaged perceptron.

Problem
    As the perceptron; predict with the average of all weight vectors that the run went through,
    ``(w_0 + w_1 + ... + w_T) / (T + 1)``, where w_t are the weights after t examples.
Update rule
    The perceptron's. On a mistake, at the t-th example, also ``u += (t c) x``; at the end
    the average is ``((T + 1) w - u) / (T + 1)``: an update made at t is missing from the t vectors
    before it. The counter t is needed: ``u += c x`` would give something else.
Given
    What the perceptron is given, and u, t of the run so far (0 at a cold start).
Result
    The last w, b; u; T. They suffice to go on elsewhere.
Paper
    Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37, 1999: figure 1, predicting by "avg"; M. Collins, "Discriminative training methods for
    hidden Markov models", EMNLP 2002: figure 1 with averaged parameters. The cached sum is algorithm 7
    of H. Daume, "A Course in Machine Learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.linear.perceptron import Learner, Log, Plane, weights
from perceptron_rs.settings import Linear


class Averaged(Learner):
    """The cached sum u, a plane like any other."""

    begins_with: ClassVar[tuple[str, ...]] = (*Learner.begins_with, "coef_u", "intercept_u")

    def __init__(self, state: State, k: int, x: Any, decision: Any, settings: Linear) -> None:
        self.u = Plane.of(state, k, settings.fit_intercept, "_u")

    def epoch(self, number: int, x: Any, order: list[int], log: Log) -> None:
        """``u += (t c) x`` for each mistake."""
        for t, i, c in log:
            self.u.update(t * c, x[i])

    def is_finite(self) -> bool:
        """Whether all numbers of u are."""
        return self.u.is_finite()

    def answer(self, plane: Plane) -> tuple[Any, ...]:
        """Return the averages of w and b."""
        return mean(plane.w, self.u.w, plane.t), mean(plane.b, self.u.b, plane.t)

    @classmethod
    def arrays(cls, learners: Sequence[Averaged], last: State) -> State:
        """Return the last weights and the sums."""
        return last | weights([learner.u for learner in learners], "_u")

    @staticmethod
    @standard()
    def predictor(state: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the averaged weights (K, d) and intercepts (K,)."""
        coef = mean(state["coef"], state["coef_u"], state["seen"][:, np.newaxis])
        return coef, mean(state["intercept"], state["intercept_u"], state["seen"])


def mean(w: Any, u: Any, T: Any) -> NDArray[np.float64]:
    """Return ``((T + 1) w - u) / (T + 1)``, each operation rounded, never -0.0; for any shapes that fit."""
    terms = np.float64(T + 1)
    average: NDArray[np.float64] = (terms * w - u) / terms + 0.0
    return average
