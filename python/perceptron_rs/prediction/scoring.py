"""What classifiers do with examples whose labels are known, but for learning: a score, and a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.choices import CalibrationMethod
from perceptron_rs.errors import naming
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.prediction.calibrate import calibration_of
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.sklearn_base import ClassifierMixin
from perceptron_rs.state.turns import change, learning
from perceptron_rs.targets.distinct import COST
from perceptron_rs.targets.label_sets import LabelSets, bits
from perceptron_rs.targets.labels import target_of
from perceptron_rs.targets.planes import is_multilabel, learns_many
from perceptron_rs.targets.weights import sample_weights

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _equal(y: NDArray[np.generic], predicted: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return for which examples two arrays of labels have the same."""
    equal = np.empty(len(y), dtype=np.bool_)
    for piece in pieces(len(y), COST):
        equal[piece] = y[piece] == predicted[piece]
    return equal


def _all_right(words: NDArray[np.uint32], predicted: Any) -> NDArray[np.bool_]:
    """Return for which examples a matrix of predictions, perhaps a sparse one, has their labels alone."""
    n, K = predicted.shape
    right = np.empty(n, dtype=np.bool_)
    for piece in pieces(n, K):
        part = predicted[piece]
        right[piece] = (bits(words[piece], K) == (part.toarray() if is_sparse(part) else part)).all(axis=1)
    return right


class Scoring(ClassifierMixin):
    """The tags of a classifier, and its methods of labelled examples, ``score`` and ``calibrate``."""

    classes_: NDArray[np.generic]

    if TYPE_CHECKING:

        def predict(self, X: MatrixLike) -> NDArray[np.generic]:
            """Predict the class of each example."""

        def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
            """Return the score of each example."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike = None) -> float:
        """Return the accuracy on the given examples and labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            True labels. A label that is not in ``classes_`` counts as an error. With many labels, an example
            counts as right if all of them are.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples.

        Returns
        -------
        float
            Mean accuracy.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If an argument has an invalid shape, length or value.
        """
        predicted = self.predict(X)
        y = target_of(self, y, predicted.shape[0])
        weights = sample_weights(sample_weight, range(predicted.shape[0]))
        right: NDArray[np.bool_] | None = None
        if isinstance(y, LabelSets) and is_multilabel(self):
            right = _all_right(y.words_for(self.classes_), predicted)
        elif isinstance(y, LabelSets):
            y = bits(y.words, len(y.classes))
        elif any(y.dtype.kind in kinds and predicted.dtype.kind in kinds for kinds in ("OU", "biu")):
            right = _equal(y, predicted)
        if right is not None and len(right):  # scikit-learn would sort all labels
            if weights is None:
                return float(np.average(right))
            y, predicted = np.ones_like(right), right
        from sklearn.metrics import accuracy_score  # takes longer to import than most fits

        with naming("y"):
            return float(accuracy_score(y, predicted, sample_weight=weights))

    def calibrate(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        method: CalibrationMethod = "temperature",
        sample_weight: ArrayLike = None,
    ) -> Self:
        """Find how probable the scores make each class, on examples that were not learnt from.

        ``predict_proba`` and ``predict_log_proba`` are available afterwards; ``decision_function`` and
        ``predict`` stay as they are. Files, pickles and digests have the calibration. Whatever changes what
        has been learnt drops it: a call that goes on learning warns of that.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples that were held out. On those that were learnt from, scores are larger than elsewhere.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Their labels, which are in ``classes_``; or matrices of many labels.
        method : {"temperature", "sigmoid"}, default="temperature"
            "temperature": one number for all scores, which changes no decision. "sigmoid": two numbers for
            each class against the rest, or for the two classes together, as Platt scaling has them. It can
            follow classes that are rarer or more frequent than their scores say; the most probable class may
            then be another one than ``predict`` returns. Of many labels, "sigmoid" alone is available.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0.

        Returns
        -------
        self : object
            The estimator, with ``calibration_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If an argument has an invalid shape, length or value, if y holds a label that is not in
            ``classes_``, or if ``method="temperature"`` is to be that of many labels.

        Warns
        -----
        UserWarning
            If no finite temperature fits best, because each example is right: targets are then smoothed. Or
            if the scores are no better than chance: then all classes are equally probable.

        See Also
        --------
        sklearn.calibration.CalibratedClassifierCV : The same numbers of `sklearn.frozen.FrozenEstimator`, and
            calibration by cross-validation.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from perceptron_rs import AveragedPerceptron
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AveragedPerceptron(max_iter=10, tol=None).fit(X[::2], y[::2])
        >>> model.calibrate(X[1::2], y[1::2]).predict_proba(X[[1]]).round(3)
        array([[0.981, 0.019, 0.   ]])
        """
        with learning(self) as model:
            check_is_fitted(model, "classes_")
            scores = model.decision_function(X)
            change(model, calibration=calibration_of(model, scores, y, method, sample_weight))
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = vars(self).get("kernel") == "precomputed"
        tags.classifier_tags.multi_label = learns_many(self)
        return tags
