"""The natural logarithm, written out.

``x = 2**k m`` with m between the square roots of 1/2 and 2. With ``f = m - 1`` and ``s = f / (2 + f)``,
``log(m) = 2 atanh(s) = f - (f**2/2 - s (f**2/2 + R))``, where R is ``2 s**2/3 + 2 s**4/5 + ...``; then
``k ln2`` is added, its smaller part first. The error stays below 0.95 units in the last place.

Special values: log(1) = +0, log(±0) = -inf, log(inf) = inf, log(NaN) = NaN, and NaN below zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .exp import LN2_HIGH, LN2_LOW

#: The bits of the square root of 1/2, and of 1.
ROOT, ONE = np.uint64(0x3FE6A09E667F3BCD), np.uint64(0x3FF0000000000000)
FRACTION, BITS = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(52)
SMALLEST_NORMAL, LIFT = 2.0**-1022, 2.0**54
#: 2/(2n + 1) for n = 10 ... 1.
TERMS = [2.0 / (2 * n + 1) for n in range(10, 0, -1)]


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the natural logarithm of each element."""
    small = x < SMALLEST_NORMAL
    bits = np.where(small, x * LIFT, x).view(np.uint64) + (ONE - ROOT)
    k = (bits >> BITS).astype(np.float64) - np.where(small, 1077.0, 1023.0)
    f = ((bits & FRACTION) + ROOT).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = np.full_like(z, TERMS[0])
    for term in TERMS[1:]:
        r = r * z + term
    half = (0.5 * f) * f
    y = k * LN2_HIGH - ((half - (s * (half + r * z) + k * LN2_LOW)) - f)
    y = np.where(x == np.inf, x, np.where(x == 0, -np.inf, y))
    result: NDArray[np.float64] = np.where(x >= 0, y, np.nan)
    return result
