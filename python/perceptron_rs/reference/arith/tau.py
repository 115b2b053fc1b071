"""What takes the place of the learning rate in a passive-aggressive step."""

from __future__ import annotations

import math


def tau(rule: str, C: float, loss: float, square: float) -> float:
    """Return the rate for a loss and the squared norm of the update, each operation rounded; 0: no update.

    NaN: the norm is not finite.
    """
    if not math.isfinite(square):
        return math.nan
    if rule == "pa2":
        return loss / (square + 0.5 / C)
    if square == 0:
        return 0.0
    enough = loss / square
    return min(C, enough)
