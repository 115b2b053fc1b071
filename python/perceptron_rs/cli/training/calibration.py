"""``train --calibrate``: probabilities of scores, fitted to examples that are held out, or to a file."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from perceptron_rs.choices import CalibrationMethod
from perceptron_rs.cli.data import data_of, example_files
from perceptron_rs.cli.status import UsageError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.text.lines import check_files
from perceptron_rs.prediction.calibrate import calibration_of
from perceptron_rs.probabilities import Calibration
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import change
from perceptron_rs.targets.planes import is_multilabel


class _Examples:
    """Scores, labels and weights of examples, part by part."""

    def __init__(self) -> None:
        self._scores: list[Any] = []
        self._labels: list[Any] = []
        self._weights: list[Any] = []
        self.n_samples = 0

    def add(self, model: Any, data: Examples) -> None:
        """Take some."""
        self._scores.append(model.decision_function(data.rows))
        self._labels.append(data.labels)
        self._weights.append(data.weights)
        self.n_samples += len(data)

    def calibration(self, model: Any, method: CalibrationMethod) -> Calibration:
        """Return what they lead to."""
        weights = None if self._weights[0] is None else np.concatenate(self._weights)
        scores, y = np.concatenate(self._scores), np.concatenate(self._labels)
        return calibration_of(model, scores, y, method, weights)


class CalibrationSetting(_Examples):
    """What the options, and a model that goes on, say of a calibration.

    Parameters
    ----------
    arguments : Namespace
    before : estimator or None
        The model that goes on: what was held out of its examples is not learnt from later.
    """

    def __init__(self, arguments: Namespace, before: Any) -> None:
        super().__init__()
        self.arguments, self.method = arguments, arguments.calibration
        asked = arguments.calibrate
        self.file = asked if isinstance(asked, str) else None
        if self.file in arguments.data:
            raise UsageError(
                f"--calibrate {self.file}: is learnt from, where scores are larger; name another FILE"
            )
        if self.file is not None:
            check_files(data_of([self.file]))  # before the training
        share = None if self.file is not None else asked
        recipe = None if before is None else learnt_recipe(before)
        known = None if before is None else learnt_of(before).calibration
        if before is not None and share is not None:
            raise UsageError(
                f"--calibrate {share} would hold out examples that the model of --continue may have learnt "
                "from; name a FILE of others"
            )
        holdout = arguments.holdout or 0.0
        if recipe is not None:
            holdout = recipe.holdout or 0.0 if arguments.holdout is None else holdout
            share = recipe.calibration if self.file is None and recipe.holdout == holdout else None
        elif share is not None:
            holdout += share
            if not holdout < 1:
                raise UsageError("--holdout and --calibrate leave no example to learn from; choose less")
        if known is not None and (share is not None or self.file is not None):
            self.method = self.method or known.method
            change(before, calibration=None)  # which comes anew
        if self.method is not None and share is None and self.file is None:
            raise UsageError("--calibration has no effect without --calibrate F or FILE")
        self.holdout, self.share = holdout or None, share

    def calibrate(self, model: Any) -> None:
        """Calibrate a model on the examples that were added, if any."""
        if not self.n_samples:
            return
        usual: CalibrationMethod = "sigmoid" if is_multilabel(model) else "temperature"
        change(model, calibration=self.calibration(model, self.method or usual))

    def by_file(self, model: Any) -> None:
        """Calibrate a model that knows how its columns are made on the examples of FILE, if there is one."""
        if self.file is None:
            return
        model._takes_columns = True
        own = Namespace(**{**vars(self.arguments), "data": data_of([self.file])})
        files = example_files(own, model)
        for data in files.parts():
            self.add(model, data)
        self.calibrate(model)

    def report(self, model: Any) -> tuple[dict[str, Any], str] | None:
        """Return the report of the calibration, as JSON and in words; None if there is none."""
        calibration = learnt_of(model).calibration
        if calibration is None:
            return None
        numbers = {"slope": calibration.slope.tolist(), "intercept": calibration.intercept.tolist()}
        result = {"method": calibration.method, "n_samples": self.n_samples, **numbers}
        return result, f"{calibration.in_words()}, on {self.n_samples} examples"


def other_calibration(arguments: Namespace, model: Any) -> str | None:
    """Return in words where the calibration of a model is not that of what was held out for it."""
    recipe, known = learnt_recipe(model), learnt_of(model).calibration
    if recipe is None or known is None:
        return None
    files = example_files(arguments, model, holdout=recipe.holdout, calibration=recipe.calibration)
    setting = _Examples()
    for data, calibrates in files.left_out_for(model.n_features_in_):
        if calibrates:
            setting.add(model, data)
    again = setting.calibration(model, known.method)
    if all(np.array_equal(getattr(known, name), getattr(again, name)) for name in ("slope", "intercept")):
        return None
    return f"the calibration of the model is {known.in_words()}, and this data leads to {again.in_words()}"
