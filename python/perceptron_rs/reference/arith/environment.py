"""The floating-point environment of the contract: round to nearest even, nothing flushed to zero.

Another library may have left another mode on the calling thread. Every public function of the
reference runs under ``standard``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from perceptron_rs import _core

__all__ = ["standard"]


@contextmanager
def standard() -> Iterator[None]:
    """Compute in the standard environment; put back what was there. Also a decorator.

    Numbers that leave the finite range are found by looking at them, not by NumPy's warnings.
    """
    previous = _core._swap_float_control(_core._STANDARD_FLOAT_CONTROL)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _core._swap_float_control(previous)
