"""The weight and the step of every example, each rounded in one fixed order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["own_feature", "own_weight", "share", "share_of", "steps", "total"]


def steps(
    eta0: float,
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64],
    y: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and step of each example of a decision.

    Parameters
    ----------
    eta0 : learning rate
    sample_weight : float64 array of shape (n,) or None
    class_weight : float64 array of shape (n,)
        Weight of the class of each example.
    y : float64 array of shape (n,)
        -1.0 or 1.0; 1.0 for the true class of a joint decision.

    Returns
    -------
    s : float64 array of shape (n,)
        Sample weight times class weight, rounded once.
    c : float64 array of shape (n,)
        ``(eta0 * s) * y``: a mistake adds ``c * x`` to the weights.
    """
    s = class_weight if sample_weight is None else sample_weight * class_weight
    return s, (eta0 * s) * y


def own_feature(a: NDArray[np.float64], v: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """Return activations with the part of the examples' own features: value delta, weights v."""
    return a + v * delta


def own_weight(v: float, c: float, delta: float) -> float:
    """Return the weight of an example's own feature after an update."""
    return v + c * delta


def total(terms: NDArray[np.float64]) -> float:
    """Return the sum in the given order, from the first term."""
    return float(np.add.accumulate(np.append(0.0, terms))[-1])


def running_total(start: float, terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``start`` and the sums that grow from it, one after each term."""
    return np.add.accumulate(np.append(start, terms))


def share(c: float, parts: int) -> float:
    """Return an equal part of a step."""
    return c / parts


def share_of(c: float, e: float, z: float) -> float:
    """Return the part of a step that belongs to an excess ``e`` of a sum ``z`` of them."""
    return float(np.float64(c * e) / z)
