"""The floating-point mode of the contract: round to nearest even, nothing flushed to zero.

Another library may have left another mode on the calling thread. What computes learned numbers, in the
reference and in the estimators, runs under ``standard``; the compiled core sees to itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

try:
    from perceptron_rs._core import _STANDARD_FLOAT_CONTROL, _swap_float_control
except ImportError:  # without the compiled module nothing here can set a mode

    def _swap_float_control(control: int) -> int:
        return control

    _STANDARD_FLOAT_CONTROL = 0

__all__ = ["standard"]


@contextmanager
def standard() -> Iterator[None]:
    """Compute in the standard mode; put back what was there. Also a decorator.

    Numbers that leave the finite range are found by looking at them, not by NumPy's warnings.
    """
    previous = _swap_float_control(_STANDARD_FLOAT_CONTROL)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _swap_float_control(previous)
