"""What ``inspect`` shows of a linear classifier: the largest weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.linear.voted import VotedPerceptron
from perceptron_rs.models.summary import Description, label_text, largest, largest_lines, plain
from perceptron_rs.prediction.hyperplanes import stored_hyperplanes
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.schema.columns import Spread
from perceptron_rs.state.learnt import learnt_of

if TYPE_CHECKING:
    from perceptron_rs.linear.base import LinearLearner


def shown(model: LinearLearner, top: int) -> Description:
    """Return the weights of each class that are largest, or how many vectors vote."""
    names, base, recipe = feature_names(model), learnt_of(model).column_base, learnt_recipe(model)
    words = None if recipe is None else recipe.words
    classes = [plain(label) for label in (model.classes_[1:] if len(model.n_seen_) == 1 else model.classes_)]
    planes = stored_hyperplanes(model)
    nonzero = None
    if planes is None:  # the vectors of a run vote
        assert isinstance(model, VotedPerceptron)
        weights = [
            {"class": label, "n_vectors": number, "largest": []}
            for label, number in zip(classes, model.n_vectors_.tolist(), strict=True)
        ]
    else:
        coef, intercept = planes
        few, columns = (coef.few, coef.columns) if isinstance(coef, Spread) else (coef, None)
        weights = [
            {
                "class": label,
                "intercept": float(bias),
                "largest": largest(row, names, top, base or 0, words, columns),
            }
            for label, row, bias in zip(classes, few, intercept, strict=True)
        ]
        nonzero = int(np.count_nonzero(few))
    return {"column_base": base, "nonzero_weights": nonzero, "weights": weights}


def lines(description: Description) -> tuple[str, list[str], list[str]]:
    """Return the lines of a description as text, in three parts: see `Family.lines`."""
    base, nonzero = description["column_base"], description["nonzero_weights"]
    behind = "" if base is None else f" counted from {base}"
    behind += "" if nonzero is None else f", {nonzero} weights are not 0"
    after = []
    for plane in description["weights"]:
        label = label_text(plane["class"])
        if "n_vectors" in plane:
            after.append(f"class {label}: {plane['n_vectors']} vectors vote")
        else:
            after += [f"weights for class {label}, intercept {plane['intercept']!r}"]
            after += largest_lines(plane["largest"])
    return behind, [], after
