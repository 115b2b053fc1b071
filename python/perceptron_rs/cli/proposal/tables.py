"""What learns from a table: by its delimiter, its first line and its labels."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from perceptron_rs.cli.proposal.columns import (
    LINES,
    MIN_LINES,
    NUMBER,
    TableColumns,
    cell,
    has_words,
    is_gap,
    most,
)
from perceptron_rs.cli.proposal.form import Form, Text, as_csv, made, parted

CellRows: TypeAlias = Iterable[list[str]]

#: How a class is marked in a column of its own, and how it is not.
_ONES, _ZEROS = ("1", "1.0", "True", "true"), ("0", "0.0", "False", "false")
#: What the labels are called where columns of a class each become one.
_OF_CLASSES = "labels"
_UNIT = re.compile(r"\s*[+-]?[\d.,]+ ?([^\W\d_]{1,4}(?:/[a-z]{1,2})?)\s*")


class Table:
    """The first rows of a table, and what changes them, and then all rows likewise.

    Parameters
    ----------
    whole : callable
        Reads all rows.
    rows : list of list of str
        The first ones.
    text : Text or None
        The file that holds them, if commands can read it as it is.
    delimiter : str
    """

    def __init__(
        self, whole: Callable[[], CellRows], rows: CellRows, text: Text | None = None, delimiter: str = ","
    ) -> None:
        self._whole, self.text, self.delimiter = whole, text, delimiter
        self.rows = [row for row in rows if row]
        self.changes: list[Callable[[Iterator[list[str]]], CellRows]] = []

    def change(self, change: Callable[[Iterator[list[str]]], CellRows]) -> None:
        """Add a change."""
        self.rows = list(change(iter(self.rows)))
        self.changes.append(change)

    def all(self) -> CellRows:
        """Return all rows, changed."""
        rows: CellRows = filter(None, self._whole())
        for change in self.changes:
            rows = change(iter(rows))
        return rows

    def cells(self, *, has_header: bool = True) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and what is in each."""
        names = self.rows[0] if has_header else [f"f{i}" for i in range(len(self.rows[0]))]
        return names, [list(c) for c in zip_longest(*self.rows[has_header:], fillvalue="")][: len(names)]

    def learnt(self, *options: str, **more: Any) -> Form:
        """Learn from it as it is, or from the changed one."""
        if self.text is None or self.changes:
            return made(lambda: as_csv(self.all()), ".new.csv", *options, **more)
        suffix, delimiter = self.text.suffix, self.delimiter
        how = [] if suffix in (".csv", ".tsv") else ["--format", "csv"]
        if delimiter != ("\t" if suffix == ".tsv" else ","):
            how += ["--delimiter", "\\t" if delimiter == "\t" else delimiter]
        return self.text.learnt(*how, *options, **more)


def of_table(text: Text) -> Form | None:
    """Return what learns from a table."""
    bars = [line for line in text.full if line.startswith("|")]
    if len(bars) > 2 and not bars[1].strip("|-: "):
        return of_rows(Table(lambda: _of_markdown(text.whole()), _of_markdown(bars)), bars[0].count("|") - 1)
    fields = [line for line in text.full if not re.fullmatch("sep=.", line)]
    delimiter = max(",\t;|", key=lambda mark: _evenness(fields, mark))
    if usual := _evenness(fields, delimiter):
        read = partial(csv.reader, delimiter=delimiter)
        return of_rows(Table(lambda: read(text.whole()), read(text.lines), text, delimiter), usual)
    table = Table(lambda: _between_blanks(text.whole()), _between_blanks(text.full))
    is_code = re.compile(r"[^:]*\d[^:]*").fullmatch
    codes = sum(most(column, is_code) for column in zip(*table.rows[1:], strict=False))
    if len(table.rows) > 1 and len(table.rows[0]) + 1 == len(table.rows[1]):  # R: the names of rows have none
        table.change(lambda rows: chain([["", *next(rows)]], rows))
    n = len(table.rows[0])
    is_even = len({len(row) for row in table.rows}) == 1 and 3 <= n <= 2 * codes
    return None if not is_even or re.search(r"[,\[]", "".join(text.full)) else of_rows(table, n)


def _of_markdown(lines: Iterable[str]) -> CellRows:
    rows = (line.strip() for line in lines if line.startswith("|"))
    return ([cell.strip() for cell in row[1:-1].split("|")] for row in rows if row.strip("|-: "))


def _between_blanks(lines: Iterable[str]) -> CellRows:
    return ([cell.strip('"') for cell in line.split()] for line in lines)


def of_rows(table: Table, usual: int) -> Form | None:
    """Return what learns from the rows of a table, most of which are as long as each other."""
    _straighten(table, usual)
    has_header = _has_header(table.rows)
    names, cells = table.cells(has_header=has_header)
    text = None if has_header or table.changes or table.delimiter != "\t" else table.text
    if text and text.suffix != ".tsv" and len(names) == 2 and len({*cells[0]}) <= len({*cells[1]}):
        return text.learnt("--text")
    options = [] if has_header else ["--no-header"]
    if has_header and (distinct := _told_apart(names)) != names:
        table.change(lambda rows: chain([distinct], islice(rows, 1, None)))
    if len(table.rows) <= has_header:
        return None
    if has_header:
        form = _of_tokens(table, names, cells) or _of_class_columns(table, names, cells)
        if form is not None:
            return form
        names, cells = table.cells()
    columns = TableColumns(names, cells, decimal="," if table.delimiter == ";" else ".", has_names=has_header)
    is_table = table.text is None or table.text.suffix in (".csv", ".tsv")
    if columns.is_one_class or not (columns.is_found or is_table):
        return None
    options += columns.options(is_text=True)
    if columns.limit is not None:
        table.change(partial(_in_two, columns, columns.limit, has_header=has_header))
    note = parted(names[columns.target]) if columns.limit else ""
    return table.learnt(*options, is_short=len(cells[0]) + 1 < MIN_LINES, note=note)


def _straighten(table: Table, usual: int) -> None:
    """Take off what is above the names of the columns, behind each row, and behind each number."""
    rows = table.rows
    begin = next(i for i, row in enumerate(rows) if len(row) == usual)
    if len(rows[0]) == usual - 1 and not any(row[-1] for row in rows[1:]):
        begin, usual = 0, usual - 1  # a delimiter is behind each row
        table.change(lambda rows: (row[:usual] for row in rows))
    if begin:  # such as Excel's "sep=;", or a title
        table.change(lambda rows: islice(rows, begin, None))
    table.rows = [row[:usual] for row in table.rows]
    units = {unit[1] for column in table.cells()[1] if (unit := _unit(column)) is not None}
    if units:
        behind = re.compile(rf"([0-9]) ?({'|'.join(sorted(units))})(?!\w)")
        table.change(lambda rows: ([behind.sub(r"\1", cell) for cell in row] for row in rows))


def _in_two(columns: TableColumns, limit: str, rows: Iterator[list[str]], *, has_header: bool) -> CellRows:
    """Make two classes of the numbers of the target; rows without one are left out."""
    at = columns.target
    yield from islice(rows, has_header)
    for row in rows:
        if row[at].strip():
            digits = re.sub(f"[^-+0-9{columns.mark}]", "", row[at]) if columns.mark else row[at]
            number = float(digits.replace(",", "."))
            yield [*row[:at], (">" if number > float(limit) else "<=") + limit, *row[at + 1 :]]


def _unit(column: list[str]) -> re.Match[str] | None:
    """Return the unit behind the numbers of a column, such as kg; None if there is none, or several are."""
    units = [_UNIT.fullmatch(cell) for cell in column if not is_gap(cell)]
    return units[0] if units and all(units) and len({one and one[1] for one in units}) == 1 else None


def _of_tokens(table: Table, names: list[str], cells: list[list[str]]) -> Form | None:
    """Return what tags, where rows are tokens of sentences, or sentences with lists of tags."""
    lower = [name.strip().lower() for name in names]
    place = next((i for i, name in enumerate(lower) if name.startswith("sent")), None)
    token = next((i for i, name in enumerate(lower) if name in ("word", "words", "token", "tokens")), 0)
    read: Callable[[], Iterable[str]]
    if place is not None and place < token < len(names) - 1:
        read = lambda: _sentences(islice(table.all(), 1, None), place, token)  # noqa: E731
        return made(read, ".tags.txt", command="tag-train")
    with suppress(ValueError, SyntaxError):
        n = len(ast.literal_eval(cells[-1][0])) if cells[-1][0].startswith("[") else 0
        texts = [i for i, column in enumerate(cells) if len(column[0].split()) == n > 1]
        if texts:
            read = lambda: map(partial(_tagged, texts[0]), islice(table.all(), 1, None))  # noqa: E731
            return made(read, ".tags.txt", command="tag-train")
    return None


def _sentences(rows: CellRows, place: int, token: int) -> Iterator[str]:
    """Return tokens and their tags; a sentence is named in each row, or in that of its first token."""
    named = ""
    for row in rows:
        if row[place] not in ("", named):
            yield "\n" * (named != "")
            named = row[place]
        yield "\t".join(row[token:]) + "\n"


def _tagged(place: int, row: list[str]) -> str:
    pairs = zip(row[place].split(), ast.literal_eval(row[-1]), strict=False)
    return "".join(f"{token}\t{tag}\n" for token, tag in pairs) + "\n"


def _of_class_columns(table: Table, names: list[str], cells: list[list[str]]) -> Form | None:
    """Put the classes of columns of their own into one; return what learns the labels of texts in such."""
    k, is_one = _class_columns(cells)
    is_text = any(has_words([cell for cell in column if cell]) for column in cells[:k])
    if is_one:
        label = _told_apart([*names[:k], _OF_CLASSES])[-1]
        table.change(
            lambda rows: chain(
                [[*next(rows)[:k], label]], ([*row[:k], *_marked(names, row, k)] for row in rows)
            )
        )
    elif is_text and k < len(cells) - 1 and not TableColumns(names, cells).is_called:

        def labelled() -> Iterator[str]:
            for row in islice(table.all(), 1, None):
                record = dict(zip(names[:k], row, strict=False)) | {_OF_CLASSES: _marked(names, row, k)}
                yield json.dumps(record) + "\n"

        several = TableColumns(names[:k], cells[:k]).options(is_hashed=True, several=_OF_CLASSES)
        return made(labelled, ".labelled.jsonl", *several)
    elif _has_gaps(names, cells):
        last = len(names) - 1
        table.change(lambda rows: (row for row in rows if "".join(row[last:]).strip()))
    return None


def _marked(names: list[str], row: list[str], k: int) -> list[str]:
    """Return the names of the columns from ``k`` on that hold 1."""
    return [name for name, value in zip(names[k:], row[k:], strict=False) if value in _ONES]


def _class_columns(cells: list[list[str]]) -> tuple[int, bool]:
    """Return the first of the last columns that hold 0 and 1, and whether one class is marked in each row."""
    first = len(cells)
    while first and all(cell in (*_ONES, *_ZEROS) for cell in cells[first - 1]):
        first -= 1
    ones = [[cell in _ONES for cell in column] for column in cells]
    for k in range(len(cells) - 2, first - 1, -1):
        if all(sum(row) == 1 for row in zip(*ones[k:], strict=True)) and all(map(any, ones[k:])):
            return k, True
    return first, False


def _has_gaps(names: list[str], cells: list[list[str]]) -> bool:
    """Whether some labels are missing: those of the last column, which else could hold them."""
    full = [cell for cell in cells[-1] if cell.strip()]
    if len(full) == len(cells[-1]) or 2 * len(full) < len(cells[-1]):
        return False
    columns = TableColumns(names, [*([""] * len(full) for _ in names[1:]), full])
    return columns.is_found and not TableColumns(names, cells).is_called


def _told_apart(names: list[str]) -> list[str]:
    """Return names of which no two are equal: later ones get the number of their column."""
    first: dict[str, int] = {}
    is_first = [first.setdefault(name, i) == i or not name.strip() for i, name in enumerate(names)]
    return [name if is_first[i] else f"{name}_{i + 1}" for i, name in enumerate(names)]


def _evenness(lines: list[str], delimiter: str) -> int:
    """Return how many columns a delimiter makes; 0 if lines differ in that, or there is one."""
    rows = list(csv.reader(lines, delimiter=delimiter))
    widths = [len(row) for row in rows]
    usual = max(set(widths), key=widths.count)
    return usual if usual > 1 and 20 * widths.count(usual) >= 19 * len(widths) else 0


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first line names the columns: it has no number, and none of its cells recurs below."""
    below = list(zip_longest(*rows[1:200], fillvalue=""))
    if any(cell in column for cell, column in zip(rows[0], below, strict=False) if cell):
        return False
    return all(cell.isdigit() for cell in rows[0] if NUMBER.fullmatch(cell)) and not all(
        NUMBER.fullmatch(cell) for cell in rows[0]
    )


def of_parquet(path: Path, first: Path) -> Form | None:
    """Return what learns from Parquet: a file, or a folder, of which one is the first."""
    import pyarrow.dataset as dataset
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(first) as file:
        table = next(file.iter_batches(LINES))
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    if table.num_rows < MIN_LINES:
        return None
    names = [name for name in table.schema.names if name not in index]
    cells = [list(map(cell, table.column(name).to_pylist())) for name in names]
    columns = TableColumns(names, cells, decimal=".")
    if not (columns.mark or columns.limit):
        return Form(columns.options())

    def records() -> Iterator[dict[str, object]]:
        for batch in dataset.dataset(path).to_batches(columns=names):
            yield from batch.to_pylist()

    return of_records(names, cells, records)


def of_records(
    names: list[str], cells: list[list[str]], records: Callable[[], Iterable[Mapping[str, object]]]
) -> Form | None:
    """Return what learns from records as a table with commas, of which more can be read."""

    def rows() -> CellRows:
        yield names
        yield from ([cell(record.get(name)) for name in names] for record in records())

    return of_rows(Table(rows, [names, *map(list, zip(*cells, strict=True))]), len(names))
