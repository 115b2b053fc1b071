"""Model files of older format versions, read as what this version writes.

Version 1: reports of one decision (two classes, or a joint one) had no axis for it; the kernel perceptron
had a parameter ``budget``, and with it wrote the log of mistakes beside what is kept.

Versions 1 and 2 have no record of the training.
"""

from __future__ import annotations

from typing import Any

from perceptron_rs.models.values import Tensors

__all__ = ["updated"]

_REPORTS = ("mistakes_per_epoch", "mistakes_per_example", "validation_scores")
_BUDGET = ("budget", "budget_policy", "projection_distance")
#: Parameters of the kernel perceptron that do not go with a budget.
_WITHOUT_BUDGET = ("prediction", "normalize", "fit_intercept", "added_feature", "cache_size")


def updated(document: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors as a file of the present version would hold them."""
    if document["format_version"] > 1:
        return document, tensors
    tensors = dict(tensors)
    for name in _REPORTS:
        if name in tensors and tensors[name].ndim == 1:
            tensors[name] = tensors[name].reshape(-1, 1)
    parameters = document.get("parameters")
    if document.get("estimator") != "kernel" or not isinstance(parameters, dict):
        return document, tensors
    on_budget = parameters.get("budget") is not None
    gone = _WITHOUT_BUDGET if on_budget else _BUDGET
    document = document | {"parameters": {k: value for k, value in parameters.items() if k not in gone}}
    if on_budget:
        document["estimator"] = "budgeted-kernel"
        derived = {name for name in tensors if name.startswith("vectors_log")} | {"intercept", "norm"}
        tensors = {name: array for name, array in tensors.items() if name not in derived}
    return document, tensors
