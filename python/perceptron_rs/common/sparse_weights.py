"""Weights kept as a sparse matrix between calls, where penalties have left few that are not 0."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.common.rows.sparse import is_sparse
from perceptron_rs.estimator_attributes import check_is_fitted

__all__ = ["SparseWeights", "as_sparse", "dense"]


def dense(weights: MatrixLike) -> NDArray[np.generic]:
    """Return weights as an array; the same one, if they are an array."""
    return weights.toarray() if is_sparse(weights) else np.asarray(weights)


def as_sparse(weights: NDArray[np.generic]) -> MatrixLike:
    """Return weights as a CSR matrix, or as an array where scikit-learn prefers these."""
    import scipy.sparse as sp
    from sklearn import get_config

    arrays = get_config().get("sparse_interface", "spmatrix") == "sparray"  # new in scikit-learn 1.9
    return sp.csr_array(weights) if arrays else sp.csr_matrix(weights)


class SparseWeights:
    """The methods ``sparsify`` and ``densify`` of a learner with ``coef_``."""

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a CSR matrix, which is smaller if most of the weights are 0.

        All methods keep working and give the same bits. Each call makes a dense copy of the weights, so
        predicting few examples takes longer. ``fit`` and ``partial_fit`` make the weights dense again.
        ``save`` writes the same file in both cases.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        See Also
        --------
        densify : The inverse.

        Notes
        -----
        As in scikit-learn, ``coef_`` becomes a ``scipy.sparse.csr_matrix``, or a ``csr_array`` if
        scikit-learn's setting ``sparse_interface`` is "sparray". ``intercept_`` is not converted.

        Examples
        --------
        >>> from perceptron_rs import Perceptron
        >>> X, y = [[1, 0, 3], [0, 0, -2], [0, 2, 1]], ["ham", "spam", "ham"]
        >>> model = Perceptron(penalty="l1", alpha=0.1, shuffle=False).fit(X, y)
        >>> model.sparsify().coef_.nnz
        2
        >>> model.densify().coef_
        array([[-0.4,  0. , -2.4]])
        """
        check_is_fitted(self)
        self._show(sparse=True)
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` back to a dense array. If it is dense already, nothing happens.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        See Also
        --------
        sparsify : The inverse, with an example of both.
        """
        check_is_fitted(self)
        self._show(sparse=False)
        return self

    @abstractmethod
    def _show(self, *, sparse: bool) -> None:
        """Show ``coef_`` as a sparse matrix from here on, or as an array."""
