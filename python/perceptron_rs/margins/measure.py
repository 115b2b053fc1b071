"""The margin of a given plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, in_full
from perceptron_rs.choices import EngineName
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.exact.matrix import refuse_rounded
from perceptron_rs.margins.result import MarginInterval
from perceptron_rs.margins.search.problem import read_problem
from perceptron_rs.prediction.hyperplanes import hyperplanes
from perceptron_rs.rows.examples import as_columns
from perceptron_rs.rows.real_numbers import finite_numbers
from perceptron_rs.targets.labels import encode


def margin(
    X: MatrixLike,
    y: ArrayLike,
    coef: object = None,
    intercept: object = None,
    *,
    normalize: bool = True,
    return_offending: bool = False,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> Any:
    r"""Compute bounds of the margin of a hyperplane, the minimum of :math:`y (w \cdot x + b) / \|w\|`.

    Call it as ``margin(X, y, coef, intercept)``, or as ``margin(model, X, y)`` for the hyperplane of a fitted
    classifier of two classes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels of at most two classes; the larger one is positive.
    coef : array-like of shape (n_features,) or (1, n_features), default=None
        Weights w, not all 0. Required, unless a classifier is given.
    intercept : float or array-like of shape (1,), default=None
        Intercept b. None for a hyperplane through the origin.
    normalize : bool, default=True
        Whether to divide by :math:`\|w\|`. If False, the margin grows with the weights.
    return_offending : bool, default=False
        Whether to also return the rows on the hyperplane or on its wrong side.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the result.

    Returns
    -------
    interval : MarginInterval
        Bounds ``lower`` and ``upper`` of the margin, which hold despite all rounding. Both are -inf if a
        row is on the hyperplane or on its wrong side.
    offending : ndarray of shape (n_offending,), int64
        Indices of these rows. Only returned if ``return_offending=True``.

    Raises
    ------
    ValueError
        If an argument has an invalid shape, length or value, if all weights are 0, or if the classifier
        does not predict with one hyperplane.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).
    sklearn.exceptions.NotFittedError
        If the classifier is not fitted.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, margin
    >>> X, y = [[3, 4], [0, 5], [-3, -4]], [1, 1, -1]
    >>> model = Perceptron(fit_intercept=False, tol=None).fit(X, y)
    >>> margin(model, X, y).lower > 0
    True
    >>> interval = margin(X, y, [3, 4])
    >>> round(interval.lower, 9), round(interval.upper, 9)
    (4.0, 4.0)
    >>> margin(X, y, [1, -1], return_offending=True)
    (MarginInterval(lower=-inf, upper=-inf), array([0, 1, 2]))
    """
    for name, value in (("normalize", normalize), ("return_offending", return_offending)):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, got {value!r:.80}")
    if hasattr(X, "predict"):
        if intercept is not None:
            raise ValueError("margin(model, X, y) takes the intercept of the model; leave out the fourth one")
        X, y, coef, intercept = _of_model(X, y, coef)
    elif coef is None:
        raise TypeError("coef must be given: margin(X, y, coef, intercept), or margin(model, X, y)")
    with standard():
        problem = read_problem(X, y, engine=engine, n_jobs=n_jobs)
        w, b = hyperplane_of(coef, intercept, problem.data.rows.shape[1])
        if not w.any():
            raise ValueError(
                "coef must not be all zeros: such weights have no direction; pass other weights, or compute "
                "them with max_margin"
            )
        lower, upper, offending = problem.margin(w, b, normalize=bool(normalize))
    interval = MarginInterval(lower, upper)
    return (interval, offending) if return_offending else interval


def _of_model(model: Any, X: MatrixLike, y: ArrayLike) -> tuple[Any, NDArray[np.uint32], Any, Any]:
    """Return examples, labels 0 and 1, weights and intercept of a fitted classifier."""
    check_is_fitted(model)
    name = type(model).__name__
    if y is None:
        raise TypeError("y must be given: margin(model, X, y)")
    if getattr(model, "prediction", None) == "vote":
        raise ValueError(
            f"{name} predicts by the votes of many hyperplanes; set prediction='average', or another one"
        )
    planes = hyperplanes(model)
    if planes is None:
        raise ValueError(f"model must predict with a hyperplane, and {name} has no coef_; use a linear one")
    coef, intercept = planes
    if coef.shape[0] != 1:
        raise ValueError(
            f"model must predict with one hyperplane, but {name} has {coef.shape[0]}; pass the coef and "
            "intercept of one, and y == label"
        )
    return as_columns(model, X), encode(np.asarray(y), model.classes_), coef, intercept


def planes(
    coef: object, intercept: object, columns: int, count: int, *, of: str = ""
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights (count, columns) and intercepts (count,), checked; ``of`` ends their names."""
    if count == 1:
        w, b = hyperplane_of(coef, intercept, columns, of=of)
        return w.reshape(1, -1), np.array([0.0 if b is None else b])
    w = _real_array(f"coef{of}", coef)
    biases = np.zeros(count) if intercept is None else _real_array(f"intercept{of}", intercept)
    for name, array, shape in (("coef", w, (count, columns)), ("intercept", biases, (count,))):
        if array.shape != shape:
            raise ValueError(
                f"{name}{of} has the shape {array.shape}, but {count} classes and {columns} columns need "
                f"{shape}"
            )
    return w, biases


def hyperplane_of(
    coef: object, intercept: object, columns: int, *, of: str = ""
) -> tuple[NDArray[np.float64], float | None]:
    """Return weights and intercept as numbers, checked; ``of`` ends their names."""
    w = _real_array(f"coef{of}", coef)
    if w.shape not in ((columns,), (1, columns)):
        raise ValueError(
            f"coef{of} has the shape {w.shape}, but X has {columns} columns: it must be ({columns},) or "
            f"(1, {columns}); of a classifier of several classes give one row"
        )
    if intercept is None:
        return w.reshape(-1), None
    b = _real_array(f"intercept{of}", intercept)
    if b.size != 1 or b.ndim > 1:
        raise ValueError(
            f"intercept{of} must be one number, got the shape {b.shape}; it belongs to the row coef"
        )
    return w.reshape(-1), float(b.reshape(-1)[0])


def _real_array(name: str, value: object) -> NDArray[np.float64]:
    refuse_rounded(value, name)
    return finite_numbers(in_full(value), name)
