"""The multilayer perceptron in a model file: weights and intercepts of each layer, losses and mistakes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.models.taken import refuse_left, take, take_counts, take_scores
from perceptron_rs.models.values import Tensors, is_count
from perceptron_rs.multilayer.network import report_mistakes, sizes_of

__all__ = ["OWN_PARTS", "collect", "publish"]

#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset()


_COUNTERS = {"n_iter": "n_iter_", "epochs": "_n_epochs", "n_features": "n_features_in_"}


def collect(estimator: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that only it has."""
    check_terms(estimator)
    tensors: Tensors = {"loss_curve": np.array(estimator.loss_curve_, dtype=np.float64)}
    if hasattr(estimator, "mistakes_per_epoch_"):  # not if it is from a file of version 1
        tensors["mistakes_per_epoch"] = np.ascontiguousarray(estimator.mistakes_per_epoch_, dtype=np.int64)
    if "validation_scores_" in vars(estimator):
        tensors["validation_scores"] = np.array(estimator.validation_scores_, dtype=np.float64)
    for name in ("coefs", "intercepts"):
        for number, array in enumerate(getattr(estimator, f"{name}_")):
            tensors[f"{name}_{number}"] = np.ascontiguousarray(array, dtype=np.float64)
    history = {name: int(getattr(estimator, place)) for name, place in _COUNTERS.items()}
    _check(estimator, tensors, history)
    return tensors, {"history": history}


def publish(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    history = document["history"]
    layers = _check(estimator, tensors, history)
    estimator.n_outputs_ = _outputs(estimator)
    estimator.out_activation_ = "logistic" if estimator.n_outputs_ == 1 else "softmax"
    estimator.n_layers_ = layers + 1
    estimator._terms = terms(estimator)
    state: Tensors = {}
    for number in range(layers):
        state[f"coef_{number}"] = tensors[f"coefs_{number}"].T
        state[f"intercept_{number}"] = tensors[f"intercepts_{number}"]
    estimator._publish(state)
    estimator.loss_curve_ = tensors["loss_curve"].tolist()
    estimator.loss_ = estimator.loss_curve_[-1]
    if "mistakes_per_epoch" in tensors:
        report_mistakes(estimator, tensors["mistakes_per_epoch"])
    for name, attribute in _COUNTERS.items():
        setattr(estimator, attribute, history[name])
    vars(estimator).update(take_scores(dict(tensors), (history["n_iter"], 1)))


def _outputs(estimator: Any) -> int:
    classes = len(estimator.classes_)
    return 1 if classes == 2 else classes


def _check(estimator: Any, tensors: Tensors, history: Any) -> int:
    """Return the number of layers of weights; ValueError unless all agrees as after a fit."""
    if not isinstance(history, dict) or set(history) != set(_COUNTERS):
        raise ValueError(f"the history must hold {', '.join(_COUNTERS)}")
    if not all(is_count(count) for count in history.values()) or history["n_features"] < 1:
        raise ValueError("the history must hold counts of at most 2**53, and one feature or more")
    left = dict(tensors)
    sizes = (history["n_features"], *sizes_of(estimator), _outputs(estimator))
    for number, (before, after) in enumerate(pairwise(sizes)):
        take(left, f"coefs_{number}", np.float64, (before, after))
        take(left, f"intercepts_{number}", np.float64, (after,))
    if history["n_iter"] < 1 or (take(left, "loss_curve", np.float64, (history["n_iter"],)) < 0).any():
        raise ValueError("the tensor loss_curve must hold a loss of 0 or more for each epoch")
    if "mistakes_per_epoch" in left:
        take_counts(left, "mistakes_per_epoch", (history["n_iter"], 1))
    take_scores(left, (history["n_iter"], 1))
    refuse_left(left)
    return len(sizes) - 1
