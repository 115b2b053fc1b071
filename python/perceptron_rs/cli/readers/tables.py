"""Examples from CSV and Parquet: named columns, one of which holds the labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from perceptron_rs.cli.errors import CommandError, about
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.formats import parquet_table, room_for_arrow, size_of
from perceptron_rs.cli.readers.source import file_of, name_of
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.common.rows.storage import index_columns
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.columns import column_of, shown
from perceptron_rs.io.delimited import HOW_TO_SAY, CsvText
from perceptron_rs.io.layout import Layout, located, refuse_unnamed
from perceptron_rs.io.lines import text_blocks
from perceptron_rs.io.source import Batch
from perceptron_rs.io.tables import CsvLines, ParquetFile, kinds_of

__all__ = ["TableLines", "parquet_parts", "read_csv", "read_parquet", "with_kinds"]


class TableLines:
    """Reads parts of a CSV file, which are whole records; the first line of it all may be the header.

    Parameters
    ----------
    name : str
        What errors call the file.
    form : {"csv", "tsv"}
        What separates the columns, unless an option says so.
    wanted : Wanted
        What the command and the model need of it. If it does not say what the labels are, or which columns to
        hash hold text, the part must be all of the file.
    """

    def __init__(self, name: str, form: str, wanted: Wanted) -> None:
        usual = wanted.usual_delimiter if form == wanted.usual else None
        delimiter = wanted.delimiter or usual or ("\t" if form == "tsv" else ",")
        self.text = CsvText(name, delimiter, header=wanted.header, missing=wanted.missing)
        self._name, self._wanted = name, wanted
        self.lines = CsvLines(
            self.text,
            lambda text: _layout(text.schema, name, wanted, text.header is not False, text),
            hash_bits=wanted.hash_bits,
            texts=wanted.texts,
            kind=wanted.label_kind,
            is_labelled=wanted.labels,
            is_new=wanted.names is None,
        )

    def part(self, _first: int, text: bytes) -> Data:
        """Return the examples in whole records."""
        return self._data(self.lines.part(text))

    def whole(self, parts: Iterable[bytes]) -> Data:
        """Return the examples of all of a file."""
        return self._data(self.lines.whole(parts))

    def _data(self, batch: Batch | None) -> Data:
        layout = self.lines.layout
        if batch is None or layout is None:
            return Data(np.zeros((0, self._wanted.features or 0)))
        if self._wanted.hash_bits is not None:
            names = tuple(feature.name for feature in layout.features)
            return Data(batch.X, batch.y, hashed=(names, self.lines.texts or ()))
        return Data(batch.X, batch.y, layout.names if self.text.header is not False else None)


def with_kinds(paths: Sequence[str], form: str, wanted: Wanted) -> Wanted:
    """Return what is wanted of CSV files, with what their labels are and which columns to hash hold text."""
    every = [TableLines(name_of(path), form, wanted).lines for path in paths]

    def records(path: str, lines: CsvLines) -> Iterator[bytes]:
        blocks = text_blocks(file_of(path), max_ratio=wanted.max_ratio, records=lines.text.records)
        with about(name_of(path)):
            yield from (text for _, text in blocks)

    with about(name_of(paths[0])):
        kind, texts = kinds_of(every, records, paths)
    return replace(wanted, label_kind=kind, texts=texts)


def read_csv(path: str, form: str, wanted: Wanted) -> Data:
    """Return the examples of a CSV file."""
    lines = TableLines(name_of(str(path)), form, wanted)
    blocks = text_blocks(file_of(str(path)), max_ratio=wanted.max_ratio, records=lines.text.records)
    with room_for_arrow(size_of(path)):
        return lines.whole(text for _, text in blocks)


def read_parquet(path: str, name: str, wanted: Wanted, text: bytes | None = None) -> Data:
    """Return the examples of a Parquet file, or of one that was read already."""
    table = parquet_table(path, text)
    layout = _layout(table.schema, name, wanted, True, None, first=lambda: table.slice(0, 1))
    with located(name):
        return _of_table(table, layout, wanted)


def parquet_parts(path: str, wanted: Wanted) -> Iterator[Data]:
    """Give the examples of a Parquet file, some at a time."""
    with room_for_arrow(0):
        file, rows = ParquetFile(path), 0
        layout = _layout(file.schema, path, wanted, True, None, first=file.first)
        with located(path, lambda: rows):
            for part in file.parts(layout.used):
                yield _of_table(part, layout, wanted)
                rows += part.num_rows


def _of_table(table: Any, layout: Layout, wanted: Wanted) -> Data:
    bits = wanted.hash_bits
    X, y, _, _ = layout.batch(table, hash_bits=bits, is_labelled=wanted.labels)
    if bits is not None:
        names = tuple(feature.name for feature in layout.features)
        return Data(X, y, hashed=(names, layout.texts(table.schema)))
    return Data(X, y, layout.names)


def _layout(
    schema: Any, name: str, wanted: Wanted, named: bool, text: CsvText | None, first: Any = None
) -> Layout:
    """Return which columns are what; ``named`` says whether the names are the file's own."""
    names, column = list(schema.names), column_of(schema)
    index = index_columns(schema)
    known = [n for n in names if n not in index]
    twice = next((n for n in names if names.count(n) > 1), None)
    told = wanted.target or wanted.usual_target
    guess = told if told is not None or not known else known[-1]
    is_known = wanted.names is not None and all(column(n) in names for n in wanted.names)
    if text is not None and not is_known:
        text.refuse_example(guess, with_text=wanted.hash_bits is not None)
    if twice is not None:
        unsure = text is not None and text.header is None
        raise ArgumentError(
            "two columns are called {twice!r}",
            "give each a name of its own" + (f"; or {HOW_TO_SAY}" if unsure else ""),
            place=f"{name}: ",
            twice=twice,
        )
    said: tuple[tuple[str, Sequence[str]], ...] = (
        ("--columns", wanted.columns or ()),
        ("--drop", wanted.drop),
        ("", (wanted.names or ()) if named else ()),
    )
    for option, these in said:
        lacking = [n for n in these if column(n) not in names]
        if lacking and not option:
            raise CommandError(f"{name}: lacks {len(lacking)} of the model's columns, {lacking[0]!r} first")
        if lacking:
            raise CommandError(
                f"{name}: has no column {lacking[0]!r} for {option}; its columns are {shown(names)}"
            )
    target = _target(name, known, wanted, named)
    columns: Sequence[str] | None = wanted.names if named else None
    if columns is None and wanted.columns is not None:
        columns = [n for n in wanted.columns if n != target]
    layout = Layout(
        schema,
        name,
        target=target,
        columns=columns,
        drop=() if columns is not None else wanted.drop,
        first=first,
    )
    n = len(layout.features)
    if wanted.features is not None and wanted.hash_bits is None and n != wanted.features:
        raise CommandError(
            f"{name}: has {n} features, but the model was trained with {wanted.features}; name the column of "
            f"the labels with --target"
        )
    return layout


def _target(path: str, names: list[str], wanted: Wanted, named: bool) -> str | None:
    """Return the name of the column of labels; None if they are not in the table."""
    if wanted.target is not None:
        if wanted.target in names:
            return wanted.target
        if not wanted.labels:
            return None
        raise CommandError(
            f"{path}: has no column {wanted.target!r} for --target; its columns are {shown(names)}"
        )
    if wanted.usual_target is not None and wanted.beside is None:
        if wanted.usual_target in names:
            return wanted.usual_target
        if not wanted.labels:
            return None
        raise CommandError(
            f"{path}: has no column {wanted.usual_target!r}, which held the labels in the training; name "
            f"another one with --target; its columns are {shown(names)}"
        )
    if wanted.beside is not None or not names:
        return None
    last = names[-1]
    if not wanted.labels:  # of data to predict, the last column may be one of the features
        if wanted.labelled is not None:
            return last if wanted.labelled else None
        if wanted.names is not None and named:
            return None
        return last if len(names) - 1 == wanted.features else None
    if wanted.names is not None and last in wanted.names and named:
        raise CommandError(
            f"{path}: its last column {last!r} is a feature of the model; name the column of the labels with "
            "--target"
        )
    if last in wanted.drop:
        raise CommandError(
            f"{path}: --drop leaves its last column {last!r} out; name the column of the labels with --target"
        )
    refuse_unnamed(names, last, path)
    return last
