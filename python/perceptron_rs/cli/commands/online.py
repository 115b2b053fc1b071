"""``perceptrons online``: predict each labelled example as it comes, and then learn from it."""

from __future__ import annotations

import copy
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli.data import BadLines, example_files, lines_of, several, weights_of
from perceptron_rs.cli.learning import audited
from perceptron_rs.cli.modelfile import check_writable, load_model, save_model
from perceptron_rs.cli.progress import Counts
from perceptron_rs.cli.status import CommandError, Status, UsageError
from perceptron_rs.errors import with_article
from perceptron_rs.io.examples import Examples
from perceptron_rs.models.summary import label_text
from perceptron_rs.recipe.of_files import OF_FILES
from perceptron_rs.targets.planes import is_joint, is_multilabel, n_planes


def run(arguments: Namespace) -> int:
    """Print one line for each example; in the end, however it comes, perhaps write what was learnt."""
    if arguments.save_every is not None and arguments.save is None:
        raise UsageError("--save-every has no effect without --save")
    if (arguments.no_audit or arguments.audit_key is not None) and arguments.save is None:
        raise UsageError("--audit-key and --no-audit are about the model that --save writes; add --save")
    model = load_model(Path(arguments.model), arguments.threads)
    if not hasattr(model, "predict_then_learn"):
        why = "learns from all examples at once; train a perceptron"
        if hasattr(model, "partial_fit"):
            why = "answers and learns from many examples at once; go on by train --continue"
        raise UsageError(f"{arguments.model}: holds {with_article(type(model).__name__)}, which {why}")
    if is_multilabel(model):
        raise UsageError(
            f"{arguments.model}: has many labels for each example, and online answers with one; go on with "
            f"train --stream --continue, or call predict_then_learn in Python"
        )
    audited(model, arguments, goes_on=True)
    if arguments.save is not None:
        check_writable(Path(arguments.save), arguments, "--save")
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
        self.files = example_files(arguments, model)
        scale = self.files.reading.scale
        if scale is not None and scale.of_texts:
            raise UsageError(
                f"{arguments.model}: weighs n-grams by how many texts of its training have them, which later "
                "texts change; train a model without --tf-idf"
            )
        # The readers compare the names, and know how columns are counted; X has neither.
        self.of_files = {name: getattr(model, name, None) for name in OF_FILES}
        model.feature_names_in_ = None
        self.lines = [text + "\n" for text in lines_of(model.classes_, as_json=arguments.json)]
        self.counts = Counts(quiet=arguments.quiet)
        self.learnt = self.saved = 0  # examples
        self.answers: list[int] = []  # the numbers of the classes of the last examples
        self.errors = 0  # of these
        self.bad = BadLines(arguments)

    def all(self) -> None:
        """Answer all examples, and learn from them."""
        every = self.arguments.save_every
        for data in self.files.parts(check=self.learn, bad=self.bad):
            self.counts.add(len(data), self.errors)  # before a signal that comes with the answer
            sys.stdout.write("".join([self.lines[answer] for answer in self.answers]))
            sys.stdout.flush()
            self.counts.tell()
            if every is not None and self.learnt - self.saved >= every:
                self.save()

    def learn(self, data: Examples) -> None:
        """Answer examples, and learn from them; ValueError if that cannot be."""
        classes = self.model.classes_
        unknown = ~np.isin(data.labels, classes)
        if unknown.any():
            raise CommandError(
                f"the label {label_text(data.labels[unknown][0])!r} is none of the model's classes, "
                f"{several(classes)}; "
                f"train on all classes, or leave such examples out with --skip-bad"
            )
        weights = weights_of(data)
        try:
            labels, self.errors = self.model.predict_then_learn(data.X, data.labels, **weights)
        except ValueError:
            if len(data) > 1 or not self.is_weightless(data):
                raise
            labels, self.errors = self.answer_weightless(data, weights)
        self.answers = np.searchsorted(classes, labels).tolist()
        self.learnt += len(data)

    def is_weightless(self, data: Examples) -> bool:
        """Whether an example, or its class, has the weight 0."""
        of_classes = self.model.class_weight if isinstance(self.model.class_weight, dict) else {}
        return 0 in (of_classes.get(data.labels[0], 1), 1 if data.weights is None else data.weights[0])

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

    def end(self) -> None:
        """Say how it went, and write what was learnt, if there is anything new."""
        self.counts.say()
        self.bad.end()
        if self.learnt > self.saved:
            self.save()

    def save(self) -> None:
        """Write the model, with what its file holds of the data."""
        self.saved = self.learnt
        if self.arguments.save is not None:
            model = copy.copy(self.model)
            for name, value in self.of_files.items():
                setattr(model, name, value)
            save_model(model, Path(self.arguments.save))
