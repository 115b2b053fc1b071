"""What a model file holds of what has been learnt: collected, checked, and taken over."""

from __future__ import annotations

from perceptron_rs.engines import State
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.columns import COLUMNS, check_columns, is_by_column, packed, unpacked
from perceptron_rs.schema.schema import History
from perceptron_rs.state.fixed_parameters import check_fixed_parameters, fixed_parameters


def contents_of(model: Predictor) -> tuple[State, dict[str, object]]:
    """Return the arrays of a fit, and the parts of a file's description that say what has been learnt.

    ValueError if they are not those of a fit.
    """
    check_fixed_parameters(model)
    try:
        state, history = model._packed(), model._schema.history(model)
        few = {COLUMNS: state[COLUMNS]} if COLUMNS in state else {}
        arrays = packed(model._schema.values(model, state) | few, history.get("n_features"))
        _sound(model, arrays, history)
    except ValueError as error:
        raise ValueError(f"{error}; fit again before saving") from None
    return arrays, {"history": history, **model._document()}


def restore(model: Predictor, tensors: State, document: dict[str, object]) -> None:
    """Take over what `contents_of` of another with these ``classes_`` returned; ValueError if unsound."""
    schema = model._schema
    arrays, history = _sound(model, tensors, document["history"])
    if not model._takes_packed:
        arrays = unpacked(arrays)
    for name, place in schema.counts.items():
        setattr(model, place, history[name])
    if schema.converges:
        model.converged_ = bool(history["converged"])
    state: State = {COLUMNS: arrays[COLUMNS]} if COLUMNS in arrays else {}
    for part in schema.parts_of(model):
        if part.attribute:
            part.put(model, arrays)
        else:
            state |= part.of(arrays)
    model._set_state(state)
    model._restored(arrays, document)
    model._fixed_values = fixed_parameters(model)


def _sound(model: Predictor, tensors: State, history: object) -> tuple[State, History]:
    """Return the arrays and the history; ValueError unless they agree as after a fit."""
    history = model._schema.checked_history(history)
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
    return arrays, history
