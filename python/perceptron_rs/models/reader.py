"""From a model file to an estimator, or to what predicts of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.estimator_attributes import parameter_names
from perceptron_rs.models.container import unpack
from perceptron_rs.models.contents import restore
from perceptron_rs.models.document import CALIBRATION, LABELS, NEEDED, OPTIONAL, START, Tensors, widened
from perceptron_rs.models.files import ModelSource, file_name
from perceptron_rs.models.values import (
    all_parameters,
    calibration_from_json,
    checked,
    classes_from_json,
    parameters_from_json,
)
from perceptron_rs.parameters.exclusions import check_exclusions
from perceptron_rs.schema.schema import is_count
from perceptron_rs.state.turns import change
from perceptron_rs.targets.planes import learns_many

if TYPE_CHECKING:
    from perceptron_rs.parameters.groups import Parameters
    from perceptron_rs.prediction.estimator import Estimator
    from perceptron_rs.prediction.predictor import Predictor


class Known(Protocol):
    """What is known of a learner."""

    @property
    def class_name(self) -> str:
        """The name of the class of the estimator."""

    @property
    def kind(self) -> type[Estimator]:
        """The class of the estimator."""

    @property
    def predictor(self) -> type[Predictor]:
        """The class of what predicts alone."""

    @property
    def parameters(self) -> type[Parameters]:
        """The dataclass of its parameters."""


def read_estimator(
    path: ModelSource, learners: Mapping[str, Known]
) -> tuple[Estimator, dict[str, object], Tensors]:
    """Return the estimator in a file, its description and its tensors; ``learners`` are those by name."""
    from perceptron_rs.models.training_record import publish_record  # what only predicts has no use for it

    with _loading(path):
        document, tensors = unpack(path)
        learner = _learner_of(document, learners)
        kind = learner.kind
        names = parameter_names(kind)
        estimator = kind(**parameters_from_json(document["parameters"], names, learner.class_name))
        checked(estimator)
        left = dict(widened(document, tensors))
        publish_record(estimator, left, document)
        _restore(estimator, document, left)
        return estimator, document, tensors


def read_predictor(
    path: ModelSource, learners: Mapping[str, Known], *, engine: str, n_jobs: int | None
) -> Predictor:
    """Return what predicts of the estimator in a file."""
    with _loading(path):
        document, tensors = unpack(path)
        learner = _learner_of(document, learners)
        predictor = learner.predictor()
        vars(predictor).update(all_parameters(learner.parameters, document["parameters"], learner.class_name))
        check_exclusions(predictor, learner.parameters)
        vars(predictor).update(engine=engine, n_jobs=n_jobs)
        predictor._check_prediction()
        left = widened(document, tensors)
        _restore(predictor, document, {name: left[name] for name in left if not name.startswith(START)})
        return predictor


@contextmanager
def _loading(path: ModelSource) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except ValueError as error:
        raise located(error, f"cannot load {file_name(path)}: ") from None
    except MemoryError as error:
        reason = str(error) or "there is not enough memory"
        raise MemoryError(f"cannot load {file_name(path)}: {reason}") from None


def _learner_of(document: dict[str, object], learners: Mapping[str, Known]) -> Known:
    """Return the learner that a description names; ValueError if it is not one of an estimator."""
    if "checkpoint" in document:
        raise ArgumentError(
            "it is a checkpoint of a run, and no model",
            "go on from it by {fit_stream} with {resume}",
            settings={"resume": True},
        )
    _check_arithmetic(document.get("arithmetic_version"))
    missing = NEEDED - set(document)
    if missing:
        raise ValueError(f"its description lacks {min(missing)}; save the model again")
    name = document["estimator"]
    if not isinstance(name, str) or name not in learners:
        raise ValueError(
            f"it holds the estimator {name!r:.80}, and this perceptrons has {', '.join(learners)}; "
            f"install a newer perceptrons"
        )
    unknown = set(document) - NEEDED - OPTIONAL - learners[name].predictor._schema.document
    if unknown:
        raise ValueError(
            f"its description has the unknown part {min(unknown)!r:.80}; it needs a newer perceptrons"
        )
    return learners[name]


def _restore(model: Predictor, document: dict[str, object], tensors: Tensors) -> None:
    """Put what a file holds on an estimator, or a predictor, with its parameters; ValueError if unsound."""
    model.classes_ = classes_from_json(document["classes"], least=model._schema.least_classes)
    if LABELS in document:
        labels = document[LABELS]
        if not isinstance(labels, str) or labels not in ("dense", "sparse") or not learns_many(model):
            raise ValueError(f"its labels must be dense or sparse, got {labels!r:.80}")
        change(model, label_matrix=labels)
    recipe = None
    if "input" in document:
        from perceptron_rs.recipe.document import recipe_from_json

        history = document["history"]
        columns: Any = history.get("n_features") if isinstance(history, dict) else None
        if not is_count(columns):
            raise ValueError("the history must hold n_features")
        recipe = recipe_from_json(document["input"], columns, tensors)
    calibration = None
    if CALIBRATION in document:
        calibration = calibration_from_json(document[CALIBRATION], model, tensors)
    restore(model, tensors, document)
    if calibration is not None:
        change(model, calibration=calibration)
    if "feature_names" in document:
        model.feature_names_in_ = _feature_names(document["feature_names"], model.n_features_in_)
    if "column_base" in document:
        if document["column_base"] not in (0, 1) or type(document["column_base"]) is not int:
            raise ValueError(f"its column_base must be 0 or 1, got {document['column_base']!r:.80}")
        model._column_base = document["column_base"]
    if recipe is not None:
        model.recipe_ = recipe


def _check_arithmetic(version: object) -> None:
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


def _feature_names(names: object, columns: int) -> NDArray[np.generic]:
    if (
        not isinstance(names, list)
        or len(names) != columns
        or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"its feature names must be a list of {columns} strings")
    return np.array(names, dtype=object)
