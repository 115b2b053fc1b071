"""The kernel of an estimator: as the engines know it, or as a Gram matrix that a callable computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.schema.kernel_spec import settled_kernel
from perceptron_rs.settings import AskForRow, KernelSpec

#: Examples that a callable is given at a time, at most: what it computes on its way stays small.
_BLOCK = 4096
#: Returns the kernel values of the rows of one matrix with those of another.
KernelFunction: TypeAlias = Callable[[Any, Any], MatrixLike]
PRECOMPUTED = KernelSpec("precomputed")


def kernel_spec(estimator: Any, engine: Engine, rows: Rows) -> KernelSpec:
    """Return the kernel with its gamma settled by these rows."""
    if callable(estimator.kernel):
        return PRECOMPUTED
    parameters = str.__str__(estimator.kernel), estimator.gamma, estimator.degree, estimator.coef0
    return settled_kernel(*parameters, engine, rows)


def callable_values(kernel: KernelFunction, X: MatrixLike, others: MatrixLike) -> NDArray[np.float64]:
    """Return the values of a callable for all rows of X with all others."""
    with foreign():
        returned = kernel(X, others)
        values = np.asarray(returned.toarray() if is_sparse(returned) else returned)
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


def rows_of_callable(kernel: KernelFunction, X: MatrixLike) -> AskForRow:
    """Return what gives the values of a callable for all rows of X with one of them."""

    @standard()
    def ask(number: int) -> NDArray[np.float64]:
        one = X[number : number + 1]
        blocks = (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))
        return np.concatenate([callable_values(kernel, block, one)[:, 0] for block in blocks])

    return ask
