"""The weight and the step of every example, each rounded in one fixed order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["steps"]


def steps(
    eta0: float,
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64],
    y: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and step of each example of a plane.

    Parameters
    ----------
    eta0 : learning rate
    sample_weight : float64 array of shape (n,) or None
    class_weight : float64 array of shape (2,)
        Weight of the negative and of the positive examples.
    y : float64 array of shape (n,)
        -1.0 or 1.0.

    Returns
    -------
    s : float64 array of shape (n,)
        Sample weight times class weight, rounded once.
    c : float64 array of shape (n,)
        ``(eta0 * s) * y``: a mistake adds ``c * x`` to the weights.
    """
    s = np.where(y > 0, class_weight[1], class_weight[0])
    if sample_weight is not None:
        s = sample_weight * s
    return s, (eta0 * s) * y
