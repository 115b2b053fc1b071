"""The sum ``w . x`` of all lessons."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.reference import arith


def dot(w: Any, x: Any) -> float:
    """Return ``w . x``, added in the order of the contract: another one may round otherwise."""
    return float(arith.dot(x[np.newaxis], w)[0])
