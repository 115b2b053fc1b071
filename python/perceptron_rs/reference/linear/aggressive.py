"""Passive-aggressive steps: the shortest that make an example right by 1, or as much of them as C allows.

An example whose margin m is below 1 has the loss ``1 - m``, and is a mistake. Its step is ``(tau s) y``,
where tau takes the place of the learning rate:

    pa1    min(C, loss / ||v||^2); no update is made if v is 0
    pa2    loss / (||v||^2 + 1 / (2 C))

v is what the update adds with a step of 1, without the intercept: x, so that ``||v||^2 = x . x``; of a joint
decision x in the plane of the true class and -x in that of the best other one, so that it is ``2 (x . x)``.

Paper: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online passive-aggressive algorithms",
JMLR 7, 2006: figure 1 (PA-I, PA-II), and section 8 for several classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.linear.perceptron import Steps

#: The largest margin that is a mistake.
LARGEST_WRONG = float(np.nextafter(1.0, 0.0))


class PassiveAggressive(Steps):
    """Steps that depend on the loss, of examples with the labels y (1 or -1) and the weights s."""

    goal = 1.0

    def __init__(self, rule: str, C: float, y: Any, s: NDArray[np.float64], planes: int) -> None:
        self.rule, self.C, self.y, self.s, self.planes = rule, C, y, s, planes

    def step(self, i: int, x: Any, loss: float) -> float | None:
        """Return the step on example i, x; None if it makes no update."""
        rate = arith.tau(self.rule, self.C, loss, self.planes * arith.row_square(x.columns, x.values))
        return None if rate == 0 else float((rate * self.s[i]) * self.y[i])
