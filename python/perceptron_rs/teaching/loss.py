"""The losses that perceptrons go down, one example at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.errors import naming
from perceptron_rs.margins.search.problem import two_classes
from perceptron_rs.rows.real_numbers import finite_numbers
from perceptron_rs.targets.labels import label_array
from perceptron_rs.targets.weights import sample_weights


def perceptron_loss(
    y_true: ArrayLike, pred_decision: object, *, labels: ArrayLike = None, sample_weight: ArrayLike = None
) -> float:
    r"""Compute the mean perceptron loss: what a wrong prediction is off by, and 0 for a right one.

    Let a be the activation of an example with the label y = -1 or 1. Its loss is :math:`\max(0, -y a)`. The
    perceptron's update is a subgradient step on it; it is also made at :math:`a = 0`, where the loss is 0 but
    the prediction is undecided. With more than two classes the loss is :math:`\max(0, \max_r s_r - s_y)`,
    over the scores of all classes r but the true class y: that of ``multi_class="joint"``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels. The larger of two is positive; a single one is positive if it is a string or above 0.
    pred_decision : array-like of shape (n_samples,) or (n_samples, n_classes)
        What ``decision_function`` returns.
    labels : array-like of shape (n_classes,), default=None
        All labels, if ``y_true`` may lack one.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples in the mean.

    Returns
    -------
    float
        The mean loss of an example.

    Raises
    ------
    ValueError
        If the arguments have shapes or labels that do not fit together, or an invalid value.
    TypeError
        If scores or weights are not real numbers, or labels are bytes.

    See Also
    --------
    hinge_loss : The same with a margin of 1.

    References
    ----------
    L. Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT 2010, table 1.

    Examples
    --------
    >>> from perceptron_rs import perceptron_loss
    >>> perceptron_loss([1], [-0.1]), perceptron_loss([1], [-10]), perceptron_loss([1], [0.1])
    (0.1, 10.0, 0.0)
    """
    return _mean_loss(y_true, pred_decision, labels, sample_weight, 0.0)


def hinge_loss(
    y_true: ArrayLike, pred_decision: object, *, labels: ArrayLike = None, sample_weight: ArrayLike = None
) -> float:
    r"""Compute the mean hinge loss :math:`\max(0, 1 - y a)`: that of a ``margin_threshold`` of 1.

    It is `sklearn.metrics.hinge_loss`, except that labels of one class need no ``labels``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels. The larger of two is positive; a single one is positive if it is a string or above 0.
    pred_decision : array-like of shape (n_samples,) or (n_samples, n_classes)
        What ``decision_function`` returns.
    labels : array-like of shape (n_classes,), default=None
        All labels, if ``y_true`` may lack one.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples in the mean.

    Returns
    -------
    float
        The mean loss of an example.

    Raises
    ------
    ValueError
        If the arguments have shapes or labels that do not fit together, or an invalid value.
    TypeError
        If scores or weights are not real numbers, or labels are bytes.

    See Also
    --------
    perceptron_loss : The same without a margin.

    References
    ----------
    K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines",
    Journal of Machine Learning Research 2, 2001.

    Examples
    --------
    >>> from perceptron_rs import hinge_loss
    >>> hinge_loss([1], [-10]), hinge_loss([1], [0.25]), hinge_loss([1], [1])
    (11.0, 0.75, 0.0)
    """
    return _mean_loss(y_true, pred_decision, labels, sample_weight, 1.0)


def _mean_loss(
    y_true: ArrayLike, pred_decision: object, labels: ArrayLike, sample_weight: ArrayLike, margin: float
) -> float:
    with naming("y_true"):
        shape = np.shape(y_true)
    scores = finite_numbers(pred_decision, "pred_decision")
    if len(shape) != 1 or scores.ndim not in (1, 2) or len(scores) != shape[0] or not shape[0]:
        raise ValueError(
            "y_true and pred_decision must hold a label and a score, or one score for each class, of every "
            f"example, got the shapes {shape} and {scores.shape}"
        )
    y = label_array(None, y_true, None, "y_true")
    won = _won_by(y, scores, None if labels is None else np.unique(label_array(None, labels, None, "labels")))
    losses = np.maximum(0.0, margin - won)
    weights = sample_weights(sample_weight, losses)
    return float(np.average(losses, weights=weights))


def _won_by(
    y: NDArray[np.generic], scores: NDArray[np.float64], classes: NDArray[np.generic] | None
) -> NDArray[np.float64]:
    """Return by how much the true class is ahead of the best other one."""
    if classes is not None and not np.isin(y, classes).all():
        raise ValueError(f"y_true must hold labels of {classes.tolist()!r:.200} alone")
    if scores.ndim == 1:
        if classes is not None and len(classes) != 2:
            raise ValueError(f"labels must be two for one score for each example, got {len(classes)}")
        if classes is None and (n := len(np.unique(y))) > 2:
            raise ValueError(f"y_true must hold at most two labels for one score for each example, got {n}")
        positive = two_classes(y, "y_true")[0] == 1 if classes is None else y == classes[1]
        signed: NDArray[np.float64] = np.where(positive, scores, -scores)
        return signed
    classes = np.unique(y) if classes is None else classes
    if scores.shape[1] != len(classes) or len(classes) < 2:
        raise ValueError(
            f"pred_decision must have a column for each of {len(classes)} labels, got {scores.shape[1]}; "
            "pass labels if y_true lacks one"
        )
    index, rows = np.searchsorted(classes, y), np.arange(len(y))
    others = scores.copy()
    others[rows, index] = -np.inf
    ahead: NDArray[np.float64] = scores[rows, index] - others.max(axis=1)
    return ahead
