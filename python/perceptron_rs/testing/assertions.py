"""An assertion for tests of users: all ways to a model give the same bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, check_list
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.errors import naming
from perceptron_rs.rows.real_numbers import numbers_in, refuse_lazy
from perceptron_rs.targets.weights import sample_weights
from perceptron_rs.testing.parity import ways


def assert_parity(
    estimator: object,
    X: MatrixLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike = None,
    coef_init: ArrayLike = None,
    intercept_init: ArrayLike = None,
    batch_sizes: Sequence[int] = (1, 2, 7),
    threads: Sequence[int] = (1, 2),
) -> None:
    """Fit in every possible way, and compare everything learnt to the last bit.

    The ways are: both engines; X dense and as CSR with int32 and int64 indices, with sorted and unsorted
    rows and with explicit zeros; every storage type that holds the values of X exactly; every instruction
    set of this machine; several numbers of threads; and, for an estimator whose ``partial_fit`` calls equal
    one epoch in fixed order, batches.

    Parameters
    ----------
    estimator : Perceptron, KernelPerceptron, MultilayerPerceptron, MaxMarginClassifier, ...
        Estimator with the parameters to use. It is cloned; ``engine`` and ``n_jobs`` are replaced.
        ` perceptron_rs.SequencePerceptron` and ` perceptron_rs.StructuredPerceptron`, which do not learn
        from single examples, are rejected.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples. A dense copy in each storage type must fit into memory.
    y : array-like of shape (n_samples,) or {array-like, sparse matrix} of shape (n_samples, n_labels)
        Class labels, or a matrix of 0 and 1: which labels each example has.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, at least 0.
    coef_init, intercept_init : array-like, default=None
        Initial values, as for ``fit``. With these, batches are not tried.
    batch_sizes : sequence of int, default=(1, 2, 7)
        Numbers of rows in each call of ``partial_fit``. Batches are not tried with
        ``class_weight="balanced"`` or ``early_stopping``, which ``partial_fit`` does not support.
    threads : sequence of int, default=(1, 2)
        Numbers of threads to try, each at least 1.

    Raises
    ------
    AssertionError
        If two ways differ. The message names both, the attribute, the index of the first element that
        differs, and both values (floats as hexadecimal).
    TypeError
        If the estimator is not a classifier of this package.
    ValueError, TypeError
        If the reference cannot learn from the arguments. An overflow during training is not such an error:
        all ways must then end in the same one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import AveragedPerceptron
    >>> from perceptron_rs.testing import assert_parity
    >>> X, y = load_iris(return_X_y=True)
    >>> assert_parity(AveragedPerceptron(max_iter=3, tol=None), X[::10], y[::10])
    """
    arguments = {"X": X, "y": y, "sample_weight": sample_weight}
    arguments |= {"coef_init": coef_init, "intercept_init": intercept_init}
    for name, value in arguments.items():
        refuse_lazy(value, name)
    with naming("X"):
        X = X if sp.issparse(X) else numbers_in(X)
    with naming("y"):
        y = y.toarray() if sp.issparse(y) else np.asarray(y)
    weights = sample_weights(sample_weight, range(X.shape[0] if X.ndim else 0))
    for name, numbers in (("batch_sizes", batch_sizes), ("threads", threads)):
        check_list(name, numbers, "numbers")
        for one in numbers:
            whole_number(f"each of {name}", one, 1)
    start = {"coef_init": coef_init, "intercept_init": intercept_init}
    compared = ways(
        estimator,
        X,
        y,
        weights=weights,
        start=start,
        batch_sizes=batch_sizes,
        threads=threads,
    )
    for way in compared:
        if way.difference is not None:
            raise AssertionError(way.difference)
