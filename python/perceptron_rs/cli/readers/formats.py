"""The columns of CSV and Parquet files, read by pyarrow, or for CSV by pandas."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.memory import probe_memory

__all__ = ["Column", "read_columns"]

_OF_A_THREAD = 72 << 20  # its stack, and what the C library reserves for what it allocates
_OF_A_BYTE = 4  # the file, its columns, and both of a block while it is read


@dataclass(frozen=True)
class Column:
    """One column: its values (of missing ones, any), and what they are in words."""

    name: str
    values: NDArray[Any]
    missing: int
    kind: str


def read_columns(
    path: Path, suffix: str, header: bool, text: str | None = None, *, last_is_text: bool = False
) -> list[Column]:
    """Return the columns of a file; the column ``text`` of a CSV file, or the last, is left as strings."""
    if suffix == ".parquet":
        parquet = _library(path, "pyarrow.parquet", "parquet")
        with _room_for_arrow(path):
            return _from_arrow(parquet.read_table(path))
    try:
        csv = import_module("pyarrow.csv")
    except ModuleNotFoundError:
        return _with_pandas(path, header, text, last_is_text)
    with _room_for_arrow(path):
        return _with_arrow(csv, path, header, text, last_is_text)


@contextmanager
def _room_for_arrow(path: Path) -> Iterator[None]:
    """Raise MemoryError where Arrow, which ends the process without memory for its threads, would find none.

    Its usual allocators reserve a gigabyte of addresses that the threads may need; the system's does not.
    """
    arrow = import_module("pyarrow")
    threads = arrow.cpu_count() + arrow.io_thread_count()
    size = _unpacked_size(path)
    probe_memory(threads * _OF_A_THREAD + _OF_A_BYTE * size, f"reading a file of {size} bytes")
    before = arrow.default_memory_pool()
    arrow.set_memory_pool(arrow.system_memory_pool())
    try:
        yield
    finally:
        arrow.set_memory_pool(before)


def _unpacked_size(path: Path) -> int:
    """Return the bytes of a file, or of a gzip file those that its last four bytes promise."""
    size = path.stat().st_size
    if path.suffix.lower() != ".gz" or size < 4:
        return size
    with path.open("rb") as file:
        file.seek(-4, os.SEEK_END)
        return max(size, int.from_bytes(file.read(), "little"))


def _with_arrow(csv: Any, path: Path, header: bool, text: str | None, last_is_text: bool) -> list[Column]:
    names = None
    if last_is_text:
        with csv.open_csv(path, read_options=csv.ReadOptions(autogenerate_column_names=not header)) as reader:
            names = reader.schema.names
    text = names[-1] if names else text
    types = {} if text is None else {text: import_module("pyarrow").string()}
    return _from_arrow(
        csv.read_csv(
            path,
            read_options=csv.ReadOptions(autogenerate_column_names=not header),
            convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=True),
        )
    )


def _library(path: Path, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        needed = "pyarrow or pandas" if extra == "csv" else "pyarrow"
        raise CommandError(
            f"{path}: reading it needs {needed}: pip install 'perceptron-rs[{extra}]'"
        ) from error


def _from_arrow(table: Any) -> list[Column]:
    types = import_module("pyarrow").types
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = str(column.type)
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_string(column.type) or types.is_large_string(column.type):
            kind = "strings"
        if types.is_null(column.type):
            values: NDArray[Any] = np.zeros(len(column))
        elif column.null_count and kind != "strings":
            values = column.drop_null().to_numpy()
        else:
            values = column.to_numpy()
        columns.append(Column(str(name), values, int(column.null_count), kind))
    return columns


def _with_pandas(path: Path, header: bool, text: str | None, last_is_text: bool) -> list[Column]:
    pandas = _library(path, "pandas", "csv")
    options: dict[str, Any] = {"header": 0 if header else None}
    if last_is_text:
        text = pandas.read_csv(path, nrows=0, **options).columns[-1]
    types = {} if text is None else {text: str}
    # The default parser of older versions is not correctly rounded: a last bit would depend on the library.
    exact = (
        {"float_precision": "round_trip"}
        if "float_precision" in signature(pandas.read_csv).parameters
        else {}
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*float_precision.*deprecated")
        frame = pandas.read_csv(path, dtype=types, **options, **exact)
    columns = []
    for position, name in enumerate(frame.columns):
        values = frame[name].to_numpy()
        missing = int(frame[name].isna().sum())
        kind = "strings" if values.dtype.kind not in "biuf" else str(values.dtype)
        if kind == "strings":
            values = values.astype(object)
        # Without a header, as pyarrow calls them.
        columns.append(Column(str(name) if header else f"f{position}", values, missing, kind))
    return columns
