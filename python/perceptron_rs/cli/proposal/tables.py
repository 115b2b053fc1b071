"""Tables: which column holds the labels, what the others are, and what learns from them."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from perceptron_rs.cli.proposal.form import LINES, Form, Text, as_csv, made, parted
from perceptron_rs.features.categories import kind_of_strings
from perceptron_rs.features.numerals import MARKS, mark_of, number_of
from perceptron_rs.parameters.kinds import listed

NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
_MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-")
#: What columns of labels are called, how others begin, and what else is often to be predicted.
_USUAL = ("label", "labels", "target", "class", "y", "sentiment", "outcome", "survived")
OF_LABELS = (*_USUAL, "species", "diagnosis")
_FLAGS = re.compile(r"(is|has)_|fraud|churn|exited|attrition", re.IGNORECASE)
_OFTEN, OF_SCORES = ("category", "intent"), ("overall", "rating", "score", "stars")
#: Columns that name each row.
_NAMES = re.compile(r"(?i:(.*[\W_])?id)|.*[a-z]I[dD]")
#: The column that --target names, if it does.
chosen: ContextVar[str | None] = ContextVar("chosen", default=None)
PART_OF_TIME = re.compile(r"\d[-/:.]\d+[-/:.]\d")
#: Of files whose columns hold numbers and categories: few names make few collisions.
_FEW_BITS = "12"
#: Fewer lines tell nothing of a table; and how many labels may differ.
MIN_LINES, CLASSES = 10, 30
#: Whole numbers of which each has so many examples are classes.
_EACH = 5


class TableColumns:
    """The columns of a table: which one holds the labels, and what the others are.

    Parameters
    ----------
    names : list of str
    cells : list of list of str
        Of each column; empty ones are missing.
    telling : tuple of str
        What columns of labels are called.
    decimal : str or None
        What comes before fractions, if that can be said, and the numbers do not tell it.
    has_names : bool
        Whether the names are those of the file.
    """

    def __init__(
        self,
        names: list[str],
        cells: list[list[str]],
        telling: tuple[str, ...] = OF_LABELS,
        decimal: str | None = None,
        *,
        has_names: bool = True,
    ) -> None:
        self.names, self.cells = names, cells
        self.mark = None if decimal is None else self._mark(decimal)
        last = len(names) - 1
        may_be = [i for i in range(len(names)) if names[i].strip() and self._is_label(i)]
        said = [i for i, name in enumerate(names) if name == chosen.get()]
        flags = [i for i in may_be if _FLAGS.match(names[i].strip())]
        called = [*said, *self._called(telling, may_be), *flags, *self._called(_OFTEN, may_be)]
        has_words = 0 in may_be and not any(map(NUMBER.fullmatch, cells[0]))
        at_end = [last] if last in may_be and (has_names or not (has_words and self._recurs())) else []
        parts = [i for i in may_be if {*re.split(r"[\W_]+", names[i].lower())} & {*OF_LABELS, *_OFTEN}]
        known = [*called, *at_end, *parts, *self._called(OF_SCORES, may_be)]
        amounts = [i for i in range(len(names)) if limit_of(cells[i], self.mark) and not _counts(cells[i])]
        is_last = last in amounts and (has_names or not may_be)
        numbers = [*self._called(telling, amounts), *([last] if is_last else [])]
        self.target = [*known, *numbers, *may_be, last][0]
        #: What parts the target in two classes, if it holds numbers of none.
        is_amount = self.target in said or (numbers and not known)
        self.limit = limit_of(cells[self.target], self.mark) if is_amount else None
        self.is_called = bool(called or (known and not at_end))
        #: Whether the last column holds one label, so that any other column would be a guess.
        one = [len(set(column)) == 1 for name, column in zip(names, cells, strict=True) if name.strip()]
        self.is_one_class = not called and one[-1:] == [True] and names[-1].strip() != ""
        #: Whether a column may hold labels.
        self.is_found = bool(called or may_be or numbers)

    def _called(self, words: tuple[str, ...], places: list[int]) -> list[int]:
        return [i for word in words for i in places if self.names[i].strip().lower() == word]

    def _recurs(self) -> bool:
        """Whether the last column is as the others are: most of its many values are theirs."""
        first, last, others = {*self.cells[0]}, {*self.cells[-1]}, {*chain(*self.cells[1:-1])}
        return len(first) <= len(last) < 2 * len(last & others)

    def _is_label(self, place: int) -> bool:
        values = self.cells[place]
        distinct = set(values)
        whole = all(not NUMBER.fullmatch(cell) or float(cell).is_integer() for cell in distinct)
        whole = whole and not most(values, PART_OF_TIME.search)
        return whole and not {"", "?"} & distinct and 2 <= len(distinct) <= min(CLASSES, len(values) // 3)

    def _mark(self, usual: str) -> str | None:
        """Return what comes before fractions, by which most columns hold numbers; None if these are plain."""
        columns = [[cell for cell in column if not is_gap(cell)] for column in self.cells]
        if not any(mark_of(column) for column in columns):
            return None
        n_numbers = {
            m: sum(all(number_of(cell, m) is not None for cell in c) for c in columns) for m in MARKS
        }
        return max(n_numbers, key=lambda mark: (n_numbers[mark], mark == usual))

    def _is_target(self, place: int) -> bool:
        """Whether a column has the labels by other names, such as numbers, and is called like them."""
        labels, values = self.cells[self.target], self.cells[place]
        is_like = place != self.target and self.names[self.target].lower() in re.split(
            r"[\W_]+", self.names[place].lower()
        )
        return is_like and len({*zip(labels, values, strict=True)}) == len({*labels}) == len({*values})

    def _is_number(self, cell: str) -> bool:
        return (number_of(cell, self.mark) is not None) if self.mark else bool(NUMBER.fullmatch(cell))

    def options(
        self,
        *,
        is_text: bool = False,
        is_hashed: bool = False,
        drop: Sequence[str] = (),
        several: str | None = None,
    ) -> list[str]:
        """Return the options that learn from the columns; ``is_text``: cells are text, of CSV.

        ``several`` is what holds lists of labels, and is none of the columns.
        """
        drop, texts, missing = list(drop), [], []
        has_strings = has_numbers = has_gaps = False
        for place, (name, column) in enumerate(zip(self.names, self.cells, strict=True)):
            if place == self.target and several is None:
                continue
            words = [cell for cell in column if cell.strip() in _MISSING]
            values = [cell for cell in column if not is_gap(cell)]
            numbers = sum(map(self._is_number, values))
            if not name.strip() or not values or _names_rows(name, values) or self._is_target(place):
                drop.append(name)
            elif numbers == len(values) or _is_list(values):
                has_numbers, has_gaps = True, has_gaps or len(values) < len(column)
                missing += [word for word in dict.fromkeys(words) if is_text and word not in missing]
            elif {cell.lower() for cell in values} <= {"true", "false"}:
                has_numbers = True
            else:
                kind = kind_of_strings(values)
                if kind is None:
                    has_strings = True
                elif has_words(values):
                    texts.append(name)
                else:
                    drop.append(name)
        last = len(self.names) - 1
        is_last = self.target == last and not is_hashed and not self._called(OF_LABELS, [*range(last)])
        is_said = is_last or chosen.get() is not None
        options = [] if is_said else ["--target", self.names[self.target]]
        options = options if several is None else ["--multilabel", "--target", several]
        options += ["--text-columns", listed(texts)] if texts else []
        options += ["--drop", listed(dict.fromkeys(drop))] if drop else []
        options += ["--missing", listed(missing)] if missing else []
        options += ["--decimal", self.mark] if self.mark and is_text else []
        mixed = has_strings or has_gaps or is_hashed
        options += ["--hash-bits", _FEW_BITS] if mixed and not texts and not is_hashed else []
        return options + (["--scale", "maxabs"] if has_numbers and (mixed or texts) else [])


def cell(value: object) -> str:
    """Return a value as a cell of text; an empty one is missing."""
    return "" if value is None else str(value)


def limit_of(values: Sequence[str], mark: str | None = None) -> str | None:
    """Return a number that parts values in two, if they are numbers of no classes; else None."""
    full = [value for value in values if value.strip()]
    numbers = sorted(x for x in (number_of(value, mark or ".") for value in full) if x is not None)
    n, is_whole = len(set(full)), all(map(float.is_integer, numbers))
    if n <= CLASSES or len(numbers) < len(full) or (is_whole and _EACH * n <= len(full)):
        return None
    middle = numbers[len(numbers) // 2]
    limit = 0.5 if numbers[0] >= 0 and numbers[-1] <= 1 else float(f"{middle:.3g}")
    return f"{limit if numbers[0] <= limit < numbers[-1] else middle:.15g}"


def _counts(values: list[str]) -> bool:
    """Whether the values number the rows, or are of their times: they rise."""
    if not all(value.isdigit() for value in values):
        return False
    numbers = [int(value) for value in values]
    return len(numbers) > 9 and all(b > a for a, b in pairwise(numbers))


def _names_rows(name: str, values: list[str]) -> bool:
    return _counts(values) or bool(_NAMES.fullmatch(name.strip()) and len({*values}) == len(values))


def is_gap(cell: str) -> bool:
    """Whether a cell stands for nothing."""
    return not cell.strip() or cell.strip() in _MISSING


def _is_list(values: list[str]) -> bool:
    return all(value.startswith("[") for value in values)


def has_words(values: list[str]) -> bool:
    """Whether most cells have several words."""
    return sum(len(re.findall(r"[^\W\d_]{2,}", value)) > 1 for value in values) * 2 >= len(values)


def most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    """Whether something holds for nearly all lines."""
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)


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
