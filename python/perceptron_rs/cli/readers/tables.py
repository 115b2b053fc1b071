"""Examples from CSV and Parquet: named columns, one of which holds the labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.formats import Column, read_columns
from perceptron_rs.cli.readers.wanted import Wanted

__all__ = ["read_table"]

Table = tuple[NDArray[Any], NDArray[Any] | None, tuple[str, ...] | None]


def read_table(path: Path, suffix: str, wanted: Wanted) -> Table:
    """Return the matrix of features, the labels, and the names of the features."""
    text = wanted.target if wanted.strings else None
    columns = read_columns(path, suffix, wanted.header, text, last_is_text=wanted.strings and text is None)
    by_name = {column.name: column for column in columns}
    named = suffix == ".parquet" or wanted.header
    if named and suffix != ".parquet" and all(_is_number(name) for name in by_name):
        raise CommandError(
            f"{path}: the names of all columns are numbers ({', '.join(list(by_name)[:3])}, ...); "
            f"pass --no-header if the first line is an example"
        )
    if len(by_name) < len(columns):
        twice = next(c.name for c in columns if sum(other.name == c.name for other in columns) > 1)
        raise CommandError(f"{path}: two columns are called {twice!r}; give each a name of its own")
    target = _target(path, by_name, wanted, named)
    names = [name for name in by_name if name != target]
    if wanted.names is not None and named:
        lacking = [name for name in wanted.names if name not in by_name]
        if lacking:
            raise CommandError(f"{path}: lacks {len(lacking)} of the model's columns, {lacking[0]!r} first")
        names = list(wanted.names)
    elif wanted.features is not None and len(names) != wanted.features:
        raise CommandError(
            f"{path}: has {len(names)} features, but the model was trained with {wanted.features}; "
            f"name the column of the labels with --target"
        )
    if not names:
        raise CommandError(f"{path}: has no columns except the labels {target!r}")
    X = _matrix([by_name[name] for name in names], path)
    y = None if target is None else _labels(by_name[target], path)
    return X, y, tuple(names) if named else None


def _target(path: Path, columns: dict[str, Column], wanted: Wanted, named: bool) -> str | None:
    """Return the name of the column of labels; None if they are not in the table.

    ``named`` says whether the names are the file's own.
    """
    if wanted.target is not None:
        if wanted.target in columns:
            return wanted.target
        if not wanted.labels:
            return None
        known = ", ".join(list(columns)[:10]) + (", ..." if len(columns) > 10 else "")
        raise CommandError(f"{path}: has no column {wanted.target!r} for --target; its columns are {known}")
    if wanted.beside is not None:
        return None
    last = next(reversed(columns))
    if not wanted.labels:  # of data to predict, the last column may be one of the features
        if wanted.names is not None and named:
            return None
        return last if len(columns) - 1 == wanted.features else None
    if wanted.names is not None and last in wanted.names and named:
        raise CommandError(
            f"{path}: its last column {last!r} is a feature of the model; name the column of the labels with "
            "--target"
        )
    return last


def _matrix(columns: list[Column], path: Path) -> NDArray[Any]:
    """Return the columns beside each other, in the one type that holds all of them."""
    for column in columns:
        if column.missing:
            raise CommandError(
                f"{path}: column {column.name!r} has {column.missing} missing values; "
                f"fill them or drop the rows"
            )
        if column.values.dtype.kind not in "biuf":
            raise CommandError(
                f"{path}: column {column.name!r} holds {column.kind}, not numbers; encode it or drop it, "
                f"or name it with --target if it holds the labels"
            )
    kind = np.result_type(*{column.values.dtype for column in columns})
    X = np.empty((len(columns[0].values), len(columns)), dtype=kind)
    for index, column in enumerate(columns):
        X[:, index] = column.values
    return X


def _labels(column: Column, path: Path) -> NDArray[Any]:
    if column.missing:
        raise CommandError(
            f"{path}: the labels in column {column.name!r} have {column.missing} missing values; "
            f"drop these rows"
        )
    if column.values.dtype.kind not in "biufOU":
        raise CommandError(
            f"{path}: the labels in column {column.name!r} are {column.kind}; they must be numbers or strings"
        )
    return column.values.astype(str) if column.values.dtype.kind == "O" else column.values


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
