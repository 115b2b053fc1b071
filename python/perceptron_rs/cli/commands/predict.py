"""``perceptrons predict``: the class of each example, as soon as it is known."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.arrays.likes import in_full
from perceptron_rs.cli.data import BadLines, example_files, lines_of
from perceptron_rs.cli.modelfile import entry_of, open_predictor
from perceptron_rs.cli.status import Status, UsageError
from perceptron_rs.io.examples import Examples
from perceptron_rs.models.summary import plain
from perceptron_rs.targets.distinct import places
from perceptron_rs.targets.planes import is_multilabel


def run(arguments: Namespace) -> int:
    """Print one line for each example, as soon as the example is read."""
    answers = Answers(open_predictor(Path(arguments.model), arguments.threads), arguments)
    bad = BadLines(arguments)
    try:
        for _ in example_files(arguments, answers.model, labels=False).parts(check=answers.find, bad=bad):
            sys.stdout.write(answers.text)
            sys.stdout.flush()
    finally:
        bad.end()
    return Status.SUCCESS


class Answers:
    """What a model says of examples, as text."""

    def __init__(self, model: Any, arguments: Namespace) -> None:
        self.model, self._as_json = model, arguments.json
        self._name = "scores" if arguments.scores else "probabilities" if arguments.probabilities else None
        self._numbers = model.decision_function if arguments.scores else None
        if arguments.probabilities:
            self._numbers = getattr(model, "predict_proba", None)
            if self._numbers is None:
                raise UsageError(
                    f"--probabilities: the {entry_of(model).class_name} in {arguments.model} has none; "
                    "train it with --calibrate, or print scores with --scores"
                )
        self._texts = lines_of(model.classes_, as_json=self._as_json, with_numbers=self._name is not None)
        self._values = [plain(label) for label in model.classes_]
        #: Of the last examples.
        self.text = ""

    def find(self, data: Examples) -> None:
        """Find a line for each example; ValueError if one cannot be answered."""
        self.text = self._lines(data)

    def _lines(self, data: Examples) -> str:
        labels = self.model.predict(data.rows)
        if is_multilabel(self.model):  # a matrix of 0 and 1, perhaps a sparse one
            answers = [np.flatnonzero(row).tolist() for row in in_full(labels)]
        else:
            answers = places(labels, self.model.classes_).tolist()
            if self._numbers is None:
                return "".join([self._texts[answer] + "\n" for answer in answers])
        numbers: Any = [[]] * len(answers)
        if self._numbers is not None:
            numbers = self._numbers(data.rows).reshape(len(answers), -1).tolist()
        line = self._record if self._as_json else self._cells
        return "".join(map(line, answers, numbers))

    def _record(self, answer: int | list[int], numbers: list[float]) -> str:
        record: dict[str, Any] = (
            {"label": self._values[answer]}
            if isinstance(answer, int)
            else {"labels": [self._values[k] for k in answer]}
        )
        if self._name is not None:
            record[self._name] = numbers
        return json.dumps(record) + "\n"

    def _cells(self, answer: int | list[int], numbers: list[float]) -> str:
        label = ",".join(self._texts[k] for k in ([answer] if isinstance(answer, int) else answer))
        return "\t".join([label, *map(repr, numbers)]) + "\n"
