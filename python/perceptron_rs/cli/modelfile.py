"""Model files, as the command line sees them: everything about their format is behind these functions."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from perceptron_rs.cli.status import CommandError
from perceptron_rs.common.schema import name_of
from perceptron_rs.errors import about
from perceptron_rs.registry import LEARNERS, Entry

__all__ = [
    "check_writable",
    "learner_of",
    "load_model",
    "load_predictor",
    "save_model",
]


def check_writable(path: Path, data: Sequence[Any], option: str = "--model") -> None:
    """Raise if no model can be written there: before the training, and without a trace."""
    if path.is_dir():
        raise CommandError(f"{option} {path}: is a folder; name a file in it")
    if path.exists():
        if not path.is_file():
            raise CommandError(f"{option} {path}: is not a regular file; name another one")
        if any(isinstance(file, str) and Path(file).exists() and path.samefile(file) for file in data):
            raise CommandError(f"{option} {path}: is the data file; name another one")
        if not os.access(path, os.W_OK):
            raise CommandError(f"{option} {path}: is write-protected; name another file")
    folder = path.parent
    if not folder.is_dir():
        raise CommandError(f"{option} {path}: there is no folder {folder}; create it first")
    try:
        with tempfile.TemporaryFile(dir=folder):  # without a name where the system can: a kill leaves nothing
            pass
    except OSError as error:
        raise CommandError(f"{option} {path}: cannot write to {folder}: {error.strerror}") from error


def save_model(model: Any, path: Path) -> None:
    """Write a fitted estimator; after any error the file is as it was."""
    with about(path):
        model.save(path)


def load_model(path: Path, *, sequences: bool | None = False) -> Any:
    """Read an estimator from a model file; ``sequences``: whether it must label them, None if it may."""
    return _checked(path, lambda learners: learners.load(path), sequences)


def load_predictor(path: Path, threads: int | None, *, sequences: bool = False) -> Any:
    """Read what predicts of a model file, of the columns that readers of DATA make."""
    predictor = _checked(path, lambda learners: learners.load_predictor(path, n_jobs=threads), sequences)
    predictor._takes_columns = True
    return predictor


def _checked(path: Path, load: Callable[[ModuleType], Any], sequences: bool | None) -> Any:
    if path.is_dir():
        raise CommandError(f"{path}: is a folder; name a model file in it")
    with path.open("rb") as file:
        if path.is_file() and not file.read(1):
            raise CommandError(f"{path}: the file is empty, so it is not a model")
    with about(path):
        model = load(import_module("perceptron_rs.learners"))
    learner = learner_of(model)
    kind, is_tagger = learner.class_name, learner.data == "sequences"
    if sequences is False and is_tagger:
        raise CommandError(
            f"{path}: holds a {kind}, which labels sequences; use the commands tag and tag-evaluate"
        )
    if sequences and not is_tagger:
        raise CommandError(
            f"{path}: holds {'an' if kind[0] in 'AEIOU' else 'a'} {kind}, which does not label sequences; "
            f"use predict and evaluate"
        )
    return model


def learner_of(model: object) -> Entry:
    """Return what the registry says of a loaded model."""
    name = name_of(model)
    assert name is not None  # else no file could have named it
    return LEARNERS[name]
