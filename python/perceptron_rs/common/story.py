"""What ``inspect`` shows of every classifier, and how classes are written."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["head", "label_text", "parameters", "plain", "what"]


def what(model: Any) -> dict[str, Any]:
    """Return what a model is."""
    return {
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "n_features": int(model.n_features_in_),
        "classes": [plain(label) for label in model.classes_],
    }


def head(story: dict[str, Any]) -> list[str]:
    """Return the first lines for people."""
    classes = [label_text(label) for label in story["classes"]]
    return [
        f"format      {story['format']}, {story['bytes']} bytes",
        f"estimator   {story['estimator']}",
        f"classes     {' '.join(classes[:20])}{' ...' if len(classes) > 20 else ''}",
    ]


def parameters(story: dict[str, Any]) -> list[str]:
    """Return the lines of the parameters."""
    return ["parameters", *(f"  {name} = {value!r}" for name, value in story["parameters"].items())]


def plain(label: Any) -> Any:
    """Return a class as a Python value; a whole float as an int."""
    value = label.item() if isinstance(label, np.generic) else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def label_text(label: Any) -> str:
    """Return a class as it is printed, and as options name it."""
    return str(plain(label))


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, dict):
        return {label_text(label): float(weight) for label, weight in value.items()}
    return value.item() if isinstance(value, np.generic) else value
