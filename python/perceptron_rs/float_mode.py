"""The floating-point mode of the contract: round to nearest even, nothing flushed to zero.

Another library may have left another mode on the calling thread. What computes learned numbers, in the
reference and in the estimators, runs under ``standard``; code of others that runs in its midst, such as a
callback, under ``foreign``. The compiled core sees to itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

try:
    from perceptron_rs._core import _enter_standard, _leave_standard
except ImportError:  # without the compiled module nothing here can set a mode

    def _enter_standard() -> bool:
        return False

    _leave_standard = _enter_standard

__all__ = ["foreign", "standard"]


@contextmanager
def standard() -> Iterator[None]:
    """Compute in the standard mode; give back the caller's. Also a decorator.

    Numbers that leave the finite range are found by looking at them, not by NumPy's warnings.
    """
    entered = _enter_standard()
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        if entered:
            _leave_standard()


@contextmanager
def foreign() -> Iterator[None]:
    """Run code of others in the mode that is theirs; then take ours again.

    What they leave on stays on for them, and is never in force while we compute.
    """
    left = _leave_standard()
    try:
        yield
    finally:
        if left:
            _enter_standard()
