"""The formulas of a kernel perceptron on a budget: shrinking by the Forgetron, projecting on a span."""

from __future__ import annotations

import numpy as np

from perceptron_rs.arrays.named import Floats

#: The share of the mistakes that the harm of all removals may come to.
SHARE = 15 / 32

#: What is left of an example beside its projection, in proportion to its square, is rounding below this.
NOTHING = 2.0**-40


def harm(sigma: float, mu: float, phi: float) -> float:
    """Return Psi: what it costs that an example goes after all steps are multiplied by phi.

    Parameters
    ----------
    sigma : size of its step before
    mu : activation of the example before, times the sign of its step
    phi : in (0, 1]
    """
    rest = np.float64(sigma) * phi
    return float(rest * rest + 2.0 * rest * (1.0 - phi * np.float64(mu)))


def shrinking(
    steps: Floats, sums: Floats, *, eta0: float, so_far: float, mistakes: int
) -> tuple[float, float]:
    """Return phi, by which all steps are multiplied before an example goes, and the harm of all removals.

    phi is the largest number in (0, 1] with ``so_far + harm <= SHARE * mistakes``. The harm is
    ``a phi^2 + b phi``; where it is too large for phi = 1, it is as large as it may be at one root
    between 0 and 1.

    Parameters
    ----------
    steps, sums : float64 arrays of shape (K,)
        Steps of the example and sums of all that is kept at it, of each class that shares the budget.
    eta0 : float
        The size of the step of a mistake: sigma and mu are measured by it.
    so_far : float
        The harm of all removals before.
    mistakes : int
    """
    size = np.float64(0.0)
    for c in steps:
        size = np.maximum(size, np.abs(c))
    if size == 0:
        return 1.0, so_far
    mu = np.float64(0.0)
    for c, s in zip(steps, sums, strict=True):
        mu = mu + (c / size) * s
    sigma, mu = size / eta0, mu / eta0
    rest = so_far - SHARE * mistakes
    whole = harm(float(sigma), float(mu), 1.0)
    if whole + rest <= 0:
        return 1.0, so_far + whole
    a, b = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma
    square = b * b - 4.0 * a * rest
    root = np.sqrt(np.where(square < 0, 0.0, square))
    largest = -2.0 * rest / (b + root)
    phi = float(np.where(largest > 1, 1.0, largest))
    return phi, so_far + harm(float(sigma), float(mu), phi)


def within_span(rest: float, own: float, distance: float) -> bool:
    """Whether an example with so much left over is projected."""
    return not (rest > distance * distance and rest > NOTHING * own)
