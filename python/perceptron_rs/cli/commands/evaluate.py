"""``perceptrons evaluate``: a model's predictions beside the labels of the data."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import examples, same_kind
from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.common.story import label_text, plain

__all__ = ["run"]

FEW = 20  # classes: more make a confusion matrix that nobody reads


def run(arguments: Namespace) -> int:
    """Print accuracy, errors, the figures of each class, and for few classes the confusion matrix."""
    model = load_model(Path(arguments.model))
    files = examples(arguments, model)
    data = files.whole()
    y = data.labels
    same_kind(y, model.classes_, files.name)
    unknown = ~np.isin(y, model.classes_)
    if unknown.any():
        warnings.warn(
            f"{files.name}: {np.count_nonzero(unknown)} examples have labels that the model "
            f"does not know, {label_text(y[unknown][0])!r} first; they count as errors",
            UserWarning,
            stacklevel=1,
        )
    vars(model).pop("feature_names_in_", None)  # the names were compared by load; X has none
    if hasattr(model, "n_jobs"):
        model.n_jobs = arguments.threads
    result = figures(y, model.predict(data.X), model.classes_)
    print(json.dumps(result) if arguments.json else as_text(result), end="\n" if arguments.json else "")
    return 0


def figures(y: NDArray[Any], found: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Return what there is to say about the predictions ``found``."""
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    errors = int(np.count_nonzero(y != found))
    labels = np.union1d(classes, y)
    parts = precision_recall_fscore_support(y, found, labels=labels, average=None, zero_division=0.0)
    names = ("precision", "recall", "f1", "support")
    result: dict[str, Any] = {
        "n_samples": len(y),
        "errors": errors,
        "accuracy": (len(y) - errors) / len(y),
        "classes": [
            {"label": plain(label), **{name: part[k].item() for name, part in zip(names, parts, strict=True)}}
            for k, label in enumerate(labels)
        ],
    }
    if len(labels) <= FEW:
        result["confusion"] = confusion_matrix(y, found, labels=labels).tolist()
    return result


def as_text(result: dict[str, Any]) -> str:
    """Return the same as a table."""
    lines = [
        f"accuracy  {result['accuracy']:.4f}",
        f"errors    {result['errors']} of {result['n_samples']}",
    ]
    labels = [label_text(entry["label"]) for entry in result["classes"]]
    width = max(9, *(len(label) for label in labels)) + 1
    lines.append(f"\n{'class':{width}} precision    recall        f1  examples")
    for label, entry in zip(labels, result["classes"], strict=True):
        lines.append(
            f"{label:{width}}{entry['precision']:10.4f}{entry['recall']:10.4f}"
            f"{entry['f1']:10.4f}{entry['support']:10}"
        )
    if "confusion" in result:
        cell = max(7, *(len(label) + 1 for label in labels))
        lines.append("\nconfusion matrix: a row for each true class, a column for each predicted one")
        lines.append(" " * width + "".join(f"{label:>{cell}}" for label in labels))
        for label, row in zip(labels, result["confusion"], strict=True):
            lines.append(f"{label:{width}}" + "".join(f"{count:{cell}}" for count in row))
    return "\n".join(lines) + "\n"
