"""Weights as a sparse matrix, where penalties have left few that are not 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike, as_users_have
from perceptron_rs.rows.sparse import is_sparse


def dense(weights: MatrixLike) -> NDArray[np.generic]:
    """Return weights as an array; the same one, if they are an array."""
    return weights.toarray() if is_sparse(weights) else np.asarray(weights)


def as_sparse(weights: NDArray[np.generic]) -> MatrixLike:
    """Return weights as a CSR matrix, or as an array where scikit-learn prefers these."""
    from scipy.sparse import csr_matrix

    return as_users_have(csr_matrix(weights))
