"""Model files of older format versions, read as what this version writes.

Version 1: reports of one decision (two classes, or a joint one) had no axis for it; the kernel perceptron
had a parameter ``budget``, and with it wrote the log of mistakes beside what is kept.

Versions 1 and 2 have no record of the training.
Before version 4, some parameters had other names.
"""

from __future__ import annotations

from typing import Any

from perceptron_rs.models.values import Tensors

__all__ = ["updated"]

_REPORTS = ("mistakes_per_epoch", "mistakes_per_example", "validation_scores")
_BUDGET = ("budget", "budget_policy", "projection_distance")
#: Parameters of the kernel perceptron that do not go with a budget.
_WITHOUT_BUDGET = ("prediction", "normalize", "fit_intercept", "added_feature", "cache_size")
_NOISE = {"update": "joint_update", "margin": "margin_threshold"}
#: Names before version 4 and since, of the parameters of each learner.
_RENAMED = dict.fromkeys(("perceptron", "averaged", "voted", "kernel", "budgeted-kernel"), _NOISE) | {
    "max-margin": {"budget": "max_steps"}
}


def updated(document: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors as a file of the present version would hold them."""
    if document["format_version"] > 3:
        return document, tensors
    if document["format_version"] == 1:
        document, tensors = _of_version_1(document, tensors)
    names = _RENAMED.get(str(document.get("estimator")), {})
    document = _renamed(document, names)
    calls = document.get("calls")
    if isinstance(calls, list):
        document["calls"] = [_renamed(call, names) if isinstance(call, dict) else call for call in calls]
    return document, tensors


def _renamed(description: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return a description whose parameters have their present names."""
    parameters = description.get("parameters")
    if not isinstance(parameters, dict):
        return dict(description)
    return description | {"parameters": {names.get(name, name): v for name, v in parameters.items()}}


def _of_version_1(document: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return what a file of version 1 holds as one of version 2 would."""
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
