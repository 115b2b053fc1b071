"""Model files, as the command line sees them: everything about their format is behind these functions."""

from __future__ import annotations

import os
import warnings
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

from perceptron_rs import learners
from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.cli.words import say, text_of
from perceptron_rs.errors import ArgumentError, about, with_article
from perceptron_rs.models.files import check_target
from perceptron_rs.registry import REGISTRY, Entry
from perceptron_rs.schema.schema import name_of

#: Arguments that name files which a command reads, or writes beside its model.
_FILES = ("data", "labels", "audit_key", "cache", "calibrate", "checkpoint")


def check_writable(path: Path, arguments: Namespace, option: str = "--model") -> None:
    """Raise if no model can be written there: before the training, and without a trace.

    UsageError if another argument names this file.
    """
    for name in _FILES:
        named = vars(arguments).get(name)
        for file in named if isinstance(named, tuple) else (named,):
            if isinstance(file, str | Path) and _is_same(Path(file), path):
                raise UsageError(f"{option} {path}: is the file of {say(name)}; name another one")
    try:
        check_target(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"{option} {path}: {reason[:1].lower()}{reason[1:]}") from error


def model_file(arguments: Namespace) -> Path:
    """Return the file that a model is written to: the one of an option, or DATA with another suffix.

    UsageError if no option says it, and DATA cannot, or a file that is no model would be lost.
    """
    if arguments.model is not None:
        return Path(arguments.model)
    words = arguments.words
    if len(words) > 1 or has_magic(words[0]) or words[0] == "-":
        raise UsageError("DATA is no single file, so the model has no name; name its file with --model OUT")
    name = Path(os.path.abspath(words[0])).name  # noqa: PTH100  of . and .., too
    path = Path(f"{name.partition('.')[0] or name}.model")
    if path.exists() and not is_model(path):
        raise UsageError(f"{path}: is there, and no model file; name another one with --model OUT")
    return path


def is_model(path: Path) -> bool:
    """Whether a file begins as model files of the package do."""
    try:
        with path.open("rb") as file:
            return b'"perceptron_rs"' in file.read(1 << 12)
    except OSError:
        return False


def _is_same(one: Path, other: Path) -> bool:
    exist = one.exists() and other.exists()
    return one.samefile(other) if exist else one.resolve() == other.resolve()


def save_model(model: Any, path: Path, **smaller: Any) -> None:
    """Write a fitted estimator, perhaps a ``smaller`` file; after any error the file is as it was."""
    with about(path):
        model.save(path, **smaller)


class FileModel:
    """The model that a file holds: the one that has learnt, or what options leave of its weights.

    Parameters
    ----------
    model : estimator
    arguments : Namespace

    Attributes
    ----------
    model : estimator
    how : dict
        The arguments of ``save``.
    """

    def __init__(self, model: Any, arguments: Namespace) -> None:
        from perceptron_rs.models.writer import with_fewer_bits

        options = vars(arguments)
        self.learnt = self.model = model
        self.fewer_bits = {
            name: options[name] for name in ("dtype", "prune") if options.get(name) is not None
        }
        if self.fewer_bits:
            try:
                self.model = with_fewer_bits(
                    model, self.fewer_bits.get("dtype"), self.fewer_bits.get("prune")
                )
            except ArgumentError as error:  # what was learnt is not lost
                warnings.warn(f"{text_of(error)}; the file has all bits", UserWarning, stacklevel=2)
                self.fewer_bits = {}

    def report(self) -> dict[str, Any]:
        """Return what the weights of the file are, as JSON."""
        return {
            **self.fewer_bits,
            "columns": _with_weights(self.model),
            "columns_learnt": _with_weights(self.learnt),
        }

    def in_words(self) -> str:
        """Return what the weights of the file are."""
        text = f", rounded to {self.fewer_bits['dtype']}" if "dtype" in self.fewer_bits else ""
        return f"in {_with_weights(self.model)} of {_with_weights(self.learnt)} columns{text}"


def _with_weights(model: Any) -> int:
    """Return how many columns have a weight other than 0."""
    from perceptron_rs.prediction.hyperplanes import columns_with_weights

    columns = columns_with_weights(model)
    assert columns is not None  # else nothing could have been rounded
    return len(columns)


def load_model(path: Path, threads: int | None = None, *, sequences: bool | None = False) -> Any:
    """Read an estimator from a model file, of the columns that readers of DATA make.

    ``sequences`` says whether it must label them; None: it may.
    """
    model = _checked(path, learners.load, sequences)
    model._takes_columns = True
    if hasattr(model, "n_jobs"):
        model.n_jobs = threads
    return model


def open_predictor(path: Path, threads: int | None, *, sequences: bool = False) -> Any:
    """Read what predicts of a model file, of the columns that readers of DATA make."""
    predictor = _checked(path, partial(learners.load_predictor, n_jobs=threads), sequences)
    predictor._takes_columns = True
    return predictor


def _checked(path: Path, load: Callable[[Path], Any], sequences: bool | None) -> Any:
    with about(path):
        model = load(path)
    kind = entry_of(model)
    is_tagger = kind.data == "sequences"
    if sequences is not None and sequences != is_tagger:
        what = "does not label sequences; use train, predict and evaluate"
        if is_tagger:
            what = "labels sequences; use the commands tag-train, tag and tag-evaluate"
        raise UsageError(f"{path}: holds {with_article(kind.class_name)}, which {what}")
    return model


def entry_of(model: object) -> Entry:
    """Return what the registry says of a loaded model."""
    name = name_of(model)
    assert name is not None  # else no file could have named it
    return REGISTRY[name]
