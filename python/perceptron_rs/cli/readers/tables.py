"""Examples from CSV and Parquet: named columns, one of which holds the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.formats import Column, Table, read_columns
from perceptron_rs.cli.readers.lines import hasher
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.packed import MAX_RATIO

__all__ = ["TableLines", "read_table"]


class TableLines:
    """Reads parts of a CSV file; the first line of the first part may be the header of all.

    Parameters
    ----------
    name : str
        What errors call the file.
    form : {"csv", "tsv"}
        What separates the columns, unless an option says so.
    wanted : Wanted
        What the command and the model need of it.
    """

    def __init__(self, name: str, form: str, wanted: Wanted) -> None:
        self._name, self._form, self._wanted = name, form, wanted
        self._header: bytes | None = None if wanted.header else b""

    def part(self, first: int, text: bytes) -> Data:
        """Return the examples in whole lines, the first of which has this number."""
        if self._header is None:
            self._header, _, text = text.partition(b"\n")
            self._header += b"\n"
        if first > 1 and not text.strip():
            return Data(np.zeros((0, self._wanted.features or 0)))
        return read_table(self._name, self._form, self._wanted, self._header + text)


def read_table(name: str, form: str, wanted: Wanted, text: bytes | None = None) -> Data:
    """Return the examples of a table: of a file, or of text that was read from one."""
    labels = (wanted.target,) if wanted.strings else ()
    table = Table(
        name,
        form,
        wanted.header,
        wanted.delimiter or ("\t" if form == "tsv" else ","),
        text,
        (*labels, *(wanted.texts or ())),
        wanted.max_ratio or MAX_RATIO,
    )
    columns = read_columns(table)
    by_name = {column.name: column for column in columns}
    is_parquet = form == "parquet"
    named = is_parquet or wanted.header
    if named and not is_parquet and all(_is_number(column) for column in by_name):
        raise CommandError(
            f"{name}: the names of all columns are numbers ({', '.join(list(by_name)[:3])}, ...); "
            f"pass --no-header if the first line is an example"
        )
    if len(by_name) < len(columns):
        twice = next(c.name for c in columns if sum(other.name == c.name for other in columns) > 1)
        raise CommandError(f"{name}: two columns are called {twice!r}; give each a name of its own")
    target = _target(name, by_name, wanted, named)
    names = _features(name, by_name, target, wanted, named)
    y = None if target is None else _labels(by_name[target], name)
    chosen = [by_name[feature] for feature in names]
    if wanted.hash_bits is not None:
        texts = tuple(column.name for column in chosen if column.values.dtype.kind == "O")
        return Data(_hashed(chosen, wanted.hash_bits), y, hashed=(tuple(names), texts))
    return Data(_matrix(chosen, name), y, tuple(names) if named else None)


def _features(
    path: str, columns: dict[str, Column], target: str | None, wanted: Wanted, named: bool
) -> list[str]:
    """Return the names of the columns that are features."""
    said = (("--columns", wanted.columns or ()), ("--drop", wanted.drop), ("", wanted.names or ()))
    for option, names in said if named else said[:2]:
        lacking = [name for name in names if name not in columns]
        if lacking and not option:
            raise CommandError(f"{path}: lacks {len(lacking)} of the model's columns, {lacking[0]!r} first")
        if lacking:
            known = ", ".join(list(columns)[:10]) + (", ..." if len(columns) > 10 else "")
            raise CommandError(f"{path}: has no column {lacking[0]!r} for {option}; its columns are {known}")
    if wanted.names is not None and named:
        return list(wanted.names)
    if wanted.columns is not None:
        found = [name for name in wanted.columns if name != target]
    else:
        found = [name for name in columns if name != target and name not in wanted.drop]
    if wanted.features is not None and wanted.hash_bits is None and len(found) != wanted.features:
        raise CommandError(
            f"{path}: has {len(found)} features, but the model was trained with {wanted.features}; "
            f"name the column of the labels with --target"
        )
    if not found:
        raise CommandError(f"{path}: has no columns except the labels {target!r}")
    return found


def _hashed(columns: list[Column], bits: int) -> Any:
    """Return the columns hashed as scikit-learn hashes dicts: of a string, its name and value are a feature.

    A missing value is no feature.
    """
    n = len(columns[0].values)
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for column in columns:
        for row, value in zip(rows, column.values.tolist(), strict=True):
            if value is not None and value == value:
                row[column.name] = value
    return hasher(bits, "dict").transform(rows)


def _target(path: str, columns: dict[str, Column], wanted: Wanted, named: bool) -> str | None:
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


def _matrix(columns: list[Column], path: str) -> NDArray[Any]:
    """Return the columns beside each other, in the one type that holds all of them."""
    for column in columns:
        if column.missing:
            raise CommandError(
                f"{path}: column {column.name!r} has {column.missing} missing values; "
                f"fill them or drop the rows"
            )
        if column.values.dtype.kind not in "biuf":
            raise CommandError(
                f"{path}: column {column.name!r} holds {column.kind}, not numbers; encode it or "
                f"drop it (--hash-bits, --drop), or name it with --target if it holds the labels"
            )
    kind = np.result_type(*{column.values.dtype for column in columns})
    X = np.empty((len(columns[0].values), len(columns)), dtype=kind)
    for index, column in enumerate(columns):
        X[:, index] = column.values
    return X


def _labels(column: Column, path: str) -> NDArray[Any]:
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
