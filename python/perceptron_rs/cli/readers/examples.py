"""From a file to examples and labels, by its suffix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError, about
from perceptron_rs.cli.readers.labels import read_labels, tidy
from perceptron_rs.cli.readers.wanted import Wanted

__all__ = ["TEXT", "Data", "load", "suffix_of"]

TEXT = (".svm", ".libsvm", ".svmlight", ".txt")
SUFFIXES = (*TEXT, ".csv", ".npz", ".npy", ".parquet")
PACKED = (*TEXT, ".csv")  # those that may have .gz behind them


@dataclass(frozen=True)
class Data:
    """Examples; labels and names of the columns, if there are any."""

    X: Any
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    zero_based: bool | None = None  # of svmlight text

    @property
    def labels(self) -> NDArray[Any]:
        """The labels of a file that was loaded with them."""
        assert self.y is not None
        return self.y


def load(path: Path, wanted: Wanted) -> Data:
    """Read a file of examples; raise CommandError, which names it, if it is not as wanted."""
    suffix = suffix_of(path)
    check_file(path)
    with about(path):
        data = _read(path, suffix, wanted)
        if wanted.beside is not None:
            data = replace(data, y=read_labels(wanted.beside))
        n = data.X.shape[0]
        if data.X.ndim != 2 or n == 0 or data.X.shape[1] == 0:
            raise CommandError(f"{path}: contains no examples: its shape is {data.X.shape}")
        if wanted.features is not None and data.X.shape[1] != wanted.features:
            raise CommandError(f"{path}: has {data.X.shape[1]} features, but {wanted.features} are expected")
        if data.y is None:
            if wanted.labels:
                raise CommandError(f"{path}: contains no labels; pass them with --labels FILE.npy")
            return data
        y = tidy(data.y, str(wanted.beside or path))
        if len(y) != n:
            raise CommandError(f"{wanted.beside or path}: {len(y)} labels for the {n} examples of {path}")
    return replace(data, y=y)


def suffix_of(path: Path) -> str:
    """Return the suffix that says how to read the file, without .gz."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        inner = Path(path.stem).suffix.lower()
        if inner in PACKED:
            return inner
        raise CommandError(f"{path}: only {', '.join(PACKED)} may be compressed, as in data.svm.gz")
    if suffix not in SUFFIXES:
        raise CommandError(
            f"{path}: unknown suffix {suffix!r}; the suffix must be one of {', '.join(SUFFIXES)}"
        )
    return suffix


def check_file(path: Path) -> None:
    """Raise unless there is a file that can be read and has anything in it."""
    if path.is_dir():
        raise CommandError(f"{path}: is a folder; name a file in it")
    if path.is_file() or not path.exists():  # the beginning of a pipe can be read once only
        with path.open("rb") as file:
            if not file.read(1):
                raise CommandError(f"{path}: the file is empty")


def _read(path: Path, suffix: str, wanted: Wanted) -> Data:
    if suffix in TEXT:
        return _read_svmlight(path, wanted)
    if suffix in (".npz", ".npy"):
        from perceptron_rs.cli.readers.arrays import read_npy, read_npz

        return Data(read_npy(path)) if suffix == ".npy" else Data(*read_npz(path))
    from perceptron_rs.cli.readers.tables import read_table

    return Data(*read_table(path, suffix, wanted))


def _read_svmlight(path: Path, wanted: Wanted) -> Data:
    try:
        X, y, zero_based = _load_svmlight(path, wanted)
    except ValueError as error:
        if wanted.base_of_model and "has the column 0" in str(error):
            raise CommandError(
                f"{path}: has a column 0, but the model counts columns from 1, like the file it was trained "
                "on; if both count from 0, train with --zero-based yes"
            ) from error
        if wanted.features is not None and "n_features" in str(error):
            X, _, zero_based = _load_svmlight(path, replace(wanted, features=None))
            counted = f", counted from {int(not zero_based)} as by the model" if wanted.base_of_model else ""
            raise CommandError(
                f"{path}: has {X.shape[1]} features{counted}, but {wanted.features} are expected; "
                f"to expect more features than the training file has, train with --features N"
            ) from error
        raise
    return Data(X, y, zero_based=zero_based)


def _load_svmlight(path: Path, wanted: Wanted) -> tuple[Any, NDArray[np.float64], bool]:
    from perceptron_rs.io.svmlight import load_with_base

    return load_with_base(
        path, n_features=wanted.features, zero_based=wanted.zero_based, n_jobs=wanted.threads
    )
