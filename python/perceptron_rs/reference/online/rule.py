"""What tells one online learner from another."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference.rows import Mistake, Rows

__all__ = ["Rule"]


class Rule(Protocol):
    """A learner as a function of the log of mistakes; it works on the state that it was made with."""

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:
        """Take in the mistakes of a block; their plain updates have been made."""

    def memory(self) -> State:
        """Return what it remembers besides the state, by name."""

    def answer(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights (K, d) and intercepts (K,) that the learner predicts with."""
