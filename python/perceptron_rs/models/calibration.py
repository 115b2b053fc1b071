"""The calibration of a classifier as a part of model files: two vectors and a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.choices import CalibrationMethod, words
from perceptron_rs.models.document import Tensors
from perceptron_rs.prediction.predictor import Classifier
from perceptron_rs.probabilities import Calibration
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.targets.planes import is_multilabel

if TYPE_CHECKING:
    from perceptron_rs.prediction.predictor import Predictor

#: What the names of the tensors begin with.
_START = "calibration_"
_SCORES = {"prediction": str, "normalize": bool, "tie": str}


def calibration_to_json(model: Predictor) -> dict[str, object] | None:
    """Return what a file says of the calibration of a model, but for its numbers; None if there is none."""
    calibration = learnt_of(model).calibration
    return None if calibration is None else {"method": calibration.method, "scores": dict(calibration.scores)}


def calibration_tensors(model: Predictor) -> Tensors:
    """Return its numbers."""
    fitted = learnt_of(model).calibration
    return {} if fitted is None else {f"{_START}slope": fitted.slope, f"{_START}intercept": fitted.intercept}


def calibration_from_json(description: object, model: Predictor, tensors: Tensors) -> Calibration:
    """Return the calibration of a file, and take its tensors; ValueError if it is unsound."""
    if not isinstance(model, Classifier):
        raise ValueError("it has a calibration, but does not hold a classifier")
    if not isinstance(description, dict) or set(description) != {"method", "scores"}:
        raise ValueError("its calibration must hold a method and scores")
    method, scores = description["method"], description["scores"]
    if method not in words(CalibrationMethod) or (method == "temperature" and is_multilabel(model)):
        raise ValueError(f"the method of its calibration does not go with the model, got {method!r:.80}")
    if not isinstance(scores, dict) or any(
        type(value) is not _SCORES.get(name) or not hasattr(model, name) for name, value in scores.items()
    ):
        raise ValueError(f"the scores of its calibration must hold parameters of it, got {scores!r:.80}")
    n = len(model.classes_)
    size = 1 if method == "temperature" or (n == 2 and not is_multilabel(model)) else n
    numbers: list[Any] = [tensors.pop(f"{_START}{name}", None) for name in ("slope", "intercept")]
    for array in numbers:
        if array is None or array.dtype != np.float64 or array.shape != (size,):
            raise ValueError(f"the tensors {_START}... must be vectors of {size} float64 numbers")
        if not np.isfinite(array).all():
            raise ValueError(f"the tensors {_START}... must hold finite numbers")
    if method == "temperature" and (numbers[0][0] < 0 or numbers[1][0] != 0):
        raise ValueError("the slope of a temperature must be at least 0, and its intercept 0")
    return Calibration(method, numbers[0], numbers[1], scores)
