"""From a model file to an estimator."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.models.arrays import restore
from perceptron_rs.models.classes import classes_from_json
from perceptron_rs.models.container import unpack
from perceptron_rs.models.input import INPUT, Input
from perceptron_rs.models.parameters import checked, parameters_from_json
from perceptron_rs.models.recorded import CALLS, DIGESTS, publish_record
from perceptron_rs.models.values import Tensors
from perceptron_rs.registry import LEARNERS

__all__ = ["describe", "load"]

_KEYS = {
    "format_version",
    "arithmetic_version",
    "written_by",
    "estimator",
    "parameters",
    "classes",
    "history",
}
_OPTIONAL = {"feature_names", "column_base", "input", CALLS, DIGESTS}


def load(path: str | os.PathLike[str]) -> Any:
    """Load an estimator from a file written by its ``save`` method.

    It predicts the same bits as the saved estimator, and ``partial_fit``, or ``fit`` with ``warm_start``,
    continues with the same bits. Unlike with a pickle, no code from the file is run. A file that is
    truncated, corrupted or inconsistent is rejected.

    Parameters
    ----------
    path : str or path object
        The file.

    Returns
    -------
    estimator : Perceptron, AveragedPerceptron, SequencePerceptron, ...
        Fitted estimator of the class that was saved. A ``callback`` is not stored in files, and is None.
        Classes that are strings have the width of the longest one.

    Raises
    ------
    ValueError
        If the file is not a model file, is corrupted, or needs a newer version of perceptrons.
    OSError
        If the file cannot be read. `FileNotFoundError` if it does not exist.
    MemoryError
        If the model does not fit into memory.

    Warns
    -----
    UserWarning
        If the model was learnt with an older version of the arithmetic. It predicts and continues training
        with the current one.

    See Also
    --------
    Perceptron.save : Write such a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import perceptron_rs
    >>> model = perceptron_rs.Perceptron().fit([[1, 0], [0, 1]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.safetensors")
    ...     again = perceptron_rs.load(Path(folder) / "model.safetensors")
    >>> again
    Perceptron()
    >>> again.predict([[0, 2]])
    array(['spam'], dtype='<U4')
    """
    return _load(path)[0]


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description in a model file, with the type and shape of each array.

    Parameters
    ----------
    path : str or path object
        The file.

    Returns
    -------
    description : dict
        ``format_version`` (of the file; what follows is as the present version writes it),
        ``arithmetic_version``, ``written_by``, ``estimator`` (its name in the
        registry of learners), ``parameters``, ``classes``, ``history``, ``tensors`` and perhaps
        ``feature_names``, ``column_base`` (the number of the first column in an svmlight file),
        ``input`` (how the command line made the columns of the data) and ``calls`` and ``digests`` (the
        record of the training, see :doc:`/guide/audits`), as in JSON.

    Raises
    ------
    ValueError
        If the file is not a model file, is corrupted, or needs a newer version of perceptrons.
    OSError
        If the file cannot be read.
    """
    _, document, tensors = _load(path)
    shapes = {name: [array.dtype.name, list(array.shape)] for name, array in tensors.items()}
    return document | {"tensors": shapes}


def _load(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any], Tensors]:
    try:
        document, tensors = unpack(path)
        return _restore(document, tensors), document, tensors
    except ValueError as error:
        raise located(error, f"cannot load {os.fspath(path)!r}: ") from None
    except MemoryError as error:
        reason = str(error) or "there is not enough memory"
        raise MemoryError(f"cannot load {os.fspath(path)!r}: {reason}") from None


def _restore(document: dict[str, Any], tensors: Tensors) -> Any:
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
    if not isinstance(name, str) or name not in LEARNERS:
        raise ValueError(
            f"it holds the estimator {name!r:.80}, and this perceptrons has {', '.join(LEARNERS)}; "
            f"install a newer perceptrons"
        )
    learner = LEARNERS[name]
    kind = learner.kind
    unknown = set(document) - _KEYS - _OPTIONAL - kind._schema.document
    if unknown:
        raise ValueError(
            f"its description has the unknown part {min(unknown)!r:.80}; it needs a newer perceptrons"
        )
    estimator = kind(**parameters_from_json(document["parameters"], kind))
    checked(estimator)
    estimator.classes_ = classes_from_json(document["classes"], least=kind._schema.least_classes)
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
