"""``perceptrons online``: predict each labelled example as it comes, and then learn from it."""

from __future__ import annotations

import copy
import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli.data import examples, lines_of, several, weights_of
from perceptron_rs.cli.learning import audited
from perceptron_rs.cli.modelfile import check_writable, load_model, save_model
from perceptron_rs.cli.progress import Counts
from perceptron_rs.cli.status import CommandError, Status, UsageError
from perceptron_rs.cli.words import text_of
from perceptron_rs.common.summary import label_text
from perceptron_rs.common.targets.planes import is_joint, is_multilabel, n_planes
from perceptron_rs.io.examples import Examples
from perceptron_rs.models.input_files import OF_FILES

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print one line for each example; in the end, however it comes, perhaps write what was learnt."""
    if arguments.save_every is not None and arguments.save is None:
        raise UsageError("--save-every has no effect without --save")
    if (arguments.no_audit or arguments.audit_key is not None) and arguments.save is None:
        raise UsageError("--audit-key and --no-audit are about the model that --save writes; add --save")
    model = load_model(Path(arguments.model), arguments.threads)
    if not hasattr(model, "predict_then_learn"):
        raise CommandError(
            f"{arguments.model}: holds a {type(model).__name__}, which learns from all examples at once; "
            "train a perceptron"
        )
    if is_multilabel(model):
        raise CommandError(
            f"{arguments.model}: has many labels for each example, and online answers with one; go on with "
            f"train --stream --continue, or call predict_then_learn in Python"
        )
    if model.audit or arguments.no_audit or arguments.audit_key is not None:
        audited(model, arguments, goes_on=True)
    if arguments.save is not None:
        check_writable(Path(arguments.save), arguments.data, "--save")
    learning = Learning(model, arguments)
    try:
        learning.all()
    finally:  # such a run is meant to be ended by Ctrl-C
        learning.end()
    return Status.SUCCESS


class Learning:
    """A model that goes through examples once."""

    def __init__(self, model: Any, arguments: Namespace) -> None:
        self.model, self.arguments = model, arguments
        self.files = examples(arguments, model)
        if self.files.reading.tf_idf:
            raise CommandError(
                f"{arguments.model}: weighs n-grams by how many texts of its training have them, which later "
                "texts change; train a model without --tf-idf"
            )
        # The readers compare the names, and know how columns are counted; X has neither.
        self.kept = {name: vars(model)[name] for name in OF_FILES if name in vars(model)}
        vars(model).pop("feature_names_in_", None)
        self.lines = [text + "\n" for text in lines_of(model.classes_, as_json=arguments.json)]
        self.counts = Counts(quiet=arguments.quiet)
        self.learnt = self.saved = 0  # examples
        self.bad: list[str] = []

    def all(self) -> None:
        """Answer all examples, and learn from them."""
        every = self.arguments.save_every
        for data in self.files.parts(check=self.check, bad=self.unread):
            for part, answers, errors in self.answered(data):
                self.learnt += len(part)
                self.counts.add(len(part), errors)  # before a signal that comes with the answer
                sys.stdout.write("".join(map(self.lines.__getitem__, answers)))
                sys.stdout.flush()
                self.counts.tell()
            if every is not None and self.learnt - self.saved >= every:
                self.save()
        if self.bad and not self.learnt:
            raise CommandError(f"no line could be learnt from; the first: {self.bad[0]}")

    def answered(self, data: Examples) -> Iterator[tuple[Examples, list[int], int]]:
        """Give the examples with the numbers of their answers; those that cannot be learnt from are bad."""
        weights = weights_of(data, self.model)
        try:
            found, errors = self.model.predict_then_learn(data.X, data.labels, **weights)
        except ValueError as error:
            if len(data) > 1:
                half = len(data) // 2
                for begin, end in ((0, half), (half, len(data))):
                    yield from self.answered(data.part(begin, end))
                return
            if not self.is_weightless(data):
                self.refuse(text_of(error))
                return
            found, errors = self.answer_weightless(data, weights)
        yield data, np.searchsorted(self.model.classes_, found).tolist(), errors

    def is_weightless(self, data: Examples) -> bool:
        """Whether an example, or its class, has the weight 0."""
        return self.weight_of_class(data) == 0 or (data.weights is not None and data.weights[0] == 0)

    def weight_of_class(self, data: Examples) -> float:
        """Return the weight of the class of an example."""
        given = self.model.class_weight
        return float(given.get(data.labels[0], 1)) if isinstance(given, dict) else 1.0

    def answer_weightless(self, data: Examples, weights: dict[str, Any]) -> tuple[Any, int]:
        """Answer an example by the weights that answer all others, and learn only what it is not ignored in.

        An example whose class has the weight 0 is one of the rest of each other class.
        """
        twin = copy.copy(self.model).set_params(class_weight=None, audit=False)
        answer: tuple[Any, int] = twin.predict_then_learn(data.X, data.labels)
        is_weighed = data.weights is None or data.weights[0] > 0
        if is_weighed and n_planes(self.model, self.model.classes_) > 1 and not is_joint(self.model):
            self.model.partial_fit(data.X, data.labels, **weights)
        return answer

    def check(self, data: Examples) -> None:
        """Raise CommandError for labels that are none of the model's."""
        classes = self.model.classes_
        unknown = ~np.isin(data.labels, classes)
        if unknown.any():
            raise CommandError(
                f"the label {label_text(data.labels[unknown][0])!r} is none of the model's classes, "
                f"{several(classes)}; "
                f"train on all classes, or leave such examples out with --skip-bad"
            )

    def unread(self, error: ValueError, name: str, number: int) -> None:
        """Refuse a line that cannot be read: its number is said, not that of the row in what was read."""
        text = text_of(error)
        if f"line {number}" not in text:
            text = re.sub(r"^row \d+: ", "", text.removeprefix(name).removeprefix(": "))
            text = f"{name}, line {number}: {text}"
        self.refuse(text)

    def refuse(self, text: str) -> None:
        """Count what is bad, or raise CommandError."""
        if not self.arguments.skip_bad:
            raise CommandError(text)
        self.bad.append("" if self.bad else text)

    def end(self) -> None:
        """Say how it went, and write what was learnt, if there is anything new."""
        self.counts.say()
        if self.bad and not self.arguments.quiet and sys.stderr is not None:
            print(f"{len(self.bad)} lines were skipped, the first: {self.bad[0]}", file=sys.stderr)
        if self.learnt > self.saved:
            self.save()

    def save(self) -> None:
        """Write the model, with what its file holds of the data."""
        self.saved = self.learnt
        if self.arguments.save is not None:
            model = copy.copy(self.model)
            vars(model).update(self.kept)
            save_model(model, Path(self.arguments.save))
