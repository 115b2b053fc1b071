"""``perceptrons train``: from a file of examples to a model file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli import training
from perceptron_rs.cli.data import examples, weigh_classes, weights_of
from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.cli.status import UsageError
from perceptron_rs.common.prediction.hyperplanes import hyperplanes
from perceptron_rs.common.schema import name_of
from perceptron_rs.common.summary import plain
from perceptron_rs.features.idf import IdfFit
from perceptron_rs.features.text import KeptWords, Words
from perceptron_rs.io.examples import refuse_share
from perceptron_rs.io.raw_text import kind_of_labels
from perceptron_rs.io.reading import OF_TEXT
from perceptron_rs.models.description import input_of
from perceptron_rs.models.input import ScaleFit
from perceptron_rs.models.input_files import keep_input
from perceptron_rs.registry import LEARNERS
from perceptron_rs.stream.cache import cache_contents

__all__ = ["run"]

#: N-grams that are kept of each column, unless others are asked for.
_KEPT_WORDS = 2


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    return training.run(arguments, ExampleTraining)


class ExampleTraining(training.Training):
    """Training on examples."""

    of_model = ("classes", "scale", "tf_idf", "hash_bits", "n_features", *OF_TEXT)

    def __init__(self, arguments: Namespace, before: Any, blocks: dict[str, Any] | None) -> None:
        super().__init__(arguments, before, blocks)
        holdout = arguments.holdout
        if holdout is None and before is not None and (how := input_of(before)) is not None:
            holdout = how.holdout  # what was held out is not learnt from later
        self.files = examples(arguments, before, holdout=holdout or None)
        self.words, self.scaler = self._words(), self._scaler()
        self.held: dict[str, Any] | None = None

    @staticmethod
    def load(arguments: Namespace) -> Any:
        """Return the model that goes on."""
        model = load_model(Path(arguments.continued))
        if (name := name_of(model)) != arguments.learner:
            raise UsageError(
                f"--continue {arguments.continued}: holds the learner {name}; write train {name} instead of "
                f"train {arguments.learner}"
            )
        return model

    def _scaler(self) -> Any:
        """Return what learns weights of columns from all examples; None if nothing does."""
        options = vars(self.arguments)
        if "tf_idf" not in options:
            return ScaleFit(options["scale"]) if "scale" in options else None
        if self.blocks is not None:
            raise UsageError(
                "--tf-idf needs all texts before the first one is learnt from, and --stream learns from each "
                "as it comes; leave one of them out"
            )
        if "scale" in options:
            raise UsageError("--tf-idf scales the columns of text, so --scale cannot be combined with it")
        self.files.reading = replace(self.files.reading, tf_idf=True)
        return IdfFit(self.files.reading.norm)

    def _words(self) -> Words | None:
        """Return what counts the n-grams of text; None if none is to be kept."""
        self.most = vars(self.arguments).get("keep_words", _KEPT_WORDS)
        is_linear = LEARNERS[self.arguments.learner].is_linear
        if self.files.form != "lines" or self.most == 0 or not is_linear:
            return None
        words = Words()
        self.files.reading = replace(self.files.reading, ngrams_of=words)
        return words

    def open(self, model: Any) -> Callable[[], object]:
        """Read the examples, or look at the files as far as blocks need it."""
        files, classes = self.files, None if self.before is None else model.classes_  # data may hold some
        if self.blocks is not None and (texts := self.blocks.pop("classes", None)) is not None:
            classes = self._classes(texts)
        weighed = np.array([0, 1]) if files.reading.multilabel else classes
        if self.blocks is not None:
            weigh_classes(model, weighed)
            return self._in_blocks(model, classes, self.blocks)
        data = files.learnt(self.scaler)
        labels = files.target(data)
        weigh_classes(model, labels if weighed is None else weighed)
        return partial(model.fit, data.X, labels, **weights_of(data))

    def _classes(self, texts: tuple[str, ...]) -> NDArray[Any]:
        """Return the labels that --classes names, of the type that the files are then read with."""
        kind = kind_of_labels(texts)
        classes = np.array([int(text) for text in texts] if kind == "i" else texts)
        self.files.reading = replace(self.files.reading, label_kind=kind)
        if self.files.reading.multilabel:
            if kind != "i":
                raise UsageError(f"--classes {','.join(texts)}: lists of labels hold numbers")
            self.files.reading = replace(self.files.reading, list_labels=tuple(sorted(classes.tolist())))
        return classes

    def _in_blocks(self, model: Any, classes: Any, blocks: dict[str, Any]) -> Callable[[], object]:
        files, cache = self.files, blocks.get("cache")
        source = files.source(self.scaler)

        def learn() -> None:
            model.fit_stream(source, classes=classes, **blocks)
            if cache is not None:
                rows, holds_zero = cache_contents(cache)
                files.came_from(rows, holds_zero=holds_zero)

        return learn

    def keep(self, model: Any) -> None:
        """Put on the model how its columns were made, and judge it by what was held out."""
        if self.files.holdout is not None:
            self.held = self._judged(model, self.files.holdout)
        keep_input(model, self.files, self._kept_words(model))  # names of columns, too, which X has not

    def _judged(self, model: Any, holdout: float) -> dict[str, Any]:
        """Return how well a model predicts what was held out."""
        n = errors = 0
        for data in self.files.left_out(model.n_features_in_):
            n += len(data)
            wrong = (model.predict(data.X) != data.labels).reshape(len(data), -1)
            errors += int(np.count_nonzero(wrong.any(axis=1)))
        refuse_share(holdout, n + (self.files.rows or 0), n)
        return {"n_samples": n, "errors": errors, "accuracy": (n - errors) / n}

    def _kept_words(self, model: Any) -> KeptWords | None:
        """Return n-grams of the columns that a model has weights for, also those of an earlier training."""
        planes = None if self.words is None else hyperplanes(model)
        if self.words is None or planes is None:  # the vectors of a run vote
            return None
        columns = np.flatnonzero(planes[0].any(axis=0))
        found = self.words.most_frequent(columns, model.n_features_in_, self.most)
        how = input_of(model)
        older = None if how is None else how.words
        return found if older is None else found.beside(older, columns, self.most)

    def report(self, model: Any, end: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what is to be said, as JSON and in words."""
        n, made, classes = self.files.rows, model.mistakes_per_epoch_, model.classes_
        result = {
            "learner": self.arguments.learner,
            "n_samples": n,
            "classes": [plain(label) for label in classes],
            "n_mistakes": model.n_mistakes_,
            "mistakes_per_epoch": made.tolist(),
        }
        what = "labels" if self.files.reading.multilabel else "classes"
        size = "the first examples" if n is None else f"{n} examples"
        rows = {
            "learner": self.arguments.learner,
            "data": f"{size} of {model.n_features_in_} features, {len(classes)} {what}",
        }
        if hasattr(model, "loss_curve_"):
            result["losses"] = model.loss_curve_
        if (scores := getattr(model, "validation_scores_", None)) is not None:
            result["validation_scores"] = scores.tolist()
        if hasattr(model, "loss_"):
            rows |= {"epochs": str(model.n_iter_), "loss": f"{model.loss_:.6g} in the last epoch"}
        else:
            whose = f" of {made.shape[1]} hyperplanes" if made.shape[1] > 1 else ""
            last = int(made[-1:].sum())
            rows |= {"epochs": end, "mistakes": f"{model.n_mistakes_}{whose}, {last} in the last epoch"}
        if self.held is not None:
            result["holdout"] = self.held
            text = "accuracy {accuracy:.4f}, {errors} errors of {n_samples} examples"
            rows["holdout"] = text.format(**self.held)
        return result, rows
