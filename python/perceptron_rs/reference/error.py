"""The texts of the errors that both engines raise alike."""

from __future__ import annotations


def overflow(epoch: int) -> OverflowError:
    """Say in which epoch the numbers left the finite range."""
    return OverflowError(
        f"training overflowed in epoch {epoch} (counted from 0): a weight, an activation or an average "
        "is not finite; scale the features or lower eta0"
    )
