"""Model files, as the command line sees them: everything about their format is behind these functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from perceptron_rs import learners
from perceptron_rs.cli.status import CommandError
from perceptron_rs.common.schema import name_of
from perceptron_rs.errors import about
from perceptron_rs.models.files import check_target
from perceptron_rs.registry import LEARNERS, Entry

__all__ = [
    "check_writable",
    "learner_of",
    "load_model",
    "load_predictor",
    "save_model",
]


def check_writable(path: Path, data: Sequence[Any], option: str = "--model") -> None:
    """Raise CommandError if no model can be written there: before the training, and without a trace."""
    files = [file for file in data if isinstance(file, str) and Path(file).exists()]
    if path.exists() and any(map(path.samefile, files)):
        raise CommandError(f"{option} {path}: is the data file; name another one")
    try:
        check_target(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"{option} {path}: {reason[:1].lower()}{reason[1:]}") from error


def save_model(model: Any, path: Path) -> None:
    """Write a fitted estimator; after any error the file is as it was."""
    with about(path):
        model.save(path)


def load_model(path: Path, threads: int | None = None, *, sequences: bool | None = False) -> Any:
    """Read an estimator from a model file; ``sequences``: whether it must label them, None if it may."""
    model = _checked(path, learners.load, sequences)
    if hasattr(model, "n_jobs"):
        model.n_jobs = threads
    return model


def load_predictor(path: Path, threads: int | None, *, sequences: bool = False) -> Any:
    """Read what predicts of a model file, of the columns that readers of DATA make."""
    predictor = _checked(path, partial(learners.load_predictor, n_jobs=threads), sequences)
    predictor._takes_columns = True
    return predictor


def _checked(path: Path, load: Callable[[Path], Any], sequences: bool | None) -> Any:
    with about(path):
        model = load(path)
    kind = learner_of(model)
    is_tagger = kind.data == "sequences"
    if sequences is not None and sequences != is_tagger:
        article = "an" if kind.class_name[0] in "AEIOU" else "a"
        what = "does not label sequences; use predict and evaluate"
        if is_tagger:
            what = "labels sequences; use the commands tag and tag-evaluate"
        raise CommandError(f"{path}: holds {article} {kind.class_name}, which {what}")
    return model


def learner_of(model: object) -> Entry:
    """Return what the registry says of a loaded model."""
    name = name_of(model)
    assert name is not None  # else no file could have named it
    return LEARNERS[name]
