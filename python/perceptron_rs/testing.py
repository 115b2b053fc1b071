"""Check the promise of the package on data of one's own: one bit pattern, whatever computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptron_rs.ways import ways

__all__ = ["assert_parity"]


def assert_parity(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    coef_init: Any = None,
    intercept_init: Any = None,
    batch_sizes: Sequence[int] = (1, 2, 7),
    threads: Sequence[int] = (1, 2),
) -> None:
    """Fit in every way there is, and compare all that was learnt to the last bit.

    The ways are: both engines; X dense and as CSR with int32 and int64 indices, with rows in
    order and not, with stored zeros; every storage type that holds the values of X exactly; every
    instruction set of this machine; several numbers of threads; and batches through ``partial_fit``
    against one epoch in fixed order, of an estimator whose batches are that.

    Parameters
    ----------
    estimator : Perceptron, KernelPerceptron, MultilayerPerceptron, MaxMarginClassifier, ...
        Whose parameters to use; it is cloned. ``engine`` and ``n_jobs`` are replaced.
        `~perceptron_rs.SequencePerceptron` and `~perceptron_rs.StructuredPerceptron`, which do not learn from
        single examples, are refused.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Examples; a dense copy of each storage type must fit into memory.
    y : array-like of shape (n_samples,)
        Their classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, >= 0.
    coef_init, intercept_init : array-like, default=None
        Start values, as for ``fit``; batches are then left out.
    batch_sizes : sequence of int, default=(1, 2, 7)
        Rows in each call of ``partial_fit``. Batches are left out with ``class_weight="balanced"`` and
        ``early_stopping``, which ``partial_fit`` does not take.
    threads : sequence of int, default=(1, 2)
        Numbers of threads to try, each at least 1.

    Raises
    ------
    AssertionError
        If two ways differ. It names both, the attribute, the index of the first element that
        differs, and both values (floats as hexadecimal).
    TypeError
        If the estimator is no classifier of this package.
    ValueError, TypeError
        If the reference cannot learn from the arguments. An overflow during training is
        no such error: every way must then end in the same one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import AveragedPerceptron
    >>> from perceptron_rs.testing import assert_parity
    >>> X, y = load_iris(return_X_y=True)
    >>> assert_parity(AveragedPerceptron(max_iter=3, tol=None), X[::10], y[::10])
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    start = {"coef_init": coef_init, "intercept_init": intercept_init}
    found = ways(
        estimator,
        X,
        np.asarray(y),
        weights=weights,
        start=start,
        batch_sizes=batch_sizes,
        threads=threads,
    )
    for way in found:
        if way.difference is not None:
            raise AssertionError(way.difference)
