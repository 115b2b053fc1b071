"""Planes whose weights shrink with every example, by a penalty in closed form (see ``arith/decay.py``).

What k examples take from a weight is taken when it is next read, by an example with another value than 0 in
its column. Or, if the penalty only scales, one factor r^k stands for what all weights have coming, and
those kept are the true ones divided by it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith
from perceptron_rs.reference.linear.perceptron import Plane


class Shrinking(Plane):
    """Each weight has been settled up to the example ``last[j]``; example t was the last one."""

    def __init__(self, plane: Plane, ages: NDArray[np.int64], eta0: float, l1: float, l2: float) -> None:
        super().__init__(plane.w, plane.b, plane.fit_intercept, plane.t)
        self.last = plane.t - ages
        self.eta0, self.l1, self.l2 = eta0, l1, l2

    def ages(self) -> NDArray[np.int64]:
        """Return how many examples each weight has not been settled for."""
        return self.t - self.last

    def settle(self, columns: Any = slice(None)) -> None:
        """Take from these weights what is pending."""
        self.w[columns] = arith.decay(self.w[columns], self.ages()[columns], self.eta0, self.l1, self.l2)
        self.last[columns] = self.t

    def activation(self, x: Any) -> float:
        """Settle what x reads; return ``w . x + b``."""
        self.settle(x.columns[x.values != 0])
        return super().activation(x)


class Scaled(Shrinking):
    """All weights are pending alike, and only scaled."""

    factor = 1.0

    def activation(self, x: Any) -> float:
        """Return ``factor (w . x) + b``."""
        ages = self.ages()[:1]
        if (self.last != self.last[:1]).any():  # the penalty was another one in an earlier run
            self.settle()
            ages = ages[:0]
        self.factor = float(arith.decay_factor(ages, self.eta0, self.l2)[0]) if len(ages) else 1.0
        if self.factor < arith.LEAST_FACTOR:
            self.settle()
            self.factor = 1.0
        return arith.row_dot(x.columns, x.values, self.w) * self.factor + self.b

    def update(self, c: float, x: Any) -> None:
        """``w += (c / factor) x``, ``b += c``."""
        if not math.isfinite(c / self.factor):
            raise FloatingPointError
        self.w[x.columns] += (c / self.factor) * x.values
        if self.fit_intercept:
            self.b += c


def penalised(planes: list[Plane], ages: NDArray[np.int64], eta0: float, l1: float, l2: float) -> list[Plane]:
    """Return planes with a penalty, of which ``ages`` (K, d) examples are pending.

    Raises ValueError for penalties that cannot be pending.
    """
    shape = (len(planes), *planes[0].w.shape)
    if ages.shape != shape or ages.dtype != np.int64 or (ages < 0).any():
        raise ValueError("ages must have the shape of coef and hold whole numbers of at least 0")
    kind = Scaled if arith.is_common(eta0, l1, l2) else Shrinking
    return [kind(plane, ages[k], eta0, l1, l2) for k, plane in enumerate(planes)]


@standard()
def settled(state: State, *, eta0: float, penalty: tuple[float, float]) -> NDArray[np.float64]:
    """Weights (K, d) of a state with all pending penalties applied; the state is not modified."""
    return arith.decay(state["coef"], state["ages"], eta0, *penalty)


def check_pending(strengths: tuple[float, ...], numbers: State) -> None:
    """Raise ValueError unless these are strengths of a penalty, and ages of weights that wait for it."""
    if len(strengths) != 3:
        raise ValueError("strengths must be eta0, l1 and l2")
    eta0, l1, l2 = strengths
    sizes = np.array([l1, l2, eta0 * l1, eta0 * l2])
    if not (0 < eta0 < np.inf and (sizes >= 0).all() and (sizes < np.inf).all()):
        raise ValueError(
            f"strengths must be eta0, above 0, and l1 and l2, at least 0, all finite, got {eta0}, {l1} and "
            f"{l2}"
        )
    if numbers["ages"].shape != numbers["coef"].shape or (numbers["ages"] < 0).any():
        raise ValueError("ages must have the shape of coef and hold whole numbers of at least 0")


@standard()
def used_columns(numbers: State) -> NDArray[np.int64]:
    """Return the numbers of the columns in which a model has learnt anything.

    What is pending on weights of 0 is nothing, but for that of the first column if there is nothing else.
    """
    weights = [array for name, array in numbers.items() if array.ndim == 2 and name != "ages"]
    columns = np.flatnonzero(np.any([array.any(axis=0) for array in weights], axis=0))
    return columns if len(columns) or "ages" not in numbers else np.arange(int(numbers["ages"].any()))
