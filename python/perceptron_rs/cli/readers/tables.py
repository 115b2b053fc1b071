"""Examples from CSV and Parquet: named columns, one of which holds the labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError, about
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.formats import parquet_table, room_for_arrow, size_of
from perceptron_rs.cli.readers.lines import hasher
from perceptron_rs.cli.readers.source import name_of, text_blocks
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.common.rows.storage import index_columns
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.cells import CellKinds, LabelKind
from perceptron_rs.io.columns import arrow, column_of, is_text, shown, single
from perceptron_rs.io.delimited import HOW_TO_SAY, CsvText
from perceptron_rs.io.layout import Layout, located, refuse_unnamed
from perceptron_rs.io.threads import in_order

__all__ = ["TableLines", "read_csv", "read_parquet", "with_kinds"]


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
        self._name, self._wanted, self._rows = name, wanted, 0
        self._layout: Layout | None = None

    def part(self, _first: int, text: bytes) -> Data:
        """Return the examples in whole records."""
        text = self._begun(text)
        if self._layout is None:
            return Data(np.zeros((0, self._wanted.features or 0)))
        with located(self._name, lambda: self._rows):
            table = self._table(text)
            data = self._data(table)
        self._rows += len(data)
        return data

    def whole(self, parts: Iterable[bytes]) -> Data:
        """Return the examples of all of a file."""
        rows, tables = 0, []
        with located(self._name, lambda: rows):
            for table in in_order(self._table, (text for text in map(self._begun, parts) if self._layout)):
                rows += table.num_rows
                tables.append(table)
        if not tables:
            raise CommandError(f"{self._name}: contains no examples")
        with located(self._name):
            return self._data(arrow().concat_tables(tables))

    def look(self, parts: Iterable[bytes], kinds: dict[str, CellKinds]) -> str | None:
        """Look at the cells of a file whose kinds are not known; return the name of the column of labels."""
        rows, wanted = 0, self._wanted
        for text in parts:
            text = self._begun(text)
            layout = self._layout
            if layout is None:
                continue
            features = layout.columns if wanted.hash_bits is not None and wanted.texts is None else []
            names = [*features, *([] if layout.target is None else [layout.target])]
            with located(self._name, lambda: rows):  # noqa: B023  it is called within
                table = self.text.table(text, names or layout.used, ())
            rows += table.num_rows
            for name in names:
                kinds.setdefault(name, CellKinds(name)).add(table.column(name))
        return None if self._layout is None else self._layout.target

    def label_kind(self, kinds: CellKinds, texts: Collection[str]) -> LabelKind:
        """Return what labels are; raise an error if the first line looks like an example."""
        assert self._layout is not None
        if kinds.holds_name and self._wanted.names is None:
            self.text.refuse_label(kinds.name, [n for n in self._layout.columns if n not in texts])
        return kinds.label_kind()

    def _begun(self, text: bytes) -> bytes:
        """Return a part without the header, and know the columns."""
        if not self.text.names:
            text = self.text.begin(text)
            if self.text.names:
                self._layout = _layout(
                    self.text.schema, self._name, self._wanted, self.text.header is not False, self.text
                )
        return text

    def _table(self, text: bytes) -> Any:
        """Return the columns that are needed, as numbers where it is known that they hold them."""
        layout, wanted = self._layout, self._wanted
        assert layout is not None
        numbers = set(layout.columns)
        if wanted.hash_bits is not None:
            numbers = numbers - set(wanted.texts) if wanted.texts is not None else set()
        used = layout.used if wanted.labels else layout.columns
        return self.text.table(text, used, numbers)

    def _data(self, table: Any) -> Data:
        layout, wanted = self._layout, self._wanted
        assert layout is not None
        texts = wanted.texts if wanted.hash_bits is not None else ()
        if texts is None:
            texts = tuple(name for name in layout.columns if _is_text(name, table))
            table = self.text.converted(table, [name for name in layout.columns if name not in texts])
        y = None
        if layout.target is not None and wanted.labels:
            kind: LabelKind | None = wanted.label_kind
            if kind is None:
                kinds = CellKinds(layout.target)
                kinds.add(table.column(layout.target))
                kind = self.label_kind(kinds, texts)
            y = layout.y(table, kind)
        if wanted.hash_bits is not None:
            return _hashed(table, layout, wanted.hash_bits, y)
        return Data(layout.X(table), y, layout.names if self.text.header is not False else None)


def with_kinds(paths: Sequence[str], form: str, wanted: Wanted) -> Wanted:
    """Return what is wanted of CSV files, with what their labels are and which columns to hash hold text."""
    kinds: dict[str, CellKinds] = {}
    target: str | None = None
    kind, texts = wanted.label_kind, wanted.texts
    for path in paths:
        lines = TableLines(name_of(path), form, wanted)
        blocks = text_blocks(path, max_ratio=wanted.max_ratio, records=lines.text.records)
        with about(name_of(path)):
            target = lines.look((text for _, text in blocks), kinds)
    with about(name_of(paths[0])), located(name_of(paths[0])):
        if wanted.hash_bits is not None and texts is None:
            texts = tuple(name for name in kinds if name != target and kinds[name].is_text())
        if target in kinds and kind is None:
            kind = lines.label_kind(kinds[target], texts or ())
    return replace(wanted, label_kind=kind, texts=texts)


def read_csv(path: str, form: str, wanted: Wanted) -> Data:
    """Return the examples of a CSV file."""
    lines = TableLines(name_of(str(path)), form, wanted)
    blocks = text_blocks(str(path), max_ratio=wanted.max_ratio, records=lines.text.records)
    with room_for_arrow(size_of(path)):
        return lines.whole(text for _, text in blocks)


def read_parquet(path: str, name: str, wanted: Wanted, text: bytes | None = None) -> Data:
    """Return the examples of a Parquet file, or of one that was read already."""
    table = parquet_table(path, text)
    layout = _layout(table.schema, name, wanted, True, None, first=lambda: table.slice(0, 1))
    with located(name):
        y = layout.y(table) if wanted.labels else None
        if wanted.hash_bits is not None:
            return _hashed(table, layout, wanted.hash_bits, y)
        return Data(layout.X(table), y, layout.names)


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


def _is_text(name: str, table: Any) -> bool:
    """Whether a column of cells is one of text."""
    kinds = CellKinds(name)
    kinds.add(table.column(name))
    return kinds.is_text()


def _hashed(table: Any, layout: Layout, bits: int, y: NDArray[Any] | None) -> Data:
    """Return the columns hashed as scikit-learn hashes dicts: of a string, its name and value are a feature.

    A missing value is no feature.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(table.num_rows)]
    texts = []
    lists: dict[str, list[Any]] = {}
    for feature in layout.features:
        if feature.column not in lists:
            column = single(table.column(feature.column))
            lists[feature.column] = column.to_pylist()
            if is_text(column.type):
                texts.append(feature.name)
        for row, value in zip(rows, lists[feature.column], strict=True):
            if value is not None and feature.place is not None:
                value = value[feature.place]
            if isinstance(value, Decimal):
                value = float(value)
            if value is not None and value == value:
                row[feature.name] = value
    X = hasher(bits, "dict").transform(rows)
    return Data(X, y, hashed=(tuple(feature.name for feature in layout.features), tuple(texts)))
