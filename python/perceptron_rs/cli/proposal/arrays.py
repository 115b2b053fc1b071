"""What learns from arrays: of NumPy, MATLAB and pickles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from perceptron_rs.cli.proposal.columns import CLASSES
from perceptron_rs.cli.proposal.form import Form

#: What examples and labels are called among arrays.
_EXAMPLES = re.compile("x|data|features|images|arr_0|x_?train|train_?(set_)?(x|data|images)", re.IGNORECASE)
_LABELS = re.compile("y|labels?|targets?|arr_1|y_?train|train_?(set_)?(y|labels?)", re.IGNORECASE)


def of_named(read: Callable[[], Any], names: Iterable[str], *, is_pair: bool = False) -> Form | None:
    """Return arrays X and y of others that are called like it; of a pair without names, those two."""
    names = list(names)
    called = [next(filter(pattern.fullmatch, names), None) for pattern in (_EXAMPLES, _LABELS)]
    places: list[Any] = [0, 1] if is_pair and None in called else called
    if None in places:
        return None

    def write(out: TextIO) -> None:
        arrays = read()
        X, y = (np.array(arrays[place]) for place in places)
        np.savez(out.buffer, X=X.reshape(len(X), -1), y=y.ravel())

    return Form((), ending=".new.npz", write=write)


def of_npz(path: Path) -> Form | None:
    """Return arrays X and y, unless they are there."""
    with np.load(path) as arrays:
        names = arrays.files
    return None if {"X", "y"} <= {*names} else of_named(partial(np.load, path), names)


def of_matlab(path: Path) -> Form | None:
    """Return arrays X and y of a file of MATLAB."""
    io = import_module("scipy.io")
    return of_named(partial(io.loadmat, path), (name for name, *_ in io.whosmat(path)))


def of_npy(path: Path) -> Form | None:
    """Return the labels that lie beside an array, else those of its last column, if it may hold some."""
    array = np.load(path, mmap_mode="r")
    if array.ndim != 2:
        return None
    beside = [other for other in sorted(path.parent.glob("*.npy")) if _LABELS.fullmatch(other.stem)]
    for labels in beside:
        if np.load(labels, mmap_mode="r").shape == array.shape[:1]:
            return Form(["--labels", str(labels)])
    X, y = array[:, :-1], array[:, -1]
    classes = np.unique(y)
    if not (2 <= len(classes) <= CLASSES and np.array_equal(classes, np.floor(classes))):
        return None
    return Form((), ending=".new.npz", write=lambda out: np.savez(out.buffer, X=X, y=y.astype(int)))
