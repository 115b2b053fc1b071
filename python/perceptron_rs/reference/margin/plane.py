"""The margin of a given plane, as an interval that contains it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin import certificate
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.rows import Rows


def check_signs(rows: Rows, labels: NDArray[np.uint32]) -> None:
    """Refuse labels that are not one 0 or 1 for each row, and no rows at all."""
    n = rows.shape[0]
    if labels.shape != (n,):
        raise ValueError(f"labels must hold one label for each of {n} rows, got {labels.shape}")
    if n == 0:
        raise ValueError("rows must hold at least one row, got none")
    if (labels > 1).any():
        raise ValueError(f"labels must be 0 or 1, got {int(labels.max())}; encode the two classes first")


@standard()
def margin(
    rows: Rows,
    labels: NDArray[np.uint32],
    coef: Floats,
    intercept: float | None,
    *,
    normalize: bool,
    threads: int,
) -> tuple[float, float, NDArray[np.int64]]:
    """Return bounds of ``min_i y_i (<w, x_i> + b) / ||w||``, and the rows that are not on their side.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n examples of d columns.
    labels : uint32 array of shape (n,)
        1 for the positive class, 0 for the negative one.
    coef : float64 array of shape (d,)
    intercept : float or None
    normalize : bool
        False leaves out the division by ``||w||``.
    threads : int

    Returns
    -------
    lower, upper : float
        Both are -inf if a row is on the plane or on the wrong side of it.
    offending : int64 array
        Those rows; which ones is decided exactly.
    """
    check_signs(rows, labels)
    if coef.shape != (rows.shape[1],):
        raise ValueError(
            f"coef must have shape ({rows.shape[1]},), one weight for each column, got {coef.shape}"
        )
    b = 0.0 if intercept is None else intercept
    if not np.isfinite(coef).all() or not math.isfinite(b):
        raise ValueError("coef and intercept must be finite, got NaN or infinity; train again")
    largest = float(np.abs(coef).max(initial=0.0))
    if largest == 0.0:
        raise ValueError("coef must not be all zeros: such a plane has no margin; train first")
    problem = MarginProblem(rows, labels, "none")
    lengths = certificate.Lengths(problem)
    power = -math.frexp(largest)[1]
    w = np.array([arith.times_power(float(number), power) for number in coef])
    shifted = arith.times_power(arith.times_power(b, power), problem.shift)
    if not math.isfinite(shifted):
        raise ValueError(
            f"intercept must not exceed the activations so far, got {b}; scale the features or the weights"
        )
    checked = certificate.Checked(problem, lengths, w)
    offending = _offending(checked, coef, b, shifted)
    if len(offending):
        return -math.inf, -math.inf, offending
    low = high = math.inf
    for y in (1.0, -1.0):
        value, error = certificate.precise(problem, checked.nearest(y), w, shifted)
        low = min(low, float((value - error).min(initial=math.inf)))
        high = min(high, float((value + error).min(initial=math.inf)))
    low, high = max(arith.down(low), 0.0), arith.up(high)
    back = -problem.shift
    if normalize:
        shortest, longest = certificate.norm_ends(w, 0.0)
        low, high = arith.down(low / longest), arith.up(high / shortest)
    else:
        back -= power
    return certificate.times_power_down(low, back), certificate.times_power_up(high, back), offending


def _offending(checked: certificate.Checked, coef: Floats, b: float, shifted: float) -> NDArray[np.int64]:
    problem = checked.problem
    error = checked.errors + abs(shifted) * (4.0 * arith.UNIT) + np.abs(checked.scores) * (4.0 * arith.UNIT)
    unsure = np.flatnonzero(checked.scores + problem.y * shifted - error <= 0.0)
    value, error = certificate.precise(problem, unsure, checked.w, shifted)
    wrong = value + error < 0.0
    for i in np.flatnonzero((value - error <= 0.0) & ~wrong):
        x = problem.rows.dense(unsure[i : i + 1])[0]
        exact = arith.exact_sign(np.append(x, b), np.append(coef, 1.0))
        wrong[i] = exact * int(problem.y[unsure[i]]) <= 0
    return unsure[wrong].astype(np.int64)
