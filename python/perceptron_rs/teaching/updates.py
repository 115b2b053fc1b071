"""Functions about the perceptron's update that need no estimator."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_rs.arrays.scalars import checked_number, number
from perceptron_rs.choices import EngineName
from perceptron_rs.engines import get_engine
from perceptron_rs.rows.real_numbers import finite_numbers


def updates_until_right(
    x: ArrayLike,
    y: int,
    w: ArrayLike,
    b: float | None = None,
    *,
    step: float = 1.0,
    engine: EngineName = "rust",
) -> int:
    r"""Count how many consecutive updates on one example it takes to classify it correctly.

    One update, :math:`w \leftarrow w + \mathrm{step}\, y x` and :math:`b \leftarrow b + \mathrm{step}\, y`,
    moves the activation of the example by :math:`\mathrm{step}\, (\|x\|^2 + 1)` towards y. After k updates,
    the example is still a mistake while

    .. math:: k \le \frac{-y (w \cdot x + b)}{\mathrm{step}\, (\|x\|^2 + 1)}.

    Without an intercept, there is no "+ 1".

    Parameters
    ----------
    x : array-like of shape (n_features,)
        The example.
    y : {-1, 1}
        Label of the example.
    w : array-like of shape (n_features,)
        Weights before the first update.
    b : float, default=None
        Intercept before the first update. None if there is no intercept.
    step : float, default=1.0
        Learning rate times the weight of the example, above 0.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same answer.

    Returns
    -------
    int
        Number of updates: 0 if the example is already classified correctly (:math:`y (w \cdot x + b) > 0`),
        otherwise the smallest k for which the inequality fails. The bound is computed in float64; its
        integer part is exact.

    Raises
    ------
    TypeError
        If x, w, b or step does not contain real numbers.
    ValueError
        If an argument has an invalid shape or value, or if x is zero and there is no intercept, because no
        number of updates is enough then.
    OverflowError
        If the activation or its shift is too large for a float64.

    References
    ----------
    A. B. J. Novikoff, "On convergence proofs for perceptrons", Symposium on the Mathematical Theory
    of Automata, 1962.

    Examples
    --------
    >>> from perceptron_rs import updates_until_right
    >>> updates_until_right([1, 2], -1, [3, 1], 1.0)  # activation 6, one update takes 6 off it
    2
    >>> updates_until_right([1, 2], -1, [-3, 1])
    0
    """
    x, w = _vector("x", x), _vector("w", w)
    if number(y) not in (-1, 1):
        raise ValueError(f"y must be -1 or 1, got {y!r}")
    if b is not None:
        b = _checked_number("b", b)
    step = _checked_number("step", step)
    if step <= 0:
        raise ValueError(f"step must be above 0, got {step}")
    return get_engine(engine).updates_until_right(x, int(y), w, b, step=step)


def _vector(name: str, values: object) -> NDArray[np.float64]:
    vector = finite_numbers(values, name)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {vector.shape}; pass one example")
    return vector


def _checked_number(name: str, value: object) -> float:
    checked = checked_number(name, value)
    if not math.isfinite(checked):
        raise ValueError(f"{name} must be finite, got {checked}; choose a finite number")
    return float(checked)
