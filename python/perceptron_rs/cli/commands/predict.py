"""``perceptron-rs predict``: the class of each example, as soon as it is known."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np

from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.cli.readers.examples import load
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.common.story import label_text, plain

__all__ = ["run"]

BLOCK = 8192  # examples; the bits of a score do not depend on it


def run(arguments: Namespace) -> int:
    """Print one line for each example."""
    model = load_model(Path(arguments.model))
    data = load(Path(arguments.data), wanted(arguments, labels=False, model=model))
    vars(model).pop("feature_names_in_", None)  # the names were compared by load; X has none
    if hasattr(model, "n_jobs"):
        model.n_jobs = arguments.threads
    write = sys.stdout.write
    texts = [label_text(label) for label in model.classes_]
    values = [plain(label) for label in model.classes_]
    for begin in range(0, data.X.shape[0], BLOCK):
        X = data.X[begin : begin + BLOCK]
        found = np.searchsorted(model.classes_, model.predict(X)).tolist()
        scores = model.decision_function(X).reshape(len(found), -1).tolist() if arguments.scores else None
        if arguments.json:
            for row, index in enumerate(found):
                record = {"label": values[index]} | ({} if scores is None else {"scores": scores[row]})
                write(json.dumps(record) + "\n")
        elif scores is None:
            write("".join(texts[index] + "\n" for index in found))
        else:
            for index, row_scores in zip(found, scores, strict=True):
                write("\t".join([texts[index], *map(repr, row_scores)]) + "\n")
    return 0
