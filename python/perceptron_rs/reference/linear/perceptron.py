"""The perceptron.

Problem
    Find w, b with ``y (w . x + b) > 0`` for all examples (x, y), y in {-1, 1}, from one example
    at a time.
Update rule
    ``a = w . x + b``; if ``y a <= 0`` (a mistake): ``w += c x``, ``b += c`` with ``c = (eta0 s) y``.
Given
    Start values of w and b; the learning rate eta0 > 0; s >= 0, the example's sample weight
    times its class weight.
Result
    w and b; the log of mistakes, from which other learners make what they predict with.
Paper
    F. Rosenblatt, "The perceptron: a probabilistic model for information storage and organization
    in the brain", Psychological Review 65, 1958; the algorithm of A. B. J. Novikoff, "On convergence
    proofs for perceptrons", 1962.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference import arith

#: The mistakes: the t-th example seen was number i, and moved the plane by c x[i].
Log = list[tuple[int, int, float]]


class Plane:
    """The hyperplane ``w . x + b = 0``, which has judged t examples."""

    def __init__(self, w: NDArray[np.float64], b: float, fit_intercept: bool, t: int = 0) -> None:
        self.w, self.b, self.fit_intercept, self.t = w, b, fit_intercept, t

    @classmethod
    def of(cls, state: State, k: int, fit_intercept: bool, suffix: str = "") -> Self:
        """Return plane k of a state."""
        w, b = state[f"coef{suffix}"][k].copy(), float(state[f"intercept{suffix}"][k])
        return cls(w, b, fit_intercept, int(state["seen"][k]))

    def activation(self, x: Any) -> float:
        """Return ``w . x + b``."""
        return arith.row_dot(x.columns, x.values, self.w) + self.b

    def update(self, c: float, x: Any) -> None:
        """``w += c x``, ``b += c``; FloatingPointError if c is not finite."""
        if not math.isfinite(c):  # c times a stored zero would count, and times one left out would not
            raise FloatingPointError
        self.w[x.columns] += c * x.values
        if self.fit_intercept:
            self.b += c

    def is_finite(self) -> bool:
        """Whether all numbers of the plane are."""
        return bool(np.isfinite(self.w).all() and np.isfinite(self.b))


class Steps:
    """The steps c of the examples, in an array."""

    goal = 0.0  # the margin from which on an example has no loss

    def __init__(self, c: NDArray[np.float64]) -> None:
        self.c = c

    def step(self, i: int, x: Any, loss: float) -> float | None:
        """Return the step of a mistake on example i, x, of this loss; None: it makes no update."""
        return float(self.c[i])


def learn(
    x: Sequence[Any],
    y: Any,
    steps: Steps,
    own: Any,
    theta: Any,
    plane: Plane,
    order: list[int],
    seen: Any,
    total: float = 0.0,
) -> tuple[Log, float]:
    """Run through the examples of an epoch; return the log of mistakes, and ``total`` with their losses.

    An example i is a mistake if its margin ``m = y a`` is theta[i] or less. In the plain perceptron theta
    is 0, and so is ``own``, what an example adds to its own activation. ``seen`` notes the activations.
    """
    log = []
    for i in order:
        a = seen[i, 0] = plane.activation(x[i])
        plane.t += 1
        m = y[i] * (a + own[i])
        loss = max(0.0, steps.goal - m)
        total += loss
        if m <= theta[i] and (c := steps.step(i, x[i], loss)) is not None:
            plane.update(c, x[i])
            log.append((plane.t, i, c))
    return log, total


class Learner:
    """A function of the log of mistakes of a plane. The perceptron itself ignores the log."""

    #: Arrays that a run begins with; what stands before a "_" says the shape.
    begins_with: ClassVar[tuple[str, ...]] = ("coef", "intercept", "seen")

    def __init__(self, *_: Any) -> None:
        """Begin: of a state plane k, the examples x of a decision, and the settings."""

    def epoch(self, number: int, x: Any, order: list[int], log: Log) -> None:
        """Take in the epoch of this number: the examples in their order, and the mistakes among them."""

    def end(self, x: Any) -> None:
        """Take in that the plane learns no more."""

    def objective(self, loss: float) -> float:
        """Return what learning shall lower, of an epoch with this mean loss."""
        return loss

    def is_finite(self) -> bool:
        """Whether all numbers of the learner are."""
        return True

    def answer(self, plane: Plane) -> tuple[Any, ...]:
        """Return what the learner predicts with."""
        return plane.w, plane.b

    @classmethod
    def arrays(cls, learners: Sequence[Any], last: State) -> State:
        """Return what has been learnt: the last weights of all planes, and what their learners keep."""
        return last

    @staticmethod
    def predictor(state: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights and intercepts that predict, of the arrays of a model."""
        return state["coef"], state["intercept"]


def weights(planes: Sequence[Plane], suffix: str = "") -> State:
    """Return weights and intercepts of some planes as arrays."""
    return {
        f"coef{suffix}": np.array([plane.w for plane in planes]),
        f"intercept{suffix}": np.array([plane.b for plane in planes]),
    }
