"""The multilayer perceptron as a model of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer

from perceptron_rs.models.exporting import ExportedNetwork, take_over
from perceptron_rs.multilayer.predictor import sizes_of

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron


def network(model: MultilayerPerceptron) -> ExportedNetwork:
    """Return what the classifier computes."""
    state = model.predictor_
    layers = [(state[f"coef_{i}"], state[f"intercept_{i}"]) for i in range(len(state) // 2)]
    return ExportedNetwork(layers, model.classes_, model.activation, has_probabilities=True)


def to_sklearn(model: MultilayerPerceptron) -> ClassifierMixin:
    """Return a fitted estimator of scikit-learn that predicts the same."""
    options = {"solver": "sgd", "momentum": 0.0, "nesterovs_momentum": False, "learning_rate": "constant"}
    theirs = take_over(model, MLPClassifier(**options))
    theirs.hidden_layer_sizes = sizes_of(model)
    theirs.tol = 0.0 if model.tol is None else model.tol  # it takes no None
    theirs.coefs_ = [coef.copy(order="C") for coef in model.coefs_]
    theirs.intercepts_ = [intercept.copy() for intercept in model.intercepts_]
    theirs.n_layers_, theirs.n_outputs_, theirs.n_iter_ = model.n_layers_, model.n_outputs_, model.n_iter_
    theirs.out_activation_, theirs.loss_ = model.out_activation_, model.loss_
    theirs.loss_curve_, theirs.best_loss_ = list(model.loss_curve_), min(model.loss_curve_)
    theirs.classes_, theirs.t_ = model.classes_.copy(), 0
    theirs._no_improvement_count = 0
    theirs._label_binarizer = LabelBinarizer().fit(model.classes_)
    return theirs
