"""What ``inspect`` shows of a separator of largest margin: certified margins, and the largest weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.models.summary import Description, label_text, largest, largest_lines, plain

if TYPE_CHECKING:
    from perceptron_rs.margins.classifier import MaxMarginClassifier


def shown(model: MaxMarginClassifier, top: int) -> Description:
    """Return the margin of each class, and its largest weights, if any."""
    names = feature_names(model)
    classes = model.classes_[1:] if len(model.results_) == 1 else model.classes_
    weights = model.predictor_.get("coef", np.zeros((len(classes), 0)))
    numbers = (model.intercept_, model.margin_interval_, model.results_)
    planes = [
        {
            "class": plain(label),
            "status": result.status,
            "margin": [float(end) if math.isfinite(end) else None for end in ends],
            "n_support": len(result.support),
            "intercept": float(bias),
            "largest": largest(row, names, top),
        }
        for label, row, bias, ends, result in zip(classes, weights, *numbers, strict=True)
    ]
    return {"planes": planes}


def lines(description: Description) -> tuple[str, list[str], list[str]]:
    """Return the lines of a description as text, in three parts: see `Family.lines`."""
    after = []
    for plane in description["planes"]:
        lower, upper = plane["margin"]
        margin = f", margin in [{lower!r}, {upper!r}]" if lower is not None else ""
        after.append(
            f"class {label_text(plane['class'])}: {plane['status']}{margin}; "
            f"{plane['n_support']} support vectors, intercept {plane['intercept']!r}"
        )
        after += largest_lines(plane["largest"])
    return "", [], after
