"""The floating-point environment of the contract: round to nearest even, nothing flushed to zero.

Another library may have left another mode on the calling thread. Every public function of the
reference runs under ``standard``; code of others that runs in its midst, under ``foreign``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from perceptron_rs import _core

__all__ = ["foreign", "standard"]


@contextmanager
def standard() -> Iterator[None]:
    """Compute in the standard environment; give back the caller's. Also a decorator.

    Numbers that leave the finite range are found by looking at them, not by NumPy's warnings.
    """
    entered = _core._enter_standard()
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        if entered:
            _core._leave_standard()


@contextmanager
def foreign() -> Iterator[None]:
    """Run code of others, such as a callback, in the environment that is theirs; then take ours again.

    What they leave on stays on for them, and is never in force while we compute.
    """
    left = _core._leave_standard()
    try:
        yield
    finally:
        if left:
            _core._enter_standard()
