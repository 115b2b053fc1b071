"""Passes over few rows, all with the same arguments.

The core reads the arguments once, because for few rows that takes longer than learning; here they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference.online.fit import fit

__all__ = ["OnePass", "one_pass"]


class OnePass:
    """The arguments of `fit` that stay the same from pass to pass."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments

    def learn(self, rows: Any, labels: Sequence[int], state: State) -> tuple[State, NDArray[np.int64]]:
        """Learn from the rows in their order. Return the new state, and the mistakes of each decision."""
        report = fit(
            rows,
            np.array(labels, dtype=np.uint32),
            None,
            state=state,
            **self.arguments,
            seed=None,
            first_epoch=0,
            max_iter=1,
            tol=None,
            n_iter_no_change=1,
            track_mistakes=False,
            threads=1,
            settle=False,
        )
        return report["state"], report["mistakes"][0]


def one_pass(
    *,
    learner: str,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    fit_intercept: bool,
    margin: float = 0.0,
    added_feature: float = 0.0,
    max_mistakes_per_example: int | None = None,
    joint: str | None = None,
) -> OnePass:
    """Keep the arguments of `fit` for passes without sample weights and penalty."""
    return OnePass(
        {
            "learner": learner,
            "positive": positive.copy(),
            "class_weight": class_weight.copy(),
            "eta0": eta0,
            "tie": tie,
            "fit_intercept": fit_intercept,
            "margin": margin,
            "added_feature": added_feature,
            "max_mistakes_per_example": max_mistakes_per_example,
            "joint": joint,
        }
    )
