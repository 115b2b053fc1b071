"""The floating-point mode of the contract: round to nearest even, nothing flushed to zero.

Another library may have left another mode on the calling thread. What computes learned numbers, in the
reference and in the estimators, runs under ``standard``; code of others that runs in its midst, such as a
callback, under ``foreign``. The compiled core sees to itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Self

import numpy as np

try:
    from perceptron_rs._core import _enter_standard, _leave_standard, _Standard
except ImportError:  # without the compiled module nothing here can set a mode

    class _Standard:  # type: ignore[no-redef]
        """NumPy's warnings off."""

        def __enter__(self) -> None:
            self._silence = np.errstate(all="ignore")
            self._silence.__enter__()

        def __exit__(self, *_: object) -> None:
            self._silence.__exit__(None, None, None)

    def _enter_standard() -> bool:
        return False

    _leave_standard = _enter_standard


class standard(_Standard, ContextDecorator):  # noqa: N801  called like a function
    """Compute in the standard mode; give back the caller's. Also a decorator.

    Numbers that leave the finite range are found by looking at them, not by NumPy's warnings.
    """

    def _recreate_cm(self) -> Self:
        return type(self)()  # each call of what is decorated has the mode of its caller


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
