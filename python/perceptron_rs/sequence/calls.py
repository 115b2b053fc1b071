"""What a call of ``fit`` or ``partial_fit`` does between its arguments and a run."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs.audit.record import begin_record
from perceptron_rs.common.driver import Report
from perceptron_rs.common.labels import (
    classes_like,
    encode,
    encode_again,
    encode_new,
    label_array,
    new_classes,
)
from perceptron_rs.common.parameters import refuse_early_stopping, refuse_partitions
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.turns import learning
from perceptron_rs.errors import overflow
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.float_mode import standard
from perceptron_rs.sequence.fitting import begin, learn, start_model
from perceptron_rs.sequence.input import flat_labels, in_lists, is_nested, read_sequences

__all__ = ["fit_sequences", "pass_over", "warn_of_interrupt"]

Model = TypeVar("Model", bound=Any)


def fit_sequences(estimator: Model, X: Any, y: Any, lengths: Any, encoder: AttributeEncoder | None) -> Model:
    """Learn in epochs, anew unless ``warm_start`` is set; ``encoder`` has made the rows, if it is given."""
    with learning(estimator) as model, standard():
        model._check_parameters()
        goes_on = begin(model)
        if encoder is not None:
            if goes_on and vars(encoder) != vars(getattr(model, "encoder_", None) or encoder):
                raise ValueError("encoder must be that of the model, encoder_, with warm_start=True")
            vars(model).pop("encoder_", None)  # X is a matrix
        X = in_lists(X)
        data, lengths = read_sequences(model, X, lengths, reset=not goes_on)
        if encoder is not None:
            if encoder.n_columns_ != data.rows.shape[1]:
                raise ValueError(
                    f"encoder has {encoder.n_columns_} columns, but X has {data.rows.shape[1]}; "
                    f"pass the rows that it made"
                )
            model.encoder_ = encoder
        labels = flat_labels(y, lengths) if is_nested(X) else y
        labels = label_array(model, labels, data.rows.shape[0])
        if goes_on:
            labels = encode_again(labels, model.classes_, least=1)
        else:
            model.classes_, labels = encode_new(labels, least=1)
        start = start_model(model, data.rows.shape[1], goes_on=goes_on)
        _learn(model, data, labels, lengths[lengths > 0], start, one_pass=False)
    return estimator


def pass_over(
    estimator: Any, X: Any, y: Any, lengths: Any, classes: Any, *, track_answers: bool = False
) -> tuple[Report, NDArray[np.uint32], NDArray[np.int64]]:
    """Make one pass; return its report, the class indices of the tokens, and the lengths; X is `in_lists`."""
    with learning(estimator) as model, standard():
        model._check_parameters()
        refuse_early_stopping(model.early_stopping)
        refuse_partitions(model.n_partitions)
        first = not hasattr(model, "classes_")
        given = new_classes(classes, model, least=1)
        data, lengths = read_sequences(model, X, lengths, reset=first)
        y = label_array(model, flat_labels(y, lengths) if is_nested(X) else y, data.rows.shape[0])
        if first:
            model.classes_ = classes_like(given, y)
            begin_record(model)
        start = start_model(model, data.rows.shape[1], goes_on=not first)
        labels = encode(y, model.classes_, least=1)
        some = lengths[lengths > 0]
        report = _learn(model, data, labels, some, start, one_pass=True, track_answers=track_answers)
    return report, labels, lengths


def warn_of_interrupt(model: Any, stopped: list[str], *, stacklevel: int) -> None:
    """Warn, on behalf of the caller of a fit, that Ctrl-C has ended it."""
    if stopped == ["interrupt"]:
        warnings.warn(
            f"ctrl-c ended the fit in epoch {model.n_iter_} (counted from 1); "
            f"what was learnt until then is kept",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def _learn(
    model: Any,
    data: Examples,
    labels: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    start: Any,
    **options: bool,
) -> Report:
    try:
        report = learn(model, data, labels, lengths, start, **options)
    except OverflowError as error:
        data.assert_finite(model)
        raise overflow(error) from None
    warn_of_interrupt(model, report.stopped, stacklevel=6)
    return report
