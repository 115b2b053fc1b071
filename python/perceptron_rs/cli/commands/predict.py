"""``perceptrons predict``: the class of each example, as soon as it is known."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import examples
from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.modelfile import learner_of, load_predictor
from perceptron_rs.cli.status import Status
from perceptron_rs.common.summary import label_text, plain
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.files import ExampleFiles

__all__ = ["run"]

#: The number of the class of each example, and the scores, if they are asked for.
Judge: TypeAlias = Callable[[Examples], tuple[NDArray[np.intp], NDArray[np.float64]]]

BLOCK = 8192  # examples; the bits of a score do not depend on it


def run(arguments: Namespace) -> int:
    """Print one line for each example, as soon as the example is read."""
    judge, files = _judge(arguments)
    write, flush = sys.stdout.write, sys.stdout.flush
    for data in files.parts():
        for begin in range(0, len(data), BLOCK):
            write(judge.lines(data if len(data) <= BLOCK else data.part(begin, begin + BLOCK)))
        flush()
    return Status.SUCCESS


def _judge(arguments: Namespace) -> tuple[Answers, ExampleFiles]:
    """Return what answers, and how examples are to be read."""
    model = load_predictor(Path(arguments.model), arguments.threads)
    files = examples(arguments, model, labels=False)
    more = model.decision_function if arguments.scores else None
    if arguments.probabilities:
        more = getattr(model, "predict_proba", None)
        if more is None:
            raise CommandError(
                f"--probabilities: {arguments.model} holds a {learner_of(model).class_name} that has none: a "
                f"multilayer perceptron has, and what votes (--prediction vote) without --tie positive; "
                f"--scores prints how sure others are"
            )

    def judge(data: Examples) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        found = model.predict(data.rows)
        if not getattr(model, "multilabel_", False):
            found = np.searchsorted(model.classes_, found)
        return found, np.zeros(0) if more is None else more(data.rows)

    return Answers(model.classes_, judge, arguments), files


class Answers:
    """What a model says of examples, as text."""

    def __init__(self, classes: NDArray[Any], judge: Judge, arguments: Namespace) -> None:
        self._judge, self._as_json = judge, arguments.json
        names = [name for name in ("scores", "probabilities") if getattr(arguments, name)]
        self._numbers = names[0] if names else None
        self._texts = [label_text(label) for label in classes]
        self._values = [plain(label) for label in classes]
        alone = [json.dumps({"label": v}) for v in self._values] if self._as_json else self._texts
        self._lines = [text + "\n" for text in alone]

    def lines(self, data: Examples) -> str:
        """Return a line for each example."""
        numbers, scores = self._judge(data)
        if numbers.ndim == 2 or not isinstance(numbers, np.ndarray):
            return self._lists(numbers, scores)
        found = numbers.tolist()
        if self._numbers is None:
            return "".join(map(self._lines.__getitem__, found))
        rows = scores.reshape(len(found), -1).tolist()
        if self._as_json:
            records = (
                {"label": self._values[k], self._numbers: row} for k, row in zip(found, rows, strict=True)
            )
            return "".join(json.dumps(record) + "\n" for record in records)
        cells = ([self._texts[k], *map(repr, row)] for k, row in zip(found, rows, strict=True))
        return "".join("\t".join(row) + "\n" for row in cells)

    def _lists(self, held: Any, scores: NDArray[np.float64]) -> str:
        """Return lines of lists of labels: of a matrix of 0 and 1, perhaps a sparse one."""
        rows = held.toarray() if hasattr(held, "toarray") else held
        found = [np.flatnonzero(row).tolist() for row in rows]
        more = [[]] * len(found) if self._numbers is None else scores.tolist()
        if self._as_json:
            records = ({"labels": [self._values[k] for k in own]} for own in found)
            both = (
                record if self._numbers is None else record | {self._numbers: row}
                for record, row in zip(records, more, strict=True)
            )
            return "".join(json.dumps(record) + "\n" for record in both)
        cells = (
            [",".join(self._texts[k] for k in own), *map(repr, row)]
            for own, row in zip(found, more, strict=True)
        )
        return "".join("\t".join(row) + "\n" for row in cells)
