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
    ``coef``, ``intercept``: the last weights; ``coef_u``, ``intercept_u``: u; ``seen``: T.
    They suffice to go on elsewhere.
Paper
    Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37, 1999: figure 1, predicting by "avg"; M. Collins, "Discriminative training methods for
    hidden Markov models", EMNLP 2002: figure 1 with averaged parameters. The cached sum is algorithm 7
    of H. Daume, "A Course in Machine Learning".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.rows import Mistake, Rows

__all__ = ["Averaged", "average"]


class Averaged(Rule):
    """One extra vector u a plane, touched only on a mistake."""

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:
        """``u += (t c) x`` for each mistake."""
        for row, plane, t, c in log:
            tc = arith.timed(t, c)
            rows.axpy(row, tc, self.state["coef_u"][plane])
            if self.fit_intercept:
                self.state["intercept_u"][plane] += tc

    def answer(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the averaged weights."""
        return average(self.state)


@arith.standard()
def average(state: State) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Averaged weights (K, d) and intercepts (K,) of a state of the averaged perceptron."""
    seen = state["seen"]
    return (
        arith.average(state["coef"], state["coef_u"], seen[:, np.newaxis]),
        arith.average(state["intercept"], state["intercept_u"], seen),
    )
