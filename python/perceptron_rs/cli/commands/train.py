"""``perceptrons train``: from a file of examples to a model file."""

from __future__ import annotations

import shlex
import warnings
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import example_files, weigh_classes, weights_of
from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.cli.status import PROGRAM, CommandError, UsageError
from perceptron_rs.cli.training import common as training
from perceptron_rs.cli.training.calibration import CalibrationSetting
from perceptron_rs.cli.training.report import (
    Trial,
    classes_in_words,
    columns_in_words,
    counting_columns,
    first_of_classes,
    left_out_in_words,
    n_errors,
    trial,
)
from perceptron_rs.features.categories import LOOKED_AT, TextNotes, alike, kind_of_strings, say_alike
from perceptron_rs.features.idf import IdfFit
from perceptron_rs.features.text import KeptWords, Words
from perceptron_rs.io.examples import Examples, refuse_share
from perceptron_rs.io.hashed.lines import kind_of_labels
from perceptron_rs.io.reading import OF_TEXT, TABLES
from perceptron_rs.io.text.lines import name_of_file
from perceptron_rs.io.text.paths import PACKED
from perceptron_rs.models.summary import plain
from perceptron_rs.parameters.kinds import listed
from perceptron_rs.prediction.hyperplanes import columns_with_weights
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.recipe.of_files import keep_recipe
from perceptron_rs.recipe.scale import ScaleFit
from perceptron_rs.registry import REGISTRY
from perceptron_rs.schema.schema import name_of
from perceptron_rs.stream.cache import cache_contents
from perceptron_rs.targets.distinct import distinct

#: N-grams that are kept of each column, unless others are asked for.
_KEPT_WORDS = 2
#: Of so few examples each may well have a class of its own.
_MANY = 20
#: More numbers than these, each of which has fewer examples than those, are no classes.
_NUMBERS, _EACH = 100, 5
#: Bytes of weights.
_LARGE = 1_000_000_000


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    return training.run_training(arguments, ExampleTraining)


class ExampleTraining(training.Training):
    """Training on examples."""

    of_model = ("classes", "scale", "tf_idf", "hash_bits", "text_columns", "n_features", *OF_TEXT)

    def __init__(self, arguments: Namespace, before: Any, blocks: dict[str, Any] | None) -> None:
        super().__init__(arguments, before, blocks)
        self.calibrates = CalibrationSetting(arguments, before)
        self.files = example_files(
            arguments, before, holdout=self.calibrates.holdout, calibration=self.calibrates.share
        )
        self.words, self.scaler, self.notes = self._words(), self._scaler(), TextNotes()
        self.files.reading = replace(self.files.reading, notes=self.notes)
        self.held: dict[str, Any] | None = None
        #: The examples, where the learner is also tried on a tenth of them, and what came of it.
        self._all: Examples | None = None
        self._trial: Trial | None = None
        self._calibration: tuple[dict[str, Any], str] | None = None
        self._table: dict[str, str] = {}
        self._counting: tuple[str, ...] = ()

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
        """Return the scaler that a first pass fits; None if no option asks for one."""
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
        return IdfFit(self.files.reading.norm)

    def _words(self) -> Words | None:
        """Return the counter of n-grams whose names are kept; None if no names are."""
        self.most = vars(self.arguments).get("keep_words", _KEPT_WORDS)
        is_linear = REGISTRY[self.arguments.learner].is_linear
        if self.files.reading.hash_bits is None or self.most == 0 or not is_linear:
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
            self._warn_of_size(2 if classes is None else len(classes))
            weigh_classes(model, weighed)
            return self._in_blocks(model, classes, self.blocks)
        data = files.learnt(self.scaler)
        labels = files.target(data)
        self._refuse_labels(labels)
        self._warn_of_size(len(labels.classes if files.reading.multilabel else distinct(labels)[0]))
        weigh_classes(model, labels if weighed is None else weighed)
        self._look_at(data)
        return partial(model.fit, data.rows, labels, **weights_of(data))

    def _warn_of_size(self, n_classes: int) -> None:
        """Warn before a fit whose weights, those of all hashed columns, take gigabytes."""
        bits = self.files.reading.hash_bits
        planes = 1 if n_classes == 2 and not self.files.reading.multilabel else n_classes
        size = 0 if bits is None else 8 * planes << bits
        if size >= _LARGE:
            warnings.warn(
                f"the weights of 2^{bits} columns take {size / 1e9:.1f} GB, and training may take several "
                f"times as much; a smaller --hash-bits takes less",
                UserWarning,
                stacklevel=2,
            )

    def _look_at(self, data: Examples) -> None:
        """Note what was read, and keep it, if the learner is to be tried on a tenth of it."""
        if (first := first_of_classes(data)) is not None and "target" not in vars(self.arguments):
            raise CommandError(
                f"{self.files.name}: of its last columns, from {first!r} on, one holds 1 in each row and the "
                f"others 0, as if each were a class; write the names of the classes into one column, or say "
                f"with --target which one is to be told from the others"
            )
        classes = None if self.files.reading.multilabel else classes_in_words(data)
        columns, left_out = columns_in_words(self.files, data), left_out_in_words(self.files, data)
        rows = {"classes": classes, "columns": "\n".join(columns), "left out": left_out}
        self._table = {name: text for name, text in rows.items() if text is not None}
        self._counting = counting_columns(data)
        arguments = self.arguments
        if not arguments.is_named and arguments.holdout is None and self.before is None:
            self._all = data

    def judge(self, model: Any) -> None:
        """Try the learner on a tenth of the examples, unless an option says how to judge it."""
        if self._all is not None:
            data, self._all = self._all, None
            self._trial = trial(model, self.files, data)

    def _refuse_labels(self, labels: Any) -> None:
        """Raise CommandError for labels that seem to be texts, or numbers that are no classes."""
        if self.files.reading.multilabel or len(labels) < _MANY:
            return
        if labels.dtype.kind in "iu" and not self.arguments.is_named:
            n = len(distinct(labels)[0])
            if n > _NUMBERS and _EACH * n > len(labels):
                raise CommandError(
                    f"{self.files.name}: the labels are {n} different numbers in {len(labels)} examples, and "
                    f"this is a classifier; make classes of them, such as above and below "
                    f"{np.median(labels):g}, the median, or name the learner (train averaged) to learn a "
                    f"class for each number"
                )
        kind = kind_of_strings(labels[:LOOKED_AT].tolist()) if labels.dtype.kind in "OU" else None
        if kind is not None and kind.is_refused:
            raise CommandError(
                f"{self.files.name}: the labels are {kind.what}, such as {str(labels[0])!r:.60}; write the "
                f"label before the text, or name the column of the labels with --target"
            )

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
            self._use_held_out(model, self.files.holdout)
        keep_recipe(model, self.files, self._kept_words(model))  # names of columns, too, which X has not
        self.calibrates.by_file(model)
        self._calibration = self.calibrates.report(model)

    def _use_held_out(self, model: Any, holdout: float) -> None:
        """See how well a model predicts what was held out, and calibrate it."""
        n = errors = 0
        for data, calibrates in self.files.left_out_for(model.n_features_in_):
            if calibrates:
                self.calibrates.add(model, data)
                continue
            n, errors = n + len(data), errors + n_errors(model, data)
        held = n + self.calibrates.n_samples
        refuse_share(holdout, held + (self.files.rows or 0), held)
        self.calibrates.calibrate(model)
        if n:
            self.held = {"n_samples": n, "errors": errors, "accuracy": (n - errors) / n}

    def _kept_words(self, model: Any) -> KeptWords | None:
        """Return n-grams of the columns that a model has weights for, also those of an earlier training."""
        columns = None if self.words is None else columns_with_weights(model)
        if self.words is None or columns is None:  # the vectors of a run vote
            return None
        words = self.words.most_frequent(columns, model.n_features_in_, self.most)
        recipe = learnt_recipe(model)
        older = None if recipe is None else recipe.words
        return words if older is None else words.beside(older, columns, self.most)

    def report(self, model: Any, end: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the report of the training, as JSON and in words."""
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
        rows |= self._table
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
        if (said := self.notes.in_words()) is not None:
            result["texts"] = {"without_features": self.notes.empty, "without_blanks": self.notes.unbroken}
            remedy = "; words have two letters or more: see --analyzer char_wb"
            rows["texts"] = said + (remedy if self.files.reading.analyzer == "word" else "")
        if same := alike(classes.tolist()) if classes.dtype.kind in "OU" else []:
            result["labels_alike"], rows["alike"] = list(map(list, same)), say_alike(same)
        if self._calibration is not None:
            result["calibration"], rows["scores"] = self._calibration
        if self.held is not None:
            result["holdout"] = self.held
            text = "accuracy {accuracy:.4f}, {errors} errors of {n_samples} examples"
            rows["holdout"] = text.format(**self.held)
        if self._trial is not None:
            result["trial"] = self._trial.to_json()
            seen = "the model in the file has learnt from all of them"
            if {"scale", "tf_idf"} & vars(self.arguments).keys():
                seen += "; the scale of the columns is that of all in the trial, too"
            rows["held out"] = f"{self._trial.in_words()}\n{seen}"
            if self._trial.is_useless:
                rows["useless"] = "who always says the most frequent class is wrong no more often"
                if self.files.form in (*TABLES, "jsonl"):
                    rows["useless"] += "; are the labels in another column? --target NAME says which"
        return result, rows

    def next_steps(self, out: Path) -> list[str]:
        """Return what to type next, a command a line."""
        typed = f"{PROGRAM} {shlex.join(self.arguments.typed)}"
        steps = []
        if self._counting:
            steps.append(f"{typed} --drop {shlex.quote(listed(self._counting))}")
        elif (tried := self._trial) is not None and tried.scaled is not None and tried.scaled < tried.errors:
            accuracy = 1 - tried.scaled / tried.n
            steps.append(f"{typed} --scale standard   # accuracy {accuracy:.4f} on the same examples")
        path = Path(name_of_file(self.files.files[0]))
        suffix = "".join(path.suffixes[-2 if path.suffix in PACKED else -1 :])
        model = shlex.quote(str(out))
        return [*steps, f"{PROGRAM} predict {model} NEW{suffix}", f"{PROGRAM} inspect {model}"]
