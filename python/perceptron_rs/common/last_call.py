"""What the last call of an estimator did: attributes that describe a fit, or a pass.

The model that learnt in a pass has its report, so that the model and the report change in one
step. What a fit did stands in the attributes of the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptron_rs.audit import RECORD
from perceptron_rs.state import State

__all__ = ["OF_PASS", "canonical_strides", "own_attributes"]

#: What a pass says of itself, by the attribute of the estimator; None, or no function: nothing.
OF_PASS: dict[str, Callable[[Any], Any] | None] = {
    "n_iter_": lambda last_pass: 1,  # noqa: ARG005
    "n_iter_per_class_": lambda last_pass: last_pass.n_iter,
    "n_mistakes_": lambda last_pass: last_pass.n_mistakes,
    "mistakes_per_epoch_": lambda last_pass: last_pass.mistakes,
    "mistakes_per_example_": lambda last_pass: last_pass.mistakes_per_example,
    "converged_": lambda last_pass: last_pass.n_mistakes == 0,
    RECORD: lambda last_pass: last_pass.note,
    "loss_curve_": None,
    "validation_scores_": None,
    "_as_sparse": None,  # a pass makes weights dense
}


def own_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes for another estimator: with a model of its own that has no last pass."""
    known = attributes.copy()
    model = known.get("_model")
    if model is None:
        return known
    model = model.copy()
    last_pass, known["_model"] = model.last_pass, model.copy(last_pass=False)
    if last_pass is not None:
        for name, of_pass in OF_PASS.items():
            known.pop(name, None)
            if of_pass is not None and (value := of_pass(last_pass)) is not None:
                known[name] = value
    return known


def canonical_strides(state: State) -> State:
    """Return arrays in C order with the strides that go with it, as what hashes and stores arrays expects."""
    return {
        name: np.ascontiguousarray(array).reshape(-1).reshape(array.shape) for name, array in state.items()
    }
