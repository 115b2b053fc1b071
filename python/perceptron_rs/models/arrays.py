"""The arrays and counts of a learner in a model file, as its schema says."""

from __future__ import annotations

from typing import Any

from perceptron_rs.common.columns import COLUMNS, check_columns, is_by_column, packed, unpacked
from perceptron_rs.common.fixed_parameters import check_fixed_parameters, fixed_parameters
from perceptron_rs.common.schema import History, SchemaMixin
from perceptron_rs.engines import State

__all__ = ["collect", "restore"]


def collect(model: SchemaMixin) -> tuple[State, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that say what it has learnt.

    ValueError if they are not those of a fit.
    """
    check_fixed_parameters(model)
    try:
        state, history = model._packed(), model._schema.history(model)
        few = {COLUMNS: state[COLUMNS]} if COLUMNS in state else {}
        arrays = packed(model._schema.values(model, state) | few, history.get("n_features"))
        _checked(model, arrays, history)
    except ValueError as error:
        raise ValueError(f"{error}; fit again before saving") from None
    return arrays, {"history": history, **model._document()}


def restore(model: SchemaMixin, tensors: State, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    schema, history = model._schema, document["history"]
    arrays = _checked(model, tensors, history)
    if not model._takes_packed:
        arrays = unpacked(arrays)
    for name, place in schema.counts.items():
        setattr(model, place, history[name])
    if schema.converges:
        model.converged_ = history["converged"]
    state: State = {COLUMNS: arrays[COLUMNS]} if COLUMNS in arrays else {}
    for part in schema.parts_of(model):
        if part.attribute:
            part.put(model, arrays)
        else:
            state |= part.of(arrays)
    model._set_state(state)
    model._restored(arrays, document)
    model._fixed_values = fixed_parameters(model)


def _checked(model: SchemaMixin, tensors: State, history: History) -> State:
    """Return the arrays; ValueError unless they and the history agree as after a fit."""
    model._schema.check_history(history)
    sizes, tensors = model._sizes(history), dict(tensors)
    columns = tensors.pop(COLUMNS, None)
    few: State = {}
    if columns is not None:
        every = check_columns(columns)
        if every != sizes.get("d"):
            raise ValueError(
                f"the tensor {COLUMNS} ends with {every}, but the model has {sizes.get('d')} columns"
            )
        sizes[COLUMNS], few = len(columns) - 1, {COLUMNS: columns}
    arrays = model._schema.take(model, tensors, sizes) | few
    if few and not any(is_by_column(name, array) for name, array in arrays.items()):
        raise ValueError(f"the tensor {COLUMNS} is of weights, of which there are none")
    model._check_arrays(arrays, history)
    return arrays
