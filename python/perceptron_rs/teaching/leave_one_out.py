"""How often a perceptron errs on an example that is left out of its fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, array_of, has_rows_by_place
from perceptron_rs.margins.exact.matrix import refuse_rounded
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.sklearn_base import BaseEstimator
from perceptron_rs.targets.labels import label_array


class LeaveOneOut(NamedTuple):
    """What `leave_one_out` found.

    Attributes
    ----------
    error : float
        The leave-one-out error rate.
    bound : float
        Fraction of the examples that were mistakes in the fit to all of them, that it predicts wrongly, or
        that are alone in their class.
    n_fits : int
        Number of fits that it took.
    """

    error: float
    bound: float
    n_fits: int


def leave_one_out(estimator: Any, X: MatrixLike, y: ArrayLike) -> LeaveOneOut:
    """Compute the leave-one-out error of a perceptron, refitting for mistaken examples only.

    An example that was never a mistake leaves no trace in the weights: the run without it is the same. So
    only an example that was a mistake needs a fit of its own. Any other is an error if the fit to all
    examples predicts it wrongly. So the error rate is at most ``bound``, which is known after a single fit.
    An example that is alone in its class is always an error, because no fit without it knows the class.

    Parameters
    ----------
    estimator : Perceptron or KernelPerceptron
        A learner that predicts with its last weights, with ``shuffle=False`` and ``tol=None``, so that the
        run without an example is the same one. It stays as it is.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    LeaveOneOut
        The error rate, its bound and the number of fits.

    Raises
    ------
    ValueError
        If a setting makes the run depend on examples that are no mistakes.

    References
    ----------
    T. Graepel, R. Herbrich, R. C. Williamson, "From margin to sparsity", NIPS 2000: the number of mistaken
    examples as a bound.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, leave_one_out
    >>> from perceptron_rs.datasets import make_separable
    >>> X, y = make_separable(100, seed=1)
    >>> found = leave_one_out(Perceptron(shuffle=False, tol=None), X, y)
    >>> found.error <= found.bound
    True
    >>> found.n_fits < 100
    True
    """
    _check_kind(estimator)
    refuse_rounded(X)
    y = label_array(estimator, y, None)
    model = clone(estimator).set_params(track_mistakes=True).fit(X, y)
    (X,) = indexable(X if is_sparse(X) or has_rows_by_place(X) else array_of(X))
    mistaken = model.mistakes_per_example_.any(axis=1)
    _, index, sizes = np.unique(y, return_inverse=True, return_counts=True)
    is_alone = sizes[index] == 1
    errors = (model.predict(X) != y) | is_alone
    bound = float((mistaken | errors).mean())
    to_fit = np.flatnonzero(mistaken & ~is_alone)
    for i in to_fit:
        rest = np.delete(np.arange(len(y)), i)
        other = clone(estimator).fit(_safe_indexing(X, rest), y[rest])
        errors[i] = other.predict(_safe_indexing(X, [i]))[0] != y[i]
    return LeaveOneOut(float(errors.mean()), bound, 1 + len(to_fit))


def _check_kind(estimator: object) -> None:
    """Raise unless an example that is no mistake has no part in a run."""
    parameters = estimator.get_params() if isinstance(estimator, BaseEstimator) else {}
    last = parameters.get("prediction", "last") == "last" and "track_mistakes" in parameters
    if not last or type(estimator).__name__ not in ("Perceptron", "KernelPerceptron"):
        raise ValueError(
            f"estimator must be a Perceptron, or a KernelPerceptron(prediction='last'), got "
            f"{estimator!r:.80}; use LeaveOneOut of scikit-learn"
        )
    needed: dict[str, object] = {"shuffle": False, "tol": None, "early_stopping": False, "penalty": None}
    needed |= {"warm_start": False, "n_partitions": 1}
    for name, value in needed.items():
        if name in parameters and np.any(parameters[name] != value):
            raise ValueError(f"{name} must be {value} for the run to be the same, got {parameters[name]!r}")
    scaled = parameters.get("kernel") in ("rbf", "poly", "sigmoid") and parameters["gamma"] == "scale"
    if parameters["class_weight"] == "balanced" or scaled:
        raise ValueError("class_weight and gamma must be numbers: they may not depend on the examples")
    if parameters.get("kernel") == "precomputed":
        raise ValueError("kernel must not be 'precomputed'; use LeaveOneOut of scikit-learn")
