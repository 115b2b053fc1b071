"""Methods of classifiers that learn online: ``partial_fit``, and ``predict_then_learn``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike, MatrixLike
from perceptron_rs.common.options.groups import MistakeParameters
from perceptron_rs.common.parameters import are_valid, validated
from perceptron_rs.common.prediction.predictor import MistakeClassifier
from perceptron_rs.common.prediction.scoring import Scoring
from perceptron_rs.common.training.feeders import InMemory
from perceptron_rs.common.training.train import Feeder, Trainable, train
from perceptron_rs.errors import ArgumentError

__all__ = ["OnlineClassifier"]


class OnlineClassifier(MistakeParameters, Scoring, Trainable, MistakeClassifier):
    """A classifier that a pass over examples makes better."""

    classes_: NDArray[np.generic]
    n_iter_: int
    n_iter_per_class_: NDArray[np.int64]
    n_mistakes_: int
    mistakes_per_epoch_: NDArray[np.int64]
    mistakes_per_example_: NDArray[np.int64]
    converged_: bool
    loss_curve_: list[float]

    @validated
    def predict_then_learn(
        self, X: MatrixLike, y: ArrayLike, *, classes: ArrayLike = None, sample_weight: ArrayLike = None
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
        wrong = self._decide(feeder.activations) != feeder.labels_as_decided()
        n_errors = np.count_nonzero(wrong.reshape(len(wrong), -1).any(axis=1))
        return self._predicted(feeder.activations), int(n_errors)

    def _publish_report(self, feeder: Feeder) -> None:
        report = feeder.report
        if feeder.tracks:
            assert report.activations is not None
            feeder.activations = report.activations
            if np.isnan(report.activations).any():
                raise ArgumentError(
                    "{weights} must be above 0, because examples of weight 0 are not visited",
                    "use {predict} and {partial_fit} instead",
                )
        self.n_iter_per_class_ = report.n_iter
        self.n_iter_ = int(report.n_iter.max())
        self.n_mistakes_ = int(report.mistakes.sum())
        self.mistakes_per_epoch_ = report.mistakes
        self.converged_ = all(reason == "clean" for reason in report.stopped)
        for name in ("loss_curve_", "mistakes_per_example_"):
            vars(self).pop(name, None)
        if not feeder.is_pass:
            self.loss_curve_ = [float(losses.mean()) for losses in report.losses]
        if report.mistakes_per_example is not None:
            self.mistakes_per_example_ = report.mistakes_per_example

    def _validate_params(self) -> None:
        # Called by scikit-learn before each ``fit``: a third of the time of a fit to few examples.
        if not are_valid(self):
            super()._validate_params()
