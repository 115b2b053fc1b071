"""``perceptrons evaluate``: a model's predictions beside the labels of the data."""

from __future__ import annotations

import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import in_full
from perceptron_rs.cli.data import examples, same_kind
from perceptron_rs.cli.figures import show, table
from perceptron_rs.cli.modelfile import load_predictor
from perceptron_rs.common.summary import label_text, plain
from perceptron_rs.io.examples import Examples
from perceptron_rs.metrics import class_scores, scores

__all__ = ["run"]

FEW = 20  # classes: more make a confusion matrix that nobody reads


def run(arguments: Namespace) -> int:
    """Print accuracy, errors, the figures of each class, and for few classes the confusion matrix."""
    model = load_predictor(Path(arguments.model), arguments.threads)
    files = examples(arguments, model)
    data = files.whole()
    y = data.labels
    if files.reading.multilabel:
        return show(_of_lists(model, data), as_text, arguments)
    same_kind(y, model.classes_, files.name)
    unknown = ~np.isin(y, model.classes_)
    if unknown.any():
        warnings.warn(
            f"{files.name}: {np.count_nonzero(unknown)} examples have labels that the model "
            f"does not know, {label_text(y[unknown][0])!r} first; they count as errors",
            UserWarning,
            stacklevel=1,
        )
    return show(figures(y, model.predict(data.rows), model.classes_), as_text, arguments)


def _of_lists(model: Any, data: Examples) -> dict[str, Any]:
    """Return the figures of lists of labels: an example is right if all of its labels are."""
    y, found = data.labels != 0, model.predict(data.rows)
    found = in_full(found) != 0
    errors = int(np.count_nonzero((y != found).any(axis=1)))
    counts = [np.count_nonzero(held, axis=0).tolist() for held in (y & found, found, y)]
    return {
        "n_samples": len(y),
        "errors": errors,
        "accuracy": (len(y) - errors) / len(y),
        "hamming_loss": int(np.count_nonzero(y != found)) / y.size,
        "classes": [
            {"label": plain(label), **scores(*numbers)}
            for label, *numbers in zip(model.classes_, *counts, strict=True)
        ],
    }


def figures(y: NDArray[Any], found: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Return what there is to say about the predictions ``found``."""
    errors, labels = int(np.count_nonzero(y != found)), np.union1d(classes, y)
    parts = class_scores(y, found, labels)
    result: dict[str, Any] = {
        "n_samples": len(y),
        "errors": errors,
        "accuracy": (len(y) - errors) / len(y),
        "classes": [{"label": plain(label), **part} for label, part in zip(labels, parts, strict=True)],
    }
    if len(labels) <= FEW:
        confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(confusion, (np.searchsorted(labels, y), np.searchsorted(labels, found)), 1)
        result["confusion"] = confusion.tolist()
    return result


def as_text(result: dict[str, Any]) -> str:
    """Return the same as a table."""
    labels = [label_text(entry["label"]) for entry in result["classes"]]
    lines = [
        f"accuracy  {result['accuracy']:.4f}",
        f"errors    {result['errors']} of {result['n_samples']}",
        *([f"hamming   {result['hamming_loss']:.4f}"] if "hamming_loss" in result else []),
        *table("class", "examples", zip(labels, result["classes"], strict=True)),
    ]
    if "confusion" in result:
        width, cell = (max(least, *(len(label) for label in labels)) + 1 for least in (9, 6))
        lines.append("\nconfusion matrix: a row for each true class, a column for each predicted one")
        lines.append(" " * width + "".join(f"{label:>{cell}}" for label in labels))
        for label, row in zip(labels, result["confusion"], strict=True):
            lines.append(f"{label:{width}}" + "".join(f"{count:{cell}}" for count in row))
    return "\n".join(lines) + "\n"
