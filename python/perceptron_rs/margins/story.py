"""What ``inspect`` shows of a separator of largest margin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from perceptron_rs.common.story import head, label_text, parameters, plain, what

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a separator is, with its certified margins; ``top``: weights of each class, if any."""
    names = getattr(model, "feature_names_in_", None)
    planes = model.classes_[1:] if len(model.results_) == 1 else model.classes_
    weights = model.predictor_.get("coef", np.zeros((len(planes), 0)))
    found = []
    for label, row, bias, ends, result in zip(
        planes,
        weights,
        model.intercept_,
        model.margin_interval_,
        model.results_,
        strict=True,
    ):
        order = np.argsort(-np.abs(row), kind="stable")[:top]
        found.append(
            {
                "class": plain(label),
                "status": result.status,
                "margin": [float(end) if math.isfinite(end) else None for end in ends],
                "n_support": len(result.support),
                "intercept": float(bias),
                "largest": [
                    {"feature": f"x{j}" if names is None else str(names[j]), "weight": float(row[j])}
                    for j in order.tolist()
                    if row[j] != 0
                ],
            }
        )
    return {**what(model), "planes": found}


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    lines = [*head(story), f"features    {story['n_features']}", *parameters(story)]
    for plane in story["planes"]:
        lower, upper = plane["margin"]
        margin = f", margin in [{lower!r}, {upper!r}]" if lower is not None else ""
        lines.append(
            f"class {label_text(plane['class'])}: {plane['status']}{margin}; "
            f"{plane['n_support']} support vectors, intercept {plane['intercept']!r}"
        )
        width = max((len(entry["feature"]) for entry in plane["largest"]), default=0)
        lines += [f"  {entry['feature']:{width}}  {entry['weight']!r}" for entry in plane["largest"]]
    return "\n".join(lines) + "\n"
