"""All that an estimator has learnt, by name: to compare two of them, and to digest one."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.models.container import content_digest
from perceptron_rs.models.document import json_scalar, json_text
from perceptron_rs.models.values import calibration_tensors, calibration_to_json, classes_to_json
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.schema.columns import Spread
from perceptron_rs.schema.schema import Array, StoredExamples
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.targets.planes import is_multilabel

Arrays: TypeAlias = dict[str, NDArray[Any]]


def digest(model: Predictor) -> str:
    """Return the SHA-256 of all that the predictions of a model depend on.

    Digested are names, types, shapes and bits of all that was learnt: weights, intercepts, averages, the
    vectors of a vote, stored rows. So are the parameters that predicting reads: ``kernel`` with its settled
    ``gamma``, ``prediction``, ``tie``, ``activation``, ``decode``, ... The digest also covers the classes
    with the kind of their type, and the names of features. It covers how attributes or columns are made of
    data: encoder, template, hashing, scaling. Models that differ in any of these have different digests.

    The digest does not depend on the engine, the number of threads, the machine, or how examples and weights
    are stored (dense, sparse, after ``sparsify``). It leaves out how training went (epochs, mistakes,
    losses) and the parameters that only training reads. So a line in a log is enough to see whether a fit
    came out as it did elsewhere. ``ARITHMETIC.md`` says which bytes are digested.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If the estimator is not one of this package.
    ValueError
        If predictions depend on a function (a ``kernel``, an ``inference``) that cannot be imported by a
        name. Of other functions the name is digested, and not what they do.

    See Also
    --------
    reproduce : Trains a model again, and compares all of this.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, digest
    >>> X, y = [[1, 0], [0, 3]], ["ham", "spam"]
    >>> digest(Perceptron().fit(X, y)) == digest(Perceptron(engine="reference").fit(X, y))
    True
    >>> digest(Perceptron().fit(X, y)) == digest(Perceptron().fit(X, ["spam", "ham"]))
    False
    """
    return learnt_arrays(model).digest


@dataclass(frozen=True, slots=True)
class LearntArrays:
    """What the predictions of a model depend on.

    Parameters
    ----------
    numbers : dict of str to ndarray
        What was learnt; of stored rows their digests, which do not depend on how they are stored. Weights may
        be a `Spread`.
    settings : dict
        Classes, names, and the parameters that predicting reads, as JSON holds them; or functions.
    """

    numbers: dict[str, Any]
    settings: dict[str, object]

    @property
    def digest(self) -> str:
        """SHA-256 of all of it; ValueError if there is a function that has no name."""
        settings = {name: _qualified_name(name, value) for name, value in self.settings.items()}
        numbers = {name: _in_use(array) for name, array in self.numbers.items()}
        return content_digest(json_text(settings), numbers, _stored)


def learnt_arrays(model: Predictor) -> LearntArrays:
    """Return what the predictions of a fitted estimator depend on."""
    if not isinstance(model, Predictor):
        raise TypeError(
            f"model must be an estimator of this package, got {type(model).__name__}; of a pipeline, pass "
            f"its last step"
        )
    check_is_fitted(model)
    predicts = model._prediction_arrays()
    numbers = _compared(model, predicts=True, but=predicts) | predicts
    recipe = learnt_recipe(model)
    if recipe is not None:
        numbers |= recipe.numbers()
    numbers |= calibration_tensors(model)
    settings = model._prediction_parameters() | _of_data(model)
    if (calibration := calibration_to_json(model)) is not None:
        settings["calibration_"] = calibration
    return LearntArrays(
        {name: array if isinstance(array, Spread) else np.asarray(array) for name, array in numbers.items()},
        {
            name: value if callable(value) or isinstance(value, dict | list) else json_scalar(value)
            for name, value in settings.items()
        },
    )


def _compared(model: Predictor, *, predicts: bool, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the arrays that predict, or the others, in the form in which two trainings are compared."""
    arrays: dict[str, Any] = {}
    parts = [
        part
        for part in model._schema.parts_of(model)
        if (predicts if isinstance(part, StoredExamples) else part.compared and part.predicts == predicts)
        and part.title not in but
    ]
    # To settle penalties and copy all weights takes longer than to digest few.
    names = {part.name for part in parts if isinstance(part, Array) and not part.attribute}
    state = {} if all(part.attribute for part in parts) else model._settled_state(names)
    for part in parts:
        own = part.values(model, state)
        if not isinstance(part, StoredExamples):
            arrays |= {part.title: array for array in own.values()}  # noqa: B035  one array, or none
        elif own:
            arrays[part.title] = part.digests(state | own, model.n_features_in_)
    return arrays


def _of_data(model: Predictor) -> dict[str, object]:
    """Return how data becomes columns, and indices become labels."""
    known = flat(model)
    names = ("n_features_in_", "template_", "_column_base")
    facts: dict[str, object] = {name: known[name] for name in names if name in known}
    if "classes_" in known:
        try:
            described = classes_to_json(model.classes_)
            # Objects are one way to store strings: a stream, or a cluster, makes `str` of the same labels.
            facts["classes_"] = described | ({"type": "str"} if described["type"] == "object" else {})
        except ValueError:  # of a type that files do not hold
            labels = np.asarray(model.classes_)
            facts["classes_"] = {"type": labels.dtype.str, "values": [repr(label) for label in labels]}
    if is_multilabel(model):
        facts["multilabel_"] = True
    if "feature_names_in_" in known:
        facts["feature_names_in_"] = [str(name) for name in known["feature_names_in_"]]
    if "encoder_" in known:
        encoder: AttributeEncoder = known["encoder_"]
        facts["encoder_"] = {
            "hashed": encoder.n_columns is not None,
            "n_columns": int(encoder.n_columns_),
            "vocabulary": {name: int(column) for name, column in encoder.vocabulary_.items()},
        }
    if "recipe_" in known:  # the share that was held out changes no prediction
        recipe = known["recipe_"].to_json()
        left = (
            ("holdout", "calibration") if recipe["text"] else ("holdout", "calibration", "text")
        )  # of data that is no text, nothing is said
        facts["_input"] = {name: value for name, value in recipe.items() if name not in left}
    return facts


def _in_use(array: NDArray[np.generic] | Spread) -> NDArray[np.generic] | Spread:
    """Return a matrix of floats without its columns of zeros, if it has any."""
    if not isinstance(array, Spread) and (array.ndim != 2 or array.dtype.kind != "f"):
        return array
    used = Spread.of(array)
    return used if len(used.columns) <= used.shape[1] else used.few


def _stored(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return numbers in the type that they are digested in; -0.0, which sparse weights have not, as 0.0."""
    if array.dtype.kind == "f":
        return array.astype(np.float64, copy=False) + 0.0
    return array.astype(np.int64) if array.dtype.kind in "bi" else array


def _qualified_name(name: str, value: object) -> object:
    """Return a function as the name that it can be imported by."""
    if not callable(value):
        return value
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    kind: Any = sys.modules.get(str(module))
    for part in path.split("."):
        kind = getattr(kind, part, None)
    if kind is not value:
        raise ValueError(
            f"{name} is {value!r:.80}, which a digest cannot name; define it by def in a module, and not "
            f"within a function"
        )
    return f"{module}:{path}"


def arrays(model: Predictor) -> Arrays:
    """Return what predictions depend on, all else in the schema, and the other attributes of a fit."""
    learnt = learnt_arrays(model)
    known = {name: _setting_object(value) for name, value in learnt.settings.items()}
    numbers = _compared(model, predicts=False) | learnt.numbers
    known |= {name: np.asarray(array) for name, array in numbers.items()}
    others = {name: value for name, value in flat(model).items() if name.endswith("_")}
    return {name: _shown_array(value) for name, value in others.items() if name not in known} | known


def _setting_object(value: object) -> NDArray[np.generic]:
    """Return a setting as an array of one object: a function, or a JSON text."""
    array = np.empty((), dtype=object)
    array[()] = value if callable(value) else json_text(value)
    return array


def _shown_array(value: object) -> NDArray[np.generic]:
    if not isinstance(value, list):
        return np.asarray(value)
    parts = [part.to_dict() if hasattr(part, "to_dict") else part for part in value]
    if parts and isinstance(parts[0], dict):  # of `MarginResult`; all digits of a float are in its text
        return np.array([json.dumps(part, sort_keys=True) for part in parts])
    return np.concatenate([np.ravel(part) for part in parts])


def difference(a: object, expected: Arrays | str, b: object, answered: Arrays | str) -> str | None:
    """Return in words the first difference between two answers; None if there is none."""
    where = f"[{a}] and [{b}] differ"
    if isinstance(expected, str) or isinstance(answered, str):
        if expected == answered:
            return None
        shown = [value if isinstance(value, str) else "a fitted model" for value in (expected, answered)]
        return f"{where}: {shown[0]!r} != {shown[1]!r}"
    if expected.keys() != answered.keys():
        alone = [sorted(a.keys() - b.keys()) for a, b in ((expected, answered), (answered, expected))]
        return f"{where} in their attributes: {alone[0]} != {alone[1]}"
    for name, left in expected.items():
        right = answered[name]
        if (left.dtype, left.shape) != (right.dtype, right.shape):
            return f"{where} in {name}: {left.dtype} {left.shape} != {right.dtype} {right.shape}"
        if left.size == 0:
            continue
        if left.dtype.kind == "O":
            different = left != right
        else:
            bits = [np.frombuffer(np.asarray(side).tobytes(), dtype=np.uint8) for side in (left, right)]
            different = (bits[0] != bits[1]).reshape(*left.shape, -1).any(axis=-1)
        if np.any(different):
            index = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(different)))
            values = [_shown_value(np.atleast_1d(side)[index]) for side in (left, right)]
            place = f" at index {index}" if left.shape else ""
            return f"{where} in {name}{place}: {values[0]} != {values[1]}"
    return None


def _shown_value(value: object) -> str:
    if isinstance(value, str):
        return f"{value:.80}"
    if isinstance(value, np.floating):
        return float(value).hex()
    return repr(value.item() if isinstance(value, np.generic) else value)
