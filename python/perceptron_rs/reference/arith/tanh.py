"""The hyperbolic tangent, written out.

With ``E = exp(2 |x|) - 1`` it is ``E / (E + 2)``, with the sign of x. E and ``E + 2`` are sums of two
numbers, and the quotient of their first parts is corrected once by its remainder, which Dekker's product
gives exactly.
The error stays below 0.95 units in the last place.

Special values: tanh(±0) = ±0, tanh(±inf) = ±1, tanh(NaN) = NaN; the result is x where x is tiny, ±1
above 19.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .exp import power_of_two, reduced, series
from .twofold import two_product

#: Beyond it the result is 1.
HIGHEST = 20.0


def tanh(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the hyperbolic tangent of each element."""
    size = np.abs(x)
    size = np.where(size > HIGHEST, HIGHEST, size)
    k, r, tail = reduced(size + size)
    high, low = series(r, tail)
    scale = power_of_two(k)
    # 2**k - 1 is 0 or at least as large as the term behind it, so its rounding error is found in two steps.
    base, step = scale - 1.0, scale * high
    e = base + step
    e_low = ((base - e) + step) + scale * low
    d = e + 2.0
    part = d - e
    d_low = ((e - (d - part)) + (2.0 - part)) + e_low
    quotient = e / d
    product, error = two_product(quotient, d)
    rest = ((e - product) - error) + (e_low - quotient * d_low)
    result: NDArray[np.float64] = np.copysign(quotient + rest / d, x)
    return result
