"""From an estimator to a model file."""

from __future__ import annotations

import os

import numpy as np

from perceptron_rs._core import ARITHMETIC_VERSION, __version__
from perceptron_rs.common.owner import Fitted
from perceptron_rs.common.schema import name_of
from perceptron_rs.common.targets.planes import is_multilabel, label_matrix
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.models.classes import classes_to_json
from perceptron_rs.models.container import pack
from perceptron_rs.models.description import LABELS, base_of, input_of
from perceptron_rs.models.files import path_of, write_whole
from perceptron_rs.models.parameters import checked, parameters_to_json
from perceptron_rs.models.training_record import collect_record
from perceptron_rs.models.values import json_scalar
from perceptron_rs.sklearn_base import check_is_fitted

__all__ = ["save"]


def save(estimator: object, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator to a file that `load` reads.

    The same as ``estimator.save(path)``.
    """
    path_of(path)
    write_whole(path, _bytes_of(estimator))


def _bytes_of(estimator: object) -> bytes:
    name = name_of(estimator)
    if name is None or not isinstance(estimator, Fitted):
        kind = type(estimator)
        known = next((base.__name__ for base in kind.__mro__ if "_schema" in vars(base)), "")
        raise ValueError(
            f"{kind.__name__} is not one of the learners that a model file can hold; pickle it"
            + (f", or save a {known}" if known and known != kind.__name__ else "")
        )
    check_is_fitted(estimator)
    parameters = parameters_to_json(estimator)
    checked(estimator)
    tensors, parts = estimator._collect()
    started, record = collect_record(estimator)
    document = {
        "arithmetic_version": ARITHMETIC_VERSION,
        "written_by": f"perceptrons {__version__}",
        "estimator": name,
        "parameters": parameters,
        "classes": classes_to_json(estimator.classes_),
        **parts,
        **record,
    }
    if is_multilabel(estimator):
        document[LABELS] = label_matrix(estimator)
    names = feature_names(estimator)
    if names is not None:
        document["feature_names"] = [json_scalar(name) for name in np.asarray(names).tolist()]
    base, how = base_of(estimator), input_of(estimator)
    if base is not None:
        document["column_base"] = base
    if how is not None:
        document["input"] = how.to_json()
        started = started | how.tensors()
    return pack(document, tensors | started)
