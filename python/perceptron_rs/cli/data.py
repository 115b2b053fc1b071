"""The argument DATA of commands: names of files, standard input, and the options of reading."""

from __future__ import annotations

import io
import json
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.cli.words import say, text_of
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, reading_of
from perceptron_rs.io.text.paths import paths_of
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.models.summary import label_text, plain
from perceptron_rs.recipe.of_files import known_of
from perceptron_rs.targets.distinct import distinct


class _StandardInput:
    """Standard input under the name that messages call it by; it is looked at when it is read."""

    name = "standard input"

    def __getattr__(self, attribute: str) -> Any:
        if sys.stdin is None:
            raise CommandError("standard input: is closed; name a file")
        if "_file" not in vars(self):
            # A test's or a caller's own object may hold text alone.
            self._file = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())
        return getattr(self._file, attribute)


def data_of(words: Sequence[str]) -> tuple[Any, ...]:
    """Return what the words of DATA name: standard input, or the files of all of them."""
    if list(words) == ["-"]:
        return (_StandardInput(),)
    if "-" in words:
        raise UsageError(
            "standard input (-) cannot be one of several files; name the files, or pipe them all"
        )
    return tuple(paths_of(words))


def example_files(
    arguments: Namespace,
    model: object = None,
    *,
    labels: bool = True,
    holdout: float | None = None,
    calibration: float | None = None,
) -> TrainingFiles:
    """Return DATA, to be read as the options and the model say; two shares of it are left out."""
    return TrainingFiles(arguments.data, reading_for(arguments, model, labels=labels), holdout, calibration)


def reading_for(arguments: Namespace, model: object = None, *, labels: bool = True) -> Reading:
    """Return what the options and the model say of the data."""
    options = vars(arguments)
    if options.get("labelled") is False and ("target" in options or "labels" in options):
        raise UsageError(
            "--unlabelled says that there are no labels, so --target and --labels have no effect"
        )
    if "columns" in options and "drop" in options:
        raise UsageError("--columns says which columns are features, so --drop has no effect beside it")
    known = None if model is None else known_of(model, options)
    if known is not None and options.get("multilabel", known["multilabel"]) != known["multilabel"]:
        learnt = "a list of labels" if known["multilabel"] else "one label"
        option = say("multilabel", not known["multilabel"])
        raise UsageError(f"{option}: the model has learnt {learnt} for each example; leave it out")
    settings = {name: options.get(name) for name in ("labelled", "threads")}
    return reading_of(options, known, with_labels=labels, **settings)


class BadLines:
    """What is done with lines that cannot be taken: the first ends the command, or all are left out."""

    def __init__(self, arguments: Namespace) -> None:
        self._is_skipping, self._is_quiet = arguments.skip_bad, arguments.quiet
        self.count, self.first = 0, ""

    def __call__(self, error: ValueError, name: str, place: str) -> None:
        """Count a line, or raise CommandError, which names the place in the file, and not that in X."""
        text = text_of(error)
        if place not in text:
            text = re.sub(r"^row \d+: ", "", text.removeprefix(name).removeprefix(": "))
            text = f"{name}, {place}: {text}"
        if not self._is_skipping:
            raise CommandError(text)
        self.count, self.first = self.count + 1, self.first or text

    def end(self) -> None:
        """Say how many there were."""
        if self.count and not self._is_quiet and sys.stderr is not None:
            print(f"{self.count} lines were skipped, the first: {self.first}", file=sys.stderr)


def weights_of(data: Examples) -> dict[str, Any]:
    """Return the weights of examples as methods take them."""
    return {} if data.weights is None else {"sample_weight": data.weights}


def weigh_classes(model: Any, labels: NDArray[Any] | None) -> None:
    """Give weights to classes, which options name as text; ``labels``: theirs, None if nobody knows them."""
    written = vars(model).get("class_weight")
    if not isinstance(written, list):
        return
    if "balanced" in written:
        if len(written) > 1:
            raise UsageError("--class-weight balanced cannot be combined with weights of single classes")
        model.class_weight = "balanced"
        return
    if labels is None:
        raise UsageError(
            "--class-weight of single classes needs all labels before --stream has read them; name them by "
            "--classes"
        )
    classes = {label_text(label): plain(label) for label in distinct(labels)[0]}
    for name, weight in written:
        if name not in classes:
            known = ", ".join(list(classes)[:10])
            raise CommandError(f"--class-weight {name}={weight}: the data has no class {name!r}, but {known}")
    if len(dict(written)) < len(written):
        raise UsageError("--class-weight names a class twice; give each one weight")
    model.class_weight = {classes[name]: weight for name, weight in written}


def lines_of(classes: NDArray[Any], *, as_json: bool, with_numbers: bool = False) -> list[str]:
    """Return the line that answers with each class, without its end; CommandError if one takes several."""
    if as_json:
        return [json.dumps({"label": plain(label)}) for label in classes]
    texts = [label_text(label) for label in classes]
    odd = next((text for text in texts if set(text) & set("\n\r\t" if with_numbers else "\n\r")), None)
    if odd is not None:
        raise CommandError(
            f"the class {odd!r:.80} has a line end or a tab, which would end its answer early; add --json"
        )
    return texts


def several(labels: NDArray[Any]) -> str:
    """Return some labels, for an error."""
    return ", ".join(map(label_text, labels[:10])) + ", ..." * (len(labels) > 10)
