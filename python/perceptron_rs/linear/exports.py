"""Linear classifiers as models of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Perceptron, SGDClassifier

from perceptron_rs.models.exporting import ExportedNetwork, take_over
from perceptron_rs.parameters.checks import is_aggressive
from perceptron_rs.prediction.hyperplanes import hyperplanes
from perceptron_rs.targets.planes import is_multilabel

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from perceptron_rs.linear.base import LinearLearner


def network(model: LinearLearner) -> ExportedNetwork:
    """Return what a classifier computes."""
    return ExportedNetwork(
        [_exported_weights(model)], model.classes_, positive_at_zero=model.tie == "positive"
    )


def to_sklearn(model: Any) -> ClassifierMixin:
    """Return a fitted estimator of scikit-learn that predicts the same."""
    coef, intercept = _exported_weights(model)
    if len(model.classes_) == 2 and len(coef) == 2:  # a joint decision
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    if len(model.classes_) == 2 and model.tie == "positive":
        raise ValueError(
            "scikit-learn has no estimator that predicts as with tie='positive', where a score of 0 means "
            "the second class; set tie='mistake', which changes the predictions of such examples only"
        )
    steps = {"loss": "perceptron", "learning_rate": "constant", "penalty": None}
    if is_aggressive(model):
        steps |= {"loss": "hinge", "learning_rate": model.step, "eta0": model.C}
    if model._schema.learner == "averaged":
        theirs = SGDClassifier(average=True, **steps)
    else:
        theirs = SGDClassifier(**steps) if is_aggressive(model) else Perceptron()
    take_over(model, theirs, but=("eta0",) if is_aggressive(model) else ())
    if model._schema.learner == "averaged":
        last = model.last_coef_.copy(), model.last_intercept_.copy()
        theirs._standard_coef, theirs._standard_intercept = last
        theirs._average_coef, theirs._average_intercept = coef.copy(), intercept.copy()
    theirs.coef_, theirs.intercept_ = coef.copy(), intercept.copy()
    theirs.classes_, theirs.n_iter_, theirs.t_ = model.classes_.copy(), max(model.n_iter_, 1), float(model.t_)
    return theirs


def _exported_weights(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights and intercepts that predict, one row a plane."""
    if is_multilabel(model):
        raise ValueError(
            "the model has many labels for each example, and what it would become has one class; use coef_ "
            "and intercept_, of which row k belongs to the label classes_[k]"
        )
    planes = hyperplanes(model)
    if planes is None:
        raise ValueError(
            f"prediction={model.prediction!r} needs all weight vectors of the run, which other models do not "
            "have; set prediction='average' or another one"
        )
    return planes
