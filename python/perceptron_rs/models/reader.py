"""From a model file to an estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.models.arrays import restore
from perceptron_rs.models.classes import LABELS, classes_from_json
from perceptron_rs.models.container import unpack
from perceptron_rs.models.input import INPUT, Input
from perceptron_rs.models.parameters import checked, parameters_from_json
from perceptron_rs.models.training_record import CALLS, DIGESTS, publish_record
from perceptron_rs.models.values import Tensors

__all__ = ["Known", "read"]

_KEYS = {
    "format_version",
    "arithmetic_version",
    "written_by",
    "estimator",
    "parameters",
    "classes",
    "history",
}
_OPTIONAL = {"feature_names", "column_base", "input", LABELS, CALLS, DIGESTS}


class Known(Protocol):
    """What is known of a learner."""

    @property
    def kind(self) -> Any:
        """The class of the estimator."""


def read(path: str | os.PathLike[str], learners: Mapping[str, Known]) -> tuple[Any, dict[str, Any], Tensors]:
    """Return the estimator in a file, its description and its tensors; ``learners`` are those by name."""
    try:
        document, tensors = unpack(path)
        return _restore(document, tensors, learners), document, tensors
    except ValueError as error:
        raise located(error, f"cannot load {os.fspath(path)!r}: ") from None
    except MemoryError as error:
        reason = str(error) or "there is not enough memory"
        raise MemoryError(f"cannot load {os.fspath(path)!r}: {reason}") from None


def _restore(document: dict[str, Any], tensors: Tensors, learners: Mapping[str, Known]) -> Any:
    if "checkpoint" in document:
        raise ArgumentError(
            "it is a checkpoint of a run, and no model",
            "go on from it by {fit_stream} with {resume}",
            settings={"resume": True},
        )
    _check_arithmetic(document.get("arithmetic_version"))
    missing = _KEYS - set(document)
    if missing:
        raise ValueError(f"its description lacks {min(missing)}; save the model again")
    name = document["estimator"]
    if not isinstance(name, str) or name not in learners:
        raise ValueError(
            f"it holds the estimator {name!r:.80}, and this perceptrons has {', '.join(learners)}; "
            f"install a newer perceptrons"
        )
    kind = learners[name].kind
    unknown = set(document) - _KEYS - _OPTIONAL - kind._schema.document
    if unknown:
        raise ValueError(
            f"its description has the unknown part {min(unknown)!r:.80}; it needs a newer perceptrons"
        )
    estimator = kind(**parameters_from_json(document["parameters"], kind))
    checked(estimator)
    estimator.classes_ = classes_from_json(document["classes"], least=kind._schema.least_classes)
    if LABELS in document:
        if document[LABELS] not in ("dense", "sparse") or not getattr(kind, "_learns_many", False):
            raise ValueError(f"its labels must be dense or sparse, got {document[LABELS]!r:.80}")
        estimator._multilabel = document[LABELS]
    tensors = dict(tensors)
    publish_record(estimator, tensors, document)
    restore(estimator, tensors, document)
    if "feature_names" in document:
        estimator.feature_names_in_ = _feature_names(document["feature_names"], estimator.n_features_in_)
    if "column_base" in document:
        if document["column_base"] not in (0, 1) or type(document["column_base"]) is not int:
            raise ValueError(f"its column_base must be 0 or 1, got {document['column_base']!r:.80}")
        estimator._column_base = document["column_base"]
    if "input" in document:
        setattr(estimator, INPUT, Input.from_json(document["input"], estimator.n_features_in_))
    return estimator


def _check_arithmetic(version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f"its arithmetic version {version!r:.40} is not a version; save the model again")
    if version > ARITHMETIC_VERSION:
        raise ValueError(
            f"it was learnt by version {version} of the arithmetic, and this perceptrons has "
            f"{ARITHMETIC_VERSION}; install a newer perceptrons"
        )
    if version < ARITHMETIC_VERSION:
        warnings.warn(
            f"the model was learnt by version {version} of the arithmetic; predictions, and what is learnt "
            f"from here on, have the bits of version {ARITHMETIC_VERSION}; fit it anew to have one version",
            UserWarning,
            stacklevel=5,
        )


def _feature_names(names: Any, columns: int) -> Any:
    if (
        not isinstance(names, list)
        or len(names) != columns
        or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"its feature names must be a list of {columns} strings")
    return np.array(names, dtype=object)
