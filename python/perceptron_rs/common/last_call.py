"""What the last call of an estimator did: attributes that describe a fit, or a pass.

The model that learnt in a pass has its report, so that the model and the report change in one
step. What a fit did stands in the attributes of the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptron_rs.audit import RECORD

__all__ = ["OF_PASS", "canonical_strides", "own_attributes"]

#: What a pass says of itself, by the attribute of the estimator; None, or no function: nothing.
OF_PASS: dict[str, Callable[[Any], Any] | None] = {
    "n_iter_": lambda told: 1,  # noqa: ARG005
    "n_iter_per_class_": lambda told: told.n_iter,
    "n_mistakes_": lambda told: told.n_mistakes,
    "mistakes_per_epoch_": lambda told: told.mistakes,
    "mistakes_per_example_": lambda told: told.mistakes_per_example,
    "converged_": lambda told: told.n_mistakes == 0,
    RECORD: lambda told: told.note,
    "loss_curve_": None,
    "validation_scores_": None,
    "_as_sparse": None,  # a pass makes weights dense
}


def own_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes for another estimator: with a model of its own that has nothing to tell."""
    known = attributes.copy()
    model = known.get("_model")
    if model is None:
        return known
    model = model.copy()
    told, known["_model"] = model.told, model.copy(told=False)
    if told is not None:
        for name, of_pass in OF_PASS.items():
            known.pop(name, None)
            if of_pass is not None and (value := of_pass(told)) is not None:
                known[name] = value
    return known


def canonical_strides(value: object) -> Any:
    """Return arrays in C order with the strides that go with it, as what hashes and stores arrays expects."""
    if isinstance(value, dict):
        return {name: canonical_strides(part) for name, part in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    return np.ascontiguousarray(value).reshape(-1).reshape(value.shape)
