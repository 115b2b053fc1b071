"""The penalty in closed form: what k examples do to a weight that none of them reads.

One example shrinks a weight to ``sign(w) max(0, r |w| - s)``, with ``r = max(0, 1 - eta0 l2)`` and
``s = eta0 l1``. After k of them it is ``sign(w) max(0, r^k |w| - g)`` with ``g = s k`` where r is 1,
else ``s ((1 - r^k) / (1 - r))``. ``r^k`` is the product of the repeated squares of r that the bits of k
select, from the lowest bit up.

Where s is 0 and r is near 1, ``r^k`` may stand for what is pending of all weights together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: What is pending of all weights together is applied before its factor is smaller.
LEAST_FACTOR = 2.0**-64


def decay(
    w: NDArray[np.float64], k: NDArray[np.int64], eta0: float, l1: float, l2: float
) -> NDArray[np.float64]:
    """Return weights after ``k`` examples each; ``k`` broadcasts against ``w``. Never -0.0."""
    r, s = max(0.0, 1.0 - eta0 * l2), eta0 * l1
    power = decay_factor(k, eta0, l2)
    g = s * k if r == 1 else s * ((1.0 - power) / (1.0 - r))
    size = power * np.abs(w) - g
    # Where nothing is pending, nothing is done. A size that is not a number stays.
    return np.where(k == 0, w, np.where(size <= 0, 0.0, np.copysign(size, w)))


def decay_factor(k: NDArray[np.int64], eta0: float, l2: float) -> NDArray[np.float64]:
    """Return ``r^k``."""
    r = max(0.0, 1.0 - eta0 * l2)
    power, square, rest = np.ones(k.shape), r, k
    while rest.any():
        power = np.where(rest & 1, power * square, power)
        square, rest = square * square, rest >> 1
    return power


def is_common(eta0: float, l1: float, l2: float) -> bool:
    """Tell whether one factor stands for what is pending, for all weights."""
    return eta0 * l1 == 0 and 1.0 - eta0 * l2 >= 63 / 64
