"""The columns of CSV and Parquet files, read by pyarrow, or for CSV by pandas."""

from __future__ import annotations

import io
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
from perceptron_rs.packed import MAX_RATIO
from perceptron_rs.text import open_text

__all__ = ["Column", "Table", "read_columns"]

_OF_A_THREAD = 72 << 20  # its stack, and what the C library reserves for what it allocates
_OF_A_BYTE = 4  # the file, its columns, and both of a block while it is read


@dataclass(frozen=True)
class Column:
    """One column: its values (of missing ones, any), and what they are in words."""

    name: str
    values: NDArray[Any]
    missing: int
    kind: str


@dataclass(frozen=True)
class Table:
    """Where a table is and how it is written: a file, or text that has been read already."""

    name: str
    form: str
    header: bool
    delimiter: str
    text: bytes | None = None
    #: Columns that are left as strings; None for the last.
    strings: tuple[str | None, ...] = ()
    #: How many times its size a .gz file may unpack to.
    max_ratio: float = MAX_RATIO

    @property
    def place(self) -> Any:
        """What a library reads; a new one each time."""
        if self.text is not None:
            return io.BytesIO(self.text)
        name = str(self.name)
        return name if self.form == "parquet" else open_text(name, self.max_ratio)

    @property
    def size(self) -> int:
        """How many bytes it has; a gzip file as many as its last four bytes promise."""
        if self.text is not None:
            return len(self.text)
        path = Path(self.name)
        size = path.stat().st_size
        if path.suffix.lower() != ".gz" or size < 4:
            return size
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return max(size, int.from_bytes(file.read(), "little"))


def read_columns(table: Table) -> list[Column]:
    """Return the columns of a table."""
    if table.form == "parquet":
        parquet = _library(table.name, "pyarrow.parquet")
        with _room_for_arrow(table.size):
            return _from_arrow(parquet.read_table(table.place))
    try:
        csv = import_module("pyarrow.csv")
    except ModuleNotFoundError:
        return _with_pandas(table)
    with _room_for_arrow(table.size):
        return _with_arrow(csv, table)


@contextmanager
def _room_for_arrow(size: int) -> Iterator[None]:
    """Raise MemoryError where Arrow, which ends the process without memory for its threads, would find none.

    Its usual allocators reserve a gigabyte of addresses that the threads may need; the system's does not.
    """
    arrow = import_module("pyarrow")
    threads = arrow.cpu_count() + arrow.io_thread_count()
    probe_memory(threads * _OF_A_THREAD + _OF_A_BYTE * size, f"reading a file of {size} bytes")
    before = arrow.default_memory_pool()
    arrow.set_memory_pool(arrow.system_memory_pool())
    try:
        yield
    finally:
        arrow.set_memory_pool(before)


def _with_arrow(csv: Any, table: Table) -> list[Column]:
    read = csv.ReadOptions(autogenerate_column_names=not table.header, use_threads=table.text is None)
    written = csv.ParseOptions(delimiter=table.delimiter)
    strings = table.strings
    if None in strings:
        with csv.open_csv(table.place, read_options=read, parse_options=written) as reader:
            last = reader.schema.names[-1]
        strings = tuple(last if name is None else name for name in strings)
    types = dict.fromkeys(strings, import_module("pyarrow").string())
    convert = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    return _from_arrow(
        csv.read_csv(table.place, read_options=read, parse_options=written, convert_options=convert)
    )


def _library(path: str, name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        needed = "pyarrow or pandas" if name == "pandas" else "pyarrow"
        raise CommandError(f"{path}: reading it needs {needed}: pip install pyarrow") from error


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
        else:
            values = column.to_numpy()
        columns.append(Column(str(name), values, int(column.null_count), kind))
    return columns


def _with_pandas(table: Table) -> list[Column]:
    pandas = _library(table.name, "pandas")
    options: dict[str, Any] = {"header": 0 if table.header else None, "sep": table.delimiter}
    strings = table.strings
    if None in strings:
        last = pandas.read_csv(table.place, nrows=0, **options).columns[-1]
        strings = tuple(last if name is None else name for name in strings)
    types = dict.fromkeys(strings, str)
    # The default parser of older versions is not correctly rounded: a last bit would depend on the library.
    exact = (
        {"float_precision": "round_trip"}
        if "float_precision" in signature(pandas.read_csv).parameters
        else {}
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*float_precision.*deprecated")
        frame = pandas.read_csv(table.place, dtype=types, **options, **exact)
    columns = []
    for position, name in enumerate(frame.columns):
        values = frame[name].to_numpy()
        missing = int(frame[name].isna().sum())
        kind = "strings" if values.dtype.kind not in "biuf" else str(values.dtype)
        if kind == "strings":
            values = values.astype(object)
        # Without a header, as pyarrow calls them.
        columns.append(Column(str(name) if table.header else f"f{position}", values, missing, kind))
    return columns
