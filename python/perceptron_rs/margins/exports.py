"""The separator of largest margin as a model of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from perceptron_rs.models.exporting import ExportedNetwork, take_over
from perceptron_rs.prediction.hyperplanes import hyperplanes

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from perceptron_rs.margins.classifier import MaxMarginClassifier


def network(model: MaxMarginClassifier) -> ExportedNetwork:
    """Return what the classifier computes."""
    return ExportedNetwork([_exported_planes(model)], model.classes_)


def to_sklearn(model: MaxMarginClassifier) -> ClassifierMixin:
    """Return a fitted estimator of scikit-learn that predicts the same."""
    coef, intercept = _exported_planes(model)
    # The dual weights of a hard margin add up to the squared norm of its weights: this C bounds none of them.
    strength = max(1.0, float(np.square(coef).sum(axis=1).max()))
    theirs = take_over(model, LinearSVC(C=strength, loss="hinge"), but=("tol",))
    theirs.fit_intercept = model.bias != "none"
    theirs.coef_, theirs.intercept_ = coef.copy(), intercept.copy()
    theirs.classes_, theirs.n_iter_ = model.classes_.copy(), 1
    return theirs


def _exported_planes(model: MaxMarginClassifier) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    planes = hyperplanes(model)
    if planes is None:
        raise ValueError(f"a hyperplane of kernel={model.kernel!r} cannot be exported; save it, or pickle it")
    return planes
