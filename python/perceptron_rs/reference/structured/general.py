"""The structured perceptron on any structure: weights and sums for a caller who searches.

Problem
    y^ = the y with the largest w.Phi(x, y); the caller computes Phi and finds y^.
Update rule
    If y^ is wrong, ``w = w + c Phi(x, y)``, then ``w = w - c Phi(x, y^)``; at the t-th example also t c to
    the sums u. Column by column, c = eta0.
Given
    The features of both, as columns and values; c and t.
Result
    w and u.
Paper
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Features
from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith


@standard()
def structured_update(
    w: NDArray[np.float64],
    u: NDArray[np.float64],
    truth: Features,
    answer: Features,
    *,
    step: float,
    t: int,
) -> None:
    """Learn from one wrong answer: changes ``w`` and ``u``.

    Parameters
    ----------
    w, u : float64 arrays of shape (d,)
    truth, answer : pairs of an int64 and a float64 array
        Columns and values of Phi(x, y) and of Phi(x, y^); no column twice in either.
    step : float
    t : int
        The number of the example, from 1.
    """
    tc = t * step
    if not math.isfinite(tc):
        raise OverflowError("step times t is not finite; lower eta0")
    if len(u) != len(w):
        raise ValueError(f"w and u must have equal lengths, got {len(w)} and {len(u)}")
    for columns, values in (truth, answer):
        if len(columns) != len(values):
            raise ValueError("columns and values must have equal lengths")
        outside = (columns < 0) | (columns >= len(w))
        if outside.any():
            raise ValueError(
                f"columns must be at least 0 and below the number of weights, {len(w)}, got "
                f"{columns[outside][0]}"
            )
    for c, out in ((step, w), (tc, u)):
        for sign, (columns, values) in ((c, truth), (-c, answer)):
            out[columns] = arith.axpy(sign, values, out[columns])
