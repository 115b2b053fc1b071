"""CSV text, from bytes to Arrow tables: whole records at a time, wherever the text is cut.

All text of tables is read here, by the readers of files and by the command, also from pipes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.tables.cells import as_numbers, is_value, missing_cells
from perceptron_rs.io.tables.columns import CellError, arrow, quoted_names, single
from perceptron_rs.io.text.lines import Records

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.csv import InvalidRow

    from perceptron_rs.io.tables.columns import ArrowRows

#: The remedy where it is not clear what the first line is.
HOW_TO_SAY = (
    "pass {header=False} if the first line is an example, or {header=True} if it holds the column names"
)


class CsvText:
    """Reads whole records, one part of a file after another; the first line names the columns.

    Parameters
    ----------
    name : str
        What errors call the file.
    delimiter : str
        Character between two cells.
    header : bool or None
        Whether the first line holds names; None: it must, and lines that look like examples are refused.
    missing : tuple of str
        Cells that stand for nothing, beside empty ones.
    decimal : str or None
        What comes before a fraction, if numbers are written as people do; None: they are plain.
    """

    def __init__(
        self,
        name: str,
        delimiter: str = ",",
        *,
        header: bool | None = None,
        missing: Iterable[str] = (),
        decimal: str | None = None,
    ) -> None:
        self.name, self.delimiter, self.header, self.decimal = name, delimiter, header, decimal
        self.records = Records(name, delimiter)
        #: Of all columns; none, before the first record was read.
        self.names: tuple[str, ...] = ()
        self._missing = ["", *missing]
        #: Columns that are read as text although they hold numbers: some are written as true and false.
        self._as_text: frozenset[str] = frozenset()

    def begin(self, text: bytes) -> bytes:
        """Take the names from the first records of a file, and return the others."""
        at = len(text) - len(text.lstrip(b"\r\n"))
        end = at
        while True:  # a name may hold a line end
            ends = [place + 1 for place in (text.find(b"\n", end), text.find(b"\r", end)) if place >= 0]
            if not ends:
                end = len(text)
                break
            end = min(ends)
            if self.records.end(text[at:end] + b"\n") == end + 1 - at:
                break
        line = io.StringIO(text[at:end].decode(), newline="")
        cells = next(csv.reader(line, delimiter=self.delimiter), [])
        if not cells:
            return b""
        for other in ";\t|,":
            if len(cells) == 1 and other in cells[0]:
                raise ArgumentError(
                    "has one column, {cell!r:.80}",
                    f"if {other!r} separates its columns, pass {{delimiter}}",
                    place=f"{self.name}: ",
                    settings={"delimiter": other},
                    cell=cells[0],
                )
        if self.header is False:
            self.names = tuple(f"f{i}" for i in range(len(cells)))
            return text[at:]
        self.names = tuple(cells)
        return text[end:]

    def line_of(self, names: Iterable[str]) -> str:
        """Return a first line with these names."""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiter, lineterminator="").writerow(names)
        return line.getvalue()

    @property
    def schema(self) -> pa.Schema:
        """The columns as a schema of Arrow, all of numbers."""
        return arrow().schema([(name, arrow().float64()) for name in self.names])

    def refuse_example(self, target: str | None, *, with_text: bool = False) -> None:
        """Refuse names that look like an example, unless somebody said that they are names.

        ``with_text`` says that features may be text, too: else a name that is no number is a name.
        """
        if self.header is not None:
            return
        features = [name for name in self.names if name != target] or list(self.names)
        values = [name for name in self.names if is_value(name)]
        is_example = set(features) <= set(values) and not _are_counted(features)
        if is_example or (with_text and not all(name.isdigit() for name in values)):
            raise ArgumentError(
                "the first line looks like an example ({names})",
                HOW_TO_SAY,
                place=f"{self.name}: ",
                names=quoted_names(self.names, 5),
            )

    def refuse_label(self, target: str, numbers: Iterable[str]) -> None:
        """Refuse a column of labels whose name is one of them, if the first line may be an example.

        It may if the columns of ``numbers`` have values as names: numbers, true or false.
        """
        if self.header is None and all(is_value(name) or not name for name in numbers):
            raise ArgumentError(
                "the column {target!r} is called like one of its labels",
                HOW_TO_SAY,
                place=f"{self.name}: ",
                target=target,
            )

    def table(self, text: bytes, wanted: Collection[str], numbers: Collection[str]) -> pa.Table:
        """Return some columns of whole records as an Arrow table: these as numbers, the others as text.

        Raises
        ------
        CellError
            If a record has too many or too few cells, or a cell that is to be a number is none.
        """
        plain = () if self.decimal == "," else set(numbers) - self._as_text
        kinds = {name: name in plain for name in self.names if name in wanted}
        try:
            table = self._read(text, kinds)
            pc = arrow("compute")
            if all(pc.all(pc.is_finite(table.column(n))).as_py() is not False for n in kinds if kinds[n]):
                return self.converted(table, [name for name in kinds if name in numbers and not kinds[name]])
        except arrow().ArrowInvalid as error:
            if not any(kinds.values()):
                raise ValueError(f"{self.name}: {error}") from None
        # Some cell is unusual: all are looked at by the rules for text.
        table = self._read(text, dict.fromkeys(kinds, False))
        columns = self.converted(table, [name for name in kinds if name in numbers])
        self._as_text |= {name for name in kinds if kinds[name] and not _is_numeric(table.column(name))}
        return columns

    def converted(self, table: ArrowRows, numbers: Iterable[str]) -> pa.Table:
        """Return a table whose cells of text in these columns are numbers."""
        for name in numbers:
            place = table.schema.get_field_index(name)
            column = single(table.column(place))
            table = table.set_column(place, name, as_numbers(column, name, self.delimiter, self.decimal))
        return table

    def _read(self, text: bytes, kinds: dict[str, bool]) -> pa.Table:
        """Return columns as numbers or, as they stand, as text."""
        pyarrow, reader = arrow(), arrow("csv")
        if not text.strip(b"\r\n"):
            fields = [(n, pyarrow.float64() if kinds[n] else pyarrow.string()) for n in kinds]
            return pyarrow.schema(fields).empty_table()
        bad: list[InvalidRow] = []

        def refused(row: object) -> str:
            bad.append(row)
            return "error"

        places = {name: str(self.names.index(name)) for name in kinds}
        types = {
            places[name]: pyarrow.float64() if is_number else pyarrow.string()
            for name, is_number in kinds.items()
        }
        read = reader.ReadOptions(
            use_threads=False, block_size=len(text) + 1, column_names=[str(i) for i in range(len(self.names))]
        )
        parse = reader.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refused
        )
        convert = reader.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=self._missing,
            strings_can_be_null=True,
        )
        try:
            table = reader.read_csv(
                pyarrow.BufferReader(text), read_options=read, parse_options=parse, convert_options=convert
            )
        except pyarrow.ArrowInvalid:
            if not bad:
                raise
            row, n = bad[0], len(self.names)
            whose = "there are" if self.header is False else "the header names"
            raise CellError(
                row.number - 1,
                f"has {row.actual_columns} cells, but {whose} {n} columns: {row.text!r:.100}",
            ) from None
        for place, name in enumerate(kinds):
            if not kinds[name]:
                cells = table.column(place)
                is_missing, pc = missing_cells(cells), arrow("compute")
                if pc.any(is_missing).as_py():
                    table = table.set_column(place, str(place), pc.if_else(is_missing, None, cells))
        return table.rename_columns(list(places))


def _is_numeric(column: pa.Array) -> bool:
    """Whether Arrow takes all cells of a column of text for numbers."""
    try:
        arrow("compute").utf8_trim(column, characters=" \t").cast(arrow().float64())
    except arrow().ArrowInvalid:
        return False
    return True


def _are_counted(names: list[str]) -> bool:
    """Whether names are numbers that count columns, from 0 or 1, as those of a data frame without names."""
    return any(names == [str(i) for i in range(first, first + len(names))] for first in (0, 1))
