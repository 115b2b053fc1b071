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

from perceptron_rs.array_likes import in_full
from perceptron_rs.cli.data import examples, lines_of
from perceptron_rs.cli.modelfile import learner_of, load_predictor
from perceptron_rs.cli.status import CommandError, Status
from perceptron_rs.common.summary import plain
from perceptron_rs.common.targets.planes import is_multilabel
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.files import ExampleFiles

__all__ = ["run"]

#: The number of the class of each example, or a matrix of 0 and 1; and the scores, if they are asked for.
Judge: TypeAlias = Callable[[Examples], tuple[Any, NDArray[np.float64] | None]]

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

    def judge(data: Examples) -> tuple[Any, NDArray[np.float64] | None]:
        found = model.predict(data.rows)
        if not is_multilabel(model):
            found = np.searchsorted(model.classes_, found)
        return found, None if more is None else more(data.rows)

    return Answers(model.classes_, judge, arguments), files


class Answers:
    """What a model says of examples, as text."""

    def __init__(self, classes: NDArray[Any], judge: Judge, arguments: Namespace) -> None:
        self._judge, self._as_json = judge, arguments.json
        names = [name for name in ("scores", "probabilities") if getattr(arguments, name)]
        self._numbers = names[0] if names else None
        self._texts = lines_of(classes, as_json=self._as_json, with_numbers=bool(names))
        self._values = [plain(label) for label in classes]
        self._lines = [text + "\n" for text in self._texts]

    def lines(self, data: Examples) -> str:
        """Return a line for each example."""
        answers, numbers = self._judge(data)
        is_one = isinstance(answers, np.ndarray) and answers.ndim == 1
        if is_one and numbers is None:
            return "".join(map(self._lines.__getitem__, answers.tolist()))
        if is_one:
            found = answers.tolist()
        else:  # a matrix of 0 and 1, perhaps a sparse one
            rows = in_full(answers)
            found = [np.flatnonzero(row).tolist() for row in rows]
        more = [[]] * len(found) if numbers is None else numbers.reshape(len(found), -1).tolist()
        line = self._record if self._as_json else self._cells
        return "".join(map(line, found, more))

    def _record(self, answer: int | list[int], numbers: list[float]) -> str:
        record: dict[str, Any] = (
            {"label": self._values[answer]}
            if isinstance(answer, int)
            else {"labels": [self._values[k] for k in answer]}
        )
        if self._numbers is not None:
            record[self._numbers] = numbers
        return json.dumps(record) + "\n"

    def _cells(self, answer: int | list[int], numbers: list[float]) -> str:
        of = self._texts
        label = of[answer] if isinstance(answer, int) else ",".join(of[k] for k in answer)
        return "\t".join([label, *map(repr, numbers)]) + "\n"
