"""What tells one online learner from another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference.online.problem import Decision
from perceptron_rs.reference.rows import Mistake, Rows

__all__ = ["Rule"]


class Rule:
    """A learner as a function of the log of mistakes; it works on the state that it was made with."""

    #: Whether each plane is judged by its activations alone: no joint decision, nothing that tolerates noise.
    one_plane_at_a_time = False

    def __init__(self, state: State, fit_intercept: bool) -> None:
        self.state, self.fit_intercept = state, fit_intercept

    def begin(self, rows: Rows, decisions: list[Decision], check: str) -> None:
        """See what is to be learnt, before the first epoch."""

    def start_epoch(self, epoch: int, order: NDArray[np.intp]) -> None:
        """Before the epoch of this number; ``order`` may hold rows of weight 0 for some decisions."""

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:
        """Take in the mistakes of a block; their plain updates have been made."""

    def end_epoch(self, k: int, clean: bool) -> None:
        """After an epoch of decision ``k``; ``clean``: without a mistake."""

    def end_training(self, k: int) -> None:
        """After the last epoch of decision ``k``, but not where the run was interrupted."""

    def memory(self) -> State:
        """Return arrays that the state is to hold besides those that it was made with."""
        return {}

    def answer(self) -> tuple[NDArray[Any], ...]:
        """Return the numbers that the learner predicts with; all must be finite."""
        return self.state["coef"], self.state["intercept"]
