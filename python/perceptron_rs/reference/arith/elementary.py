"""The elementary functions by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard

from .exp import exp, logistic
from .log import log
from .tanh import tanh

FUNCTIONS = {"exp": exp, "logistic": logistic, "tanh": tanh, "log": log}


@standard()
def elementary(values: NDArray[np.float64], *, function: str) -> NDArray[np.float64]:
    """Return a function of each number.

    Parameters
    ----------
    values : float64 array of shape (n,)
    function : "exp", "logistic", "tanh" or "log"
    """
    if function not in FUNCTIONS:
        raise ValueError(f"function must be one of {', '.join(map(repr, FUNCTIONS))}, got {function!r}")
    return FUNCTIONS[function](values)
