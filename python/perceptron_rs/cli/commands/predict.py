"""``perceptron-rs predict``: the class of each example, as soon as it is known."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.cli.readers.examples import blocks
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.cli.status import Status
from perceptron_rs.common.story import label_text, plain

__all__ = ["run"]

BLOCK = 8192  # examples; the bits of a score do not depend on it


def run(arguments: Namespace) -> int:
    """Print one line for each example, as soon as the example is read."""
    model = load_model(Path(arguments.model))
    wish = wanted(arguments, labels=False, model=model)
    vars(model).pop("feature_names_in_", None)  # the readers compare the names; X has none
    if hasattr(model, "n_jobs"):
        model.n_jobs = arguments.threads
    answers = Answers(model, scores=arguments.scores, as_json=arguments.json)
    for data in blocks(arguments.data, wish):
        for begin in range(0, len(data), BLOCK):
            X = data.X if len(data) <= BLOCK else data.X[begin : begin + BLOCK]
            sys.stdout.write(answers.lines(X))
        sys.stdout.flush()
    return Status.SUCCESS


class Answers:
    """What a model says of examples, as text."""

    def __init__(self, model: Any, *, scores: bool, as_json: bool) -> None:
        self._model, self._scores, self._as_json = model, scores, as_json
        self._texts = [label_text(label) for label in model.classes_]
        self._values = [plain(label) for label in model.classes_]

    def lines(self, X: Any) -> str:
        """Return a line for each example."""
        model = self._model
        found = np.searchsorted(model.classes_, model.predict(X)).tolist()
        if not self._scores:
            lines = [json.dumps({"label": v}) for v in self._values] if self._as_json else self._texts
            return "".join(map([line + "\n" for line in lines].__getitem__, found))
        scores = model.decision_function(X).reshape(len(found), -1).tolist()
        if self._as_json:
            records = (
                {"label": self._values[k], "scores": row} for k, row in zip(found, scores, strict=True)
            )
            return "".join(json.dumps(record) + "\n" for record in records)
        rows = ([self._texts[k], *map(repr, row)] for k, row in zip(found, scores, strict=True))
        return "".join("\t".join(row) + "\n" for row in rows)
