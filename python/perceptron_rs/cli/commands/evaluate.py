"""``perceptrons evaluate``: a model's predictions beside the labels of the data."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import in_full
from perceptron_rs.cli.data import example_files, several
from perceptron_rs.cli.figures import show, table, warn_of_unknown
from perceptron_rs.cli.modelfile import open_predictor
from perceptron_rs.cli.status import CommandError
from perceptron_rs.metrics import class_scores
from perceptron_rs.models.summary import label_text, plain
from perceptron_rs.targets.distinct import distinct, places

_FEW = 20  # classes: more make a confusion matrix that nobody reads


def run(arguments: Namespace) -> int:
    """Print accuracy, errors, the figures of each class, and for few classes the confusion matrix."""
    model = open_predictor(Path(arguments.model), arguments.threads)
    files = example_files(arguments, model)
    data = files.whole()
    y, predicted = data.labels, model.predict(data.rows)
    if files.reading.multilabel:
        y, predicted = y != 0, in_full(predicted) != 0
    else:
        _check_labels(y, model.classes_, files.name)
    return show(label_figures(y, predicted, model.classes_), report_of_labels, arguments)


def _check_labels(y: NDArray[Any], classes: NDArray[Any], where: str) -> None:
    """Warn of labels that are none of the model's classes; CommandError if all are."""
    if (y.dtype.kind in "OU") != (classes.dtype.kind in "OU"):
        kind, expected = ("strings", "numbers") if y.dtype.kind in "OU" else ("numbers", "strings")
        raise CommandError(
            f"{where}: its labels are {kind}, but the model's classes are {expected} ({several(classes)}); "
            f"pass labels of the same kind with --labels or --target"
        )
    unknown = y[places(y, classes) == len(classes)]
    if len(unknown) == len(y):
        raise CommandError(
            f"{where}: no label is one of the model's classes ({several(classes)}); its first label is "
            f"{label_text(y[0])!r}; choose the right column with --target, or pass other labels with --labels"
        )
    if len(unknown):
        warn_of_unknown(f"{where}: {len(unknown)} examples have labels", unknown[0])


def label_figures(y: NDArray[Any], predicted: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Return the scores of the predictions ``predicted``.

    Both hold labels; or rows of a matrix, of which one is right if all of its labels are.
    """
    wrong, has_lists = y != predicted, y.ndim == 2
    errors = int(np.count_nonzero(wrong.any(axis=1) if has_lists else wrong))
    result: dict[str, Any] = {"n_samples": len(y), "errors": errors, "accuracy": (len(y) - errors) / len(y)}
    if has_lists:
        result["hamming_loss"] = int(np.count_nonzero(wrong)) / y.size
    labels = classes if has_lists else np.union1d(classes, distinct(y)[0])
    parts = zip(labels, class_scores(y, predicted, labels), strict=True)
    result["classes"] = [{"label": plain(label), **part} for label, part in parts]
    result["macro_f1"] = sum(part["f1"] for part in result["classes"]) / len(labels)
    if not has_lists and len(labels) <= _FEW:
        confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(confusion, (places(y, labels), places(predicted, labels)), 1)
        result["confusion"] = confusion.tolist()
    return result


def report_of_labels(result: dict[str, Any]) -> str:
    """Return the same as a table."""
    labels = [label_text(entry["label"]) for entry in result["classes"]]
    lines = [
        f"accuracy  {result['accuracy']:.4f}",
        f"errors    {result['errors']} of {result['n_samples']}",
        f"macro F1  {result['macro_f1']:.4f}",
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
