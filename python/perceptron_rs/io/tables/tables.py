"""CSV, Parquet and Arrow: tables with a column of labels, read by pyarrow a part at a time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.io.batches import Batch
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import LabelKind, Reading
from perceptron_rs.io.tables.cells import CellKinds
from perceptron_rs.io.tables.columns import PART_BYTES, arrow, in_parts, rows_of_part
from perceptron_rs.io.tables.delimited import CsvText
from perceptron_rs.io.tables.layout import Layout, layout_of, located_cell
from perceptron_rs.io.text.threads import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from perceptron_rs.io.tables.columns import ArrowRows


#: How files in Arrow's IPC format begin.
_IPC = b"ARROW1"
#: Of the buffer of a column of a Parquet file.
_MIN_BUFFER, _MAX_BUFFER = 1 << 12, 1 << 18


class CsvLines:
    """Makes examples of whole records of a file, which begin with its first line.

    If nothing says what labels are, or which columns to hash hold text, a part must be all of the file.

    Parameters
    ----------
    name : str
        What errors call the file.
    form : {"csv", "tsv"}
    reading : Reading
        How it is read.
    """

    def __init__(self, name: str, form: str, reading: Reading) -> None:
        self.text = CsvText(
            name,
            reading.separator(form),
            header=reading.header,
            missing=reading.missing,
            decimal=reading.decimal,
        )
        self.reading, self.texts, self.records = reading, reading.texts, self.text.records
        self._hasher = None if reading.hash_bits is None else reading.hasher(form)
        self.layout: Layout | None = None
        self._rows = 0

    def after_header(self, text: bytes) -> bytes | None:
        """Return a part without the header, and know the columns; None as long as no line was there."""
        if not self.text.names:
            text = self.text.begin(text)
            if not self.text.names:
                return None
            self.layout = layout_of(self.text.schema, self.text.name, self.reading, text=self.text)
        return text

    def part(self, _first: int, text: bytes) -> Examples:
        """Return the examples in whole records; none if no line was there."""
        return self._examples(map(self.table, self._rest([text])))

    def whole(self, parts: Iterable[bytes]) -> Examples:
        """Return the examples of all parts together."""
        return self._examples(in_order(self.table, self._rest(parts)))

    def _rest(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        return (text for text in map(self.after_header, parts) if text is not None)

    def _examples(self, tables: Iterable[Any]) -> Examples:
        before, rows, parts = self._rows, 0, []
        with located_cell(self.text.name, lambda: before + rows):
            for table in tables:
                rows += table.num_rows
                parts.append(table)
            total, rows, layout = rows, 0, self.layout
            if layout is None:
                return Examples(np.zeros((0, self.reading.n_features or 0)))
            X, y, weights, _ = self._batch(arrow().concat_tables(parts) if len(parts) > 1 else parts[0])
        self._rows = before + total
        if self.reading.hash_bits is None:
            return Examples(X, y, weights, None if self.text.header is False else layout.names)
        names = tuple(feature.name for feature in layout.features)
        return Examples(X, y, weights, hashed=(names, self.texts or ()))

    def table(self, text: bytes) -> pa.Table:
        """Return the columns that are needed, as numbers where it is known that they hold them."""
        layout = self.layout
        assert layout is not None
        numbers = set(layout.used) - {layout.target}
        if self._hasher is not None:
            numbers -= {*(layout.columns if self.texts is None else self.texts), *layout.text_columns}
        used = [name for name in layout.used if self.reading.with_labels or name != layout.target]
        return self.text.table(text, used, numbers)

    def _batch(self, table: ArrowRows) -> Batch:
        layout = self.layout
        kinds: dict[str, CellKinds] = {}
        assert layout is not None
        asked, is_labelled = self._asked(), self.reading.with_labels and layout.target is not None
        self._see(table, kinds, with_label=is_labelled and self.reading.label_kind is None)
        label_kind = self.settled(kinds)
        table = self.text.converted(table, [name for name in asked if name not in (self.texts or ())])
        return layout.batch(table, label_kind, hasher=self._hasher, is_labelled=is_labelled)

    def _asked(self) -> list[str]:
        """Return the columns of which all cells tell whether they hold text."""
        if self._hasher is None or self.texts is not None or self.layout is None:
            return []
        return [name for name in self.layout.columns if name not in self.layout.text_columns]

    def _see(self, table: ArrowRows, kinds: dict[str, CellKinds], *, with_label: bool) -> None:
        """Look at the cells of the columns whose kinds are to be found."""
        for name in self._asked():
            kinds.setdefault(name, CellKinds(name, self.reading.decimal)).add(table.column(name))
        if with_label and self.layout is not None and (target := self.layout.target) is not None:
            kinds.setdefault(target, CellKinds(target)).add(table.column(target))

    def look(self, parts: Iterable[bytes], kinds: dict[str, CellKinds]) -> None:
        """Look at the cells of a file of whose columns the kinds are to be found."""
        rows = 0
        with located_cell(self.text.name, lambda: rows):
            for text in self._rest(parts):
                assert self.layout is not None
                target = self.layout.target
                names = [*self._asked(), *([] if target is None else [target])]
                table = self.text.table(text, names or self.layout.used, ())
                rows += table.num_rows
                self._see(table, kinds, with_label=True)

    def settled(self, kinds: dict[str, CellKinds]) -> LabelKind | None:
        """Note which columns hold text, and return what labels are, if the cells tell it.

        Raise an error if the first line looks like an example.
        """
        target = None if self.layout is None else self.layout.target
        if self._hasher is not None and self.texts is None:
            self.texts = tuple(name for name in kinds if name != target and kinds[name].is_text())
        if self.layout is None or target not in kinds or self.reading.label_kind is not None:
            return self.reading.label_kind
        if kinds[target].holds_name and self.reading.names is None:
            texts = (*(self.texts or ()), *self.layout.text_columns)
            self.text.refuse_label(target, [n for n in self.layout.columns if n not in texts])
        return kinds[target].label_kind()


def kinds_of(
    every: Sequence[CsvLines], records: Callable[[str, CsvLines], Iterable[bytes]], files: Sequence[str]
) -> tuple[LabelKind | None, tuple[str, ...] | None]:
    """Return what the labels of files are, and which columns to hash hold text: all cells tell it."""
    kinds: dict[str, CellKinds] = {}
    for file, lines in zip(files, every, strict=True):
        lines.look(records(file, lines), kinds)
    last = next((lines for lines in reversed(every) if lines.layout is not None), every[-1])
    with located_cell(every[0].text.name):
        return last.settled(kinds), last.texts


class TableRows:
    """Makes examples of rows of a table with types; ``first`` returns one that tells how long lists are."""

    def __init__(
        self, name: str, reading: Reading, schema: pa.Schema, first: Callable[[], ArrowRows]
    ) -> None:
        self._name, self._reading = name, reading
        self.layout = layout_of(schema, name, reading, first=first)
        self._hasher = None if reading.hash_bits is None else reading.hasher("parquet")

    def part(self, first: int, table: ArrowRows) -> Examples:
        """Return the examples in some rows, the first of which has this number."""
        layout, hasher = self.layout, self._hasher
        with located_cell(self._name, lambda: first - 1):
            if hasher is None:
                layout.refuse_strings(table)
            X, y, weights, _ = layout.batch(table, hasher=hasher, is_labelled=self._reading.with_labels)
        if hasher is None:
            return Examples(X, y, weights, layout.names)
        names = tuple(feature.name for feature in layout.features)
        return Examples(X, y, weights, hashed=(names, layout.strings(table.schema)))


class ParquetFile:
    """A Parquet file, of which some rows are read at a time."""

    def __init__(self, file: str | bytes) -> None:
        parquet = arrow("parquet")
        metadata = parquet.read_metadata(_readable(file))
        # Unless there is a buffer for each column, a row group is read as a whole, and other ones with it.
        buffer = min(max(PART_BYTES // max(metadata.num_columns, 1), _MIN_BUFFER), _MAX_BUFFER)
        self.file = parquet.ParquetFile(
            _readable(file), metadata=metadata, pre_buffer=False, buffer_size=buffer
        )
        self.schema = self.file.schema_arrow

    def parts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give these columns of some rows after others."""
        metadata = self.file.metadata
        groups = (metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
        return iter(self.file.iter_batches(rows_of_part(sum(groups), metadata.num_rows), columns=columns))

    def first(self) -> ArrowRows:
        """Return the first row, if there is any."""
        return next(self.file.iter_batches(batch_size=1), self.schema.empty_table())

    def whole(self) -> Any:
        """Return all rows as a table, and close the file."""
        with self.file:
            return self.file.read()


def _readable(file: str | bytes) -> Any:
    """Return a file, or what one holds, as Arrow reads it."""
    return arrow().BufferReader(file) if isinstance(file, bytes) else file


class IpcFile(ParquetFile):
    """A file in Arrow's IPC format, mapped."""

    def __init__(self, file: str | bytes) -> None:
        mapped = arrow().memory_map(file) if isinstance(file, str) else _readable(file)
        self.file = arrow("ipc").open_file(mapped)
        self.schema = self.file.schema

    def parts(self, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  nothing is read of the others
        """Give some rows after others."""
        return in_parts(map(self.file.get_batch, range(self.file.num_record_batches)))

    def first(self) -> ArrowRows:
        """Return some rows, if there are any."""
        return next(self.parts(), self.schema.empty_table())

    def whole(self) -> Any:
        """Return all rows as a table."""
        return self.file.read_all()


def table_file(file: str | bytes) -> ParquetFile:
    """Open a Parquet file, or one in Arrow's IPC format, by its first bytes; from its path or content."""
    return IpcFile(file) if is_ipc(file) else ParquetFile(file)


def rows_of_file(file: ParquetFile, name: str, reading: Reading) -> TableRows:
    """Return what makes examples of the rows of a file."""
    return TableRows(name, reading, file.schema, file.first)


def is_ipc(file: str | bytes) -> bool:
    """Whether a file, from its path or content, is in Arrow's IPC format."""
    with io.BytesIO(file) if isinstance(file, bytes) else Path(file).open("rb") as opened:
        return opened.read(len(_IPC)) == _IPC
