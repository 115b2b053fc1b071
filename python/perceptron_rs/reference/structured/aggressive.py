"""Passive-aggressive steps on label sequences, of the best wrong answer alone (MIRA).

A wrong answer z to a sequence of the labels y shall score less than y by the number of labels that differ,
its cost. It has the loss ``cost + (score of z - score of y)``, 0 if that is below 0. The step is the tau of
that and of the squared norm of what an update by 1 makes of zeros. Of a prefix all of this is that of the
prefix.

Paper: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online passive-aggressive algorithms",
JMLR 7, 2006, section 9 (prediction-based updates); R. McDonald, K. Crammer, F. Pereira, "Online large-margin
training of dependency parsers", ACL 2005, for the cost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from perceptron_rs.reference import arith
from perceptron_rs.reference.structured.chain import ChainSteps, ChainWeights, Labels


class AggressiveChainSteps(ChainSteps):
    """Steps that depend on the loss."""

    def __init__(self, rule: str, C: float) -> None:
        self.rule, self.C = rule, C

    def step(self, w: ChainWeights, x: Any, y: Labels, z: Labels, score: float) -> float:
        """Return the step of the mistake z; FloatingPointError if its loss is not finite."""
        y = y[: len(z)]
        loss = np.count_nonzero(y != z) + (score - w.score(x, y))
        if not math.isfinite(loss):
            raise FloatingPointError
        changes = ChainWeights(
            *(None if numbers is None else np.zeros_like(numbers) for numbers in vars(w).values())
        )
        changes.update(1.0, x, y, z)
        return arith.tau(self.rule, self.C, max(loss, 0.0), changes.square())
