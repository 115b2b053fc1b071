"""The accuracy of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike, MatrixLike
from perceptron_rs.common.errors import naming
from perceptron_rs.common.targets.label_sets import LabelSets, bits
from perceptron_rs.common.targets.labels import target_of
from perceptron_rs.common.targets.planes import is_multilabel, learns_many
from perceptron_rs.sklearn_base import ClassifierMixin

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Scoring"]


class Scoring(ClassifierMixin):
    """The tags of a classifier, and its method ``score`` with errors that name their argument."""

    classes_: NDArray[np.generic]

    if TYPE_CHECKING:

        def predict(self, X: MatrixLike) -> NDArray[np.generic]:
            """Predict the class of each example."""

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
        from sklearn.metrics import accuracy_score  # takes longer to import than most fits

        predicted = self.predict(X)
        y = target_of(self, y, predicted.shape[0])
        if isinstance(y, LabelSets):
            y = bits(y.words_for(self.classes_) if is_multilabel(self) else y.words, len(y.classes))
        with naming("y" if sample_weight is None else "sample_weight"):
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = vars(self).get("kernel") == "precomputed"
        tags.classifier_tags.multi_label = learns_many(self)
        return tags
