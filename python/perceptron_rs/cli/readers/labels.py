"""Labels: from files, tidied, and compared with the classes of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError, about
from perceptron_rs.common.story import label_text

__all__ = ["read_labels", "same_kind", "tidy"]

_EXACT = 2.0**53


def read_labels(path: Path) -> NDArray[Any]:
    """Read labels from a .npy file."""
    if path.suffix.lower() != ".npy":
        raise CommandError(f"{path}: labels must be in a .npy file, written by numpy.save")
    if path.is_dir():
        raise CommandError(f"{path}: is a folder; name a file in it")
    with about(path):
        y = np.load(path, allow_pickle=False)
        if not isinstance(y, np.ndarray) or y.ndim != 1:
            raise CommandError(f"{path}: labels must be one array of one dimension, one for each row")
    return y


def tidy(y: NDArray[Any], where: str) -> NDArray[Any]:
    """Return float labels that are whole as integers, so that 1.0 in a file and 1 are one class."""
    if y.dtype.kind == "f":
        is_finite = np.isfinite(y)
        if not is_finite.all():
            row = int(np.argmin(is_finite))
            raise CommandError(
                f"{where}: row {row + 1}: the label is {y[row]}; labels must be finite, so drop this example"
            )
        if not (np.trunc(y) == y).all():
            value = y[np.trunc(y) != y][0]
            raise CommandError(
                f"{where}: holds the label {value}; labels must be whole numbers or strings, "
                f"so round or bin a regression target first"
            )
        if np.abs(y).max(initial=0.0) < _EXACT:
            return y.astype(np.int64)
    if y.dtype.kind not in "biufU":
        raise CommandError(f"{where}: labels must be numbers or strings, got the type {y.dtype}")
    return y


def same_kind(y: NDArray[Any], classes: NDArray[Any], where: str) -> None:
    """Raise if one of them holds strings and the other numbers, or if they have no label in common."""
    shown = ", ".join(label_text(label) for label in classes[:10]) + (", ..." if len(classes) > 10 else "")
    if (y.dtype.kind in "OU") != (classes.dtype.kind in "OU"):
        found, expected = ("strings", "numbers") if y.dtype.kind in "OU" else ("numbers", "strings")
        raise CommandError(
            f"{where}: its labels are {found}, but the model's classes are {expected} ({shown}); "
            f"pass labels of the same kind with --labels or --target"
        )
    if not np.isin(y, classes).any():
        raise CommandError(
            f"{where}: no label is one of the model's classes ({shown}); its first label is "
            f"{label_text(y[0])!r}; choose the right column with --target, or pass other labels with --labels"
        )
