"""When a decision (a plane, or all planes together) stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Criterion"]


@dataclass
class Criterion:
    """Watches one decision."""

    max_iter: int
    tol: float | None
    n_iter_no_change: int
    best: float = np.inf
    idle: int = 0  # epochs in a row without improvement

    def reason_to_stop(self, mistakes: int, loss: float, epochs: int) -> str:
        """Return ``"clean"``, ``"tol"``, ``"max_iter"``, or ``""`` to go on."""
        if mistakes == 0:
            return "clean"
        if self.tol is not None:
            self.idle = self.idle + 1 if loss > self.best - self.tol else 0
            self.best = min(self.best, loss)
            if self.idle >= self.n_iter_no_change:
                return "tol"
        return "max_iter" if epochs == self.max_iter else ""
