"""The weights with all pending penalties applied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith

__all__ = ["settled"]


@arith.standard()
def settled(state: State, *, eta0: float, penalty: tuple[float, float]) -> NDArray[np.float64]:
    """Weights (K, d) of a state with all pending penalties applied; the state is not modified."""
    return arith.decay(state["coef"], state["ages"], eta0, *penalty)
