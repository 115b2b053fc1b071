"""The arrays and counts of a learner in a model file, as its schema says."""

from __future__ import annotations

from typing import Any

from perceptron_rs.common.fixed_parameters import check_terms, terms
from perceptron_rs.common.schema import History, SchemaMixin
from perceptron_rs.engines import State

__all__ = ["collect", "restore"]


def collect(model: SchemaMixin) -> tuple[State, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that say what it has learnt.

    ValueError if they are not those of a fit.
    """
    check_terms(model)
    try:
        arrays, history = model._schema.values(model), model._schema.history(model)
        _checked(model, arrays, history)
    except ValueError as error:
        raise ValueError(f"{error}; fit again before saving") from None
    return arrays, {"history": history, **model._document()}


def restore(model: SchemaMixin, tensors: State, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    schema, history = model._schema, document["history"]
    arrays = _checked(model, tensors, history)
    for name, place in schema.counts.items():
        setattr(model, place, history[name])
    if schema.converges:
        model.converged_ = history["converged"]
    state: State = {}
    for part in schema.parts_of(model):
        if part.attribute:
            part.put(model, arrays)
        else:
            state |= part.of(arrays)
    model._set_state(state)
    model._restored(arrays, document)
    model._terms = terms(model)


def _checked(model: SchemaMixin, tensors: State, history: History) -> State:
    """Return the arrays; ValueError unless they and the history agree as after a fit."""
    model._schema.check_history(history)
    arrays = model._schema.take(model, tensors, model._sizes(history))
    model._check_arrays(arrays, history)
    return arrays
