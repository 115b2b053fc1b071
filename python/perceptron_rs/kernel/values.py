"""The kernel of an estimator: as the engines know it, or as a Gram matrix that a callable computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from perceptron_rs.engines import AskForRow, Engine, KernelSpec, Rows
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.settings import LARGEST_DEGREE

__all__ = [
    "KERNELS",
    "callable_values",
    "check_kernel",
    "is_number",
    "kernel_spec",
    "rows_of_callable",
]

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")

#: Examples that a callable is given at a time, at most: what it computes on its way stays small.
_BLOCK = 4096
PRECOMPUTED = KernelSpec("precomputed")


def check_kernel(estimator: Any) -> None:
    """Refuse parameters that scikit-learn's validation lets through, or does not look at in partial_fit."""
    kernel, gamma, degree, coef0 = estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0
    if not (callable(kernel) or (isinstance(kernel, str) and kernel in KERNELS)):
        raise ValueError(f"kernel must be one of {KERNELS} or callable, got {kernel!r:.80}")
    if not isinstance(degree, Integral) or not 1 <= int(degree) <= LARGEST_DEGREE:
        raise ValueError(f"degree must be a whole number from 1 to {LARGEST_DEGREE}, got {degree!r:.80}")
    if not (isinstance(gamma, str) and gamma in ("scale", "auto")) and not is_number(gamma, above_zero=True):
        raise ValueError(f"gamma must be 'scale', 'auto' or a finite float64 above 0, got {gamma!r:.80}")
    if not is_number(coef0):
        raise ValueError(f"coef0 must be a finite float64, got {coef0!r:.80}")


def is_number(value: Any, *, above_zero: bool = False) -> bool:
    """Whether ``value`` is a number that float64 holds; a Python integer may be too large."""
    try:
        return (
            isinstance(value, Real) and math.isfinite(float(value)) and not (above_zero and float(value) <= 0)
        )
    except OverflowError:
        return False


def kernel_spec(estimator: Any, engine: Engine, rows: Rows) -> KernelSpec:
    """Return the kernel with its gamma settled by these rows."""
    if callable(estimator.kernel):
        return PRECOMPUTED
    gamma = estimator.gamma
    if estimator.kernel in ("linear", "precomputed"):
        value = 1.0
    elif gamma == "auto":
        value = 1.0 / rows.shape[1]
    elif gamma == "scale":
        value = engine.scale_gamma(rows)
    else:
        value = float(gamma)
    return KernelSpec(str(estimator.kernel), value, float(estimator.coef0), int(estimator.degree))


def callable_values(kernel: Callable[[Any, Any], Any], X: Any, others: Any) -> NDArray[np.float64]:
    """Return the values of a callable for all rows of X with all others."""
    with foreign():
        found = kernel(X, others)
        values = np.asarray(found.toarray() if issparse(found) else found)
    needed = (X.shape[0], others.shape[0])
    if values.shape != needed:
        raise ValueError(
            f"kernel must return an array of shape {needed} for blocks of {needed[0]} and {needed[1]} rows, "
            f"got shape {values.shape}"
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(f"kernel must return real numbers, got the dtype {values.dtype}")
    with np.errstate(over="ignore"):
        values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"kernel must return finite numbers, got {values[~np.isfinite(values)][0]}")
    return values


def rows_of_callable(kernel: Callable[[Any, Any], Any], X: Any) -> AskForRow:
    """Return what gives the values of a callable for all rows of X with one of them."""

    @standard()
    def ask(number: int) -> NDArray[np.float64]:
        one = X[number : number + 1]
        blocks = (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))
        return np.concatenate([callable_values(kernel, block, one)[:, 0] for block in blocks])

    return ask
