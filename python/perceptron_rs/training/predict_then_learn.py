"""The method ``predict_then_learn``, of all classifiers that a pass makes better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.parameters.checks import validated
from perceptron_rs.prediction.predictor import decide, predicted
from perceptron_rs.training.feeders import InMemory
from perceptron_rs.training.train import train


@validated
def predict_then_learn(
    self: Any, X: MatrixLike, y: ArrayLike, *, classes: ArrayLike = None, sample_weight: ArrayLike = None
) -> tuple[NDArray[np.generic], int]:
    """Predict each example before learning from it (progressive validation).

    Makes one pass in the given order and learns the same as ``partial_fit``. Each example is predicted
    with the current weights, learnt from the examples before it. Learners that predict with others,
    such as an average or a vote, use the current weights too, because these decide which examples are
    mistakes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
        Class labels, or a matrix of many labels.
    classes : array-like of shape (n_classes,), default=None
        All classes that will ever occur in y. Required in the first call, unless y is a matrix. Labels of
        the data say their type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, above 0. An update is multiplied by the weight of its example.

    Returns
    -------
    y_pred : ndarray of shape (n_samples,), or {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Predicted classes, or labels.
    n_errors : int
        Number of wrong predictions: of many labels, of examples with a wrong one.

    Raises
    ------
    ValueError
        As for ``partial_fit``; also if an example has weight 0, because it is not visited.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron()
    >>> predicted, errors = model.predict_then_learn(X[::3], y[::3], classes=[0, 1, 2])
    >>> errors
    2
    """
    feeder = InMemory("partial_fit", X, y, sample_weight, classes=classes, tracks=True)
    train(self, feeder)
    assert feeder.activations is not None
    n_errors = feeder.n_wrong(decide(self, feeder.activations))
    return predicted(self, feeder.activations), n_errors
