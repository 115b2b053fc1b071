"""What learns from a table: by its delimiter, its first line and its labels."""

from __future__ import annotations

import ast
import csv
import re
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

from perceptron_rs.cli.proposal.columns import LEAST, LINES, NUMBER, TableColumns, cell, has_words, is_gap
from perceptron_rs.cli.proposal.proposed import Proposal, most, parted, python, quoted, to_train, written

#: How a class is marked in a column of its own, and how it is not.
_ONES, _ZEROS = ("1", "1.0", "True", "true"), ("0", "0.0", "False", "false")
#: What the labels are called where columns of a class each become one.
_OF_CLASSES = "labels"
_UNIT = re.compile(r"\s*[+-]?[\d.,]+ ?([^\W\d_]{1,4}(?:/[a-z]{1,2})?)\s*")
#: Code that writes a file of Parquet anew: as a table with commas, and with the numbers of Spark's vectors.
_OF_PARQUET = "import sys, pyarrow.csv as c, pyarrow.dataset as d, pyarrow.parquet as p; "
_OF_PARQUET += "t = d.dataset(sys.argv[1]).to_table(); "
_VECTORS = _OF_PARQUET + (
    'f = lambda x: x["values"] if x["type"] else '
    '[dict(zip(x["indices"], x["values"])).get(i, 0.0) for i in range(x["size"])]; '
    "p.write_table(t.set_column({0}, {1}, [[*map(f, t[{0}].to_pylist())]]), sys.stdout.buffer)"
)


class _Table:
    """The rows of a file, and the code that writes another one of its rows ``r``, stage by stage."""

    def __init__(
        self, word: str, suffix: str, delimiter: str, rows: list[list[str]], reads: str = ""
    ) -> None:
        self.word, self.suffix, self.delimiter, self.rows, self.reads = word, suffix, delimiter, rows, reads
        self.stages: list[str] = []

    def make(self, code: str) -> None:
        """Add a stage, and see what the same code makes of the rows that are looked at."""
        space: dict[str, Any] = {"r": iter(self.rows), "re": re}
        exec(code, space)
        self.rows = [list(row) for row in space["r"]]
        self.stages.append(code)

    def head(self, code: str, rows: str = "r") -> None:
        """Add a stage that makes another first row of it, which ``n`` is, and of other rows ``x``, too."""
        self.make(f"n = next(r); r = iter([{code}, *{rows}])")

    def cells(self, *, has_header: bool = True) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and what is in each."""
        names = self.rows[0] if has_header else [f"f{i}" for i in range(len(self.rows[0]))]
        return names, [list(c) for c in zip_longest(*self.rows[has_header:], fillvalue="")][: len(names)]

    def steps(self, ending: str = "", end: str = "w.writerows(r)") -> list[str]:
        """Return the command that makes the other file, if there is a stage or an end of its own."""
        if not (self.stages or self.reads or ending):
            return []
        how = "" if self.delimiter == "," else f", delimiter={quoted(self.delimiter)}"
        reads = self.reads or f"csv.reader(f{how})"
        writes = [f"w = csv.writer(sys.stdout{how})"] if end.startswith("w.") else []
        files = 'import ast, csv, json, re, sys; f = open(sys.argv[1], encoding="utf-8-sig", newline="")'
        code = "; ".join([files, f"r = {reads}", *self.stages, *writes, end])
        self.word, step = written(self.word, ending or f".table{self.suffix}", python(code))
        return [step]


def of_table(word: str, suffix: str, lines: list[str], of_file: list[str]) -> Proposal | None:
    """Propose what learns from a table: ``of_file`` has its empty lines, too."""
    fields = [line for line in lines if not re.fullmatch("sep=.", line)]
    bars = [line for line in fields if re.fullmatch(r"\s*\|.*\|\s*", line)]
    if len(bars) > 2 and not bars[1].strip("|-: "):  # Markdown
        rows = [
            [cell.strip() for cell in line.strip()[1:-1].split("|")] for line in bars if line.strip("|-: ")
        ]
        reads = (
            '[c.strip() for c in x.strip()[1:-1].split("|")] for x in f if x[0] == "|" and x.strip("|-: \\n")'
        )
        return _of_rows(_Table(word, ".csv", ",", rows, f"({reads})"), len(rows[0]))
    delimiter = max(",\t;|", key=lambda mark: _evenness(fields, mark))
    if usual := _evenness(fields, delimiter):
        rows = list(csv.reader(of_file, delimiter=delimiter))
        return _of_rows(_Table(word, suffix, delimiter, rows), usual)
    rows = [[cell.strip('"') for cell in line.split()] for line in lines]
    codes = sum(
        most(column, re.compile(r"[^:]*\d[^:]*").fullmatch) for column in zip(*rows[1:], strict=False)
    )
    table = _Table(word, ".csv", ",", rows, '([c.strip("\\"") for c in x.split()] for x in f if x.strip())')
    if len(rows) > 1 and len(rows[0]) + 1 == len(rows[1]):  # as R writes tables: the names of rows have none
        table.make('r = iter([["", *next(r)], *r])')
    n = len(table.rows[0])
    is_even = len({len(row) for row in table.rows}) == 1 and 3 <= n <= 2 * codes
    return None if not is_even or re.search(r"[,\[]", "".join(lines)) else _of_rows(table, n)


def _of_rows(table: _Table, usual: int) -> Proposal | None:
    """Propose what learns from the rows of a table, most of which are as long as each other."""
    suffix, delimiter, rows = table.suffix, table.delimiter, table.rows
    begin = next(i for i, row in enumerate(rows) if len(row) == usual)
    head = next(i for i, row in enumerate(rows) if row)
    if len(rows[head]) == usual - 1 and not any(row[-1] for row in rows[head + 1 :] if row):
        begin, usual = head, usual - 1  # a delimiter is behind each row
        table.make(f"r = (x[:{usual}] for x in r)")
    if begin:  # such as Excel's "sep=;", or a title
        table.make(f"r = iter([*r][{begin}:])")
    table.rows = [row[:usual] for row in table.rows if row]
    units = {unit[1] for column in table.cells()[1] if (unit := _unit(column)) is not None}
    if units:
        of_units = rf"([0-9]) ?({'|'.join(sorted(units))})(?!\w)"
        table.make(f'r = ([re.sub(r"{of_units}", r"\1", c) for c in x] for x in r)')
    has_header = _has_header(table.rows)
    names, cells = table.cells(has_header=has_header)
    if len(names) == 2 and not has_header and suffix != ".tsv" and delimiter == "\t":
        of_texts = ["--format", "tsv", "--no-header", "--target", "f1", "--text-columns", "f0"]
        is_first = len({*cells[0]}) <= len({*cells[1]})
        steps = table.steps()
        return to_train(table.word, *(["--text"] if is_first else of_texts), steps=steps)
    options = ["--format", "csv"] * (suffix not in (".csv", ".tsv"))
    if delimiter != ("\t" if suffix == ".tsv" else ","):
        options += ["--delimiter", "\\t" if delimiter == "\t" else delimiter]
    options += [] if has_header else ["--no-header"]
    if has_header and _told_apart(names) != names:
        table.head(quoted(_told_apart(names)))
    if len(table.rows) <= has_header:
        return None
    if has_header and (end := _of_tokens(names, cells)) is not None:
        steps = table.steps(".tags.txt", end)
        return to_train(table.word, command="tag-train", steps=steps)
    k, is_one = _class_columns(cells) if has_header else (len(cells), False)
    marked = f"c for c, v in zip(n[{k}:], x[{k}:]) if v in {quoted(_ONES)}"
    is_text = any(has_words([cell for cell in column if cell]) for column in cells[:k])
    if is_one:
        label = _told_apart([*names[:k], _OF_CLASSES])[-1]
        table.head(f"[*n[:{k}], {quoted(label)}]", f"([*x[:{k}], *({marked})] for x in r)")
    elif is_text and k < len(cells) - 1 and not TableColumns(names, cells).is_called:
        record = f'dict(zip(n[:{k}], x)) | {{"{_OF_CLASSES}": [{marked}]}}'
        steps = table.steps(".labelled.jsonl", f"n = next(r); [print(json.dumps({record})) for x in r]")
        several = TableColumns(names[:k], cells[:k]).options(is_hashed=True, several=_OF_CLASSES)
        return to_train(table.word, *several, steps=steps)
    elif has_header and _has_gaps(names, cells):
        table.make(f'r = (x for x in r if "".join(x[{len(names) - 1}:]).strip())')
    names, cells = table.cells(has_header=has_header)
    columns = TableColumns(names, cells, decimal="," if delimiter == ";" else ".", has_names=has_header)
    if columns.is_one_class or not (columns.is_found or suffix in (".csv", ".tsv")):
        return None
    options += columns.options(is_text=True)
    if columns.limit is not None:
        at, limit = columns.target, columns.limit
        mark = columns.mark
        plain = f're.sub("[^-+0-9{mark}]", "", x[{at}]).replace(",", ".")' if mark else f"x[{at}]"
        label = f'(">" if float({plain}) > {limit} else "<=") + "{limit}"'
        rest = f"[*x[:{at}], {label}, *x[{at + 1}:]] for x in r if x[{at}].strip()"
        table.make(f"r = iter([{'next(r), ' * has_header}*({rest})])")
    steps, note = table.steps(), parted(names[columns.target]) if columns.limit else ""
    return Proposal(table.word, options, "train", steps, len(cells[0]) + 1 < LEAST, note)


def _unit(column: list[str]) -> re.Match[str] | None:
    """Return the unit behind the numbers of a column, such as kg; None if there is none, or several are."""
    units = [_UNIT.fullmatch(cell) for cell in column if not is_gap(cell)]
    return units[0] if units and all(units) and len({one and one[1] for one in units}) == 1 else None


def _of_tokens(names: list[str], cells: list[list[str]]) -> str | None:
    """Return the code that writes tokens and tags, where rows are tokens of sentences, or lists of tags."""
    lower = [name.strip().lower() for name in names]
    place = next((i for i, name in enumerate(lower) if name.startswith("sent")), None)
    token = next((i for i, name in enumerate(lower) if name in ("word", "words", "token", "tokens")), 0)
    if place is not None and place < token < len(names) - 1:
        ends = f'"\\n" * (i > 0 and x[{place}] not in ("", r[i - 1][{place}]))'
        return f'r = [*r][1:]; [print({ends} + "\\t".join(x[{token}:])) for i, x in enumerate(r)]'
    with suppress(ValueError, SyntaxError):
        n = len(ast.literal_eval(cells[-1][0])) if cells[-1][0].startswith("[") else 0
        texts = [i for i, column in enumerate(cells) if len(column[0].split()) == n > 1]
        pairs = f"zip(x[{texts[0]}].split(), ast.literal_eval(x[-1]))" if texts else None
        return pairs and f'next(r); [print(*map("\\t".join, {pairs}), "", sep="\\n") for x in r]'
    return None


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
    """Return names of which no two are equal: later ones get a number."""
    distinct: list[str] = []
    used: set[str] = set()
    numbers: dict[str, int] = {}
    for name in names:
        one = name
        while name.strip() and one in used:
            numbers[name] = numbers.get(name, 1) + 1
            one = f"{name}_{numbers[name]}"
        used.add(one)
        distinct.append(one)
    return distinct


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


def of_parquet(word: str, path: Path) -> Proposal | None:
    """Propose what learns from a Parquet file."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        table = next(file.iter_batches(LINES))
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in table.schema.names if name in index]
    names = [name for name in table.schema.names if name not in index]
    cells = [[cell(value) for value in table.column(name).to_pylist()] for name in names]
    steps: list[str] = []
    for name, column in zip(names, cells, strict=True):
        if column[0].startswith("{'type': ") and "'values': [" in column[0]:
            code = _VECTORS.format(table.schema.names.index(name), quoted(name))
            column[:], (word, *steps) = ["[]"] * len(column), written(word, ".lists.parquet", python(code))
    columns = TableColumns(names, cells, decimal=".")
    if table.num_rows < LEAST:
        return None
    if columns.mark or columns.limit:
        code = f"c.write_csv(t.drop_columns({quoted(index)}), sys.stdout.buffer)"
        return of_cells(*written(word, ".csv", python(_OF_PARQUET + code)), names, cells)
    return to_train(word, *columns.options(), steps=steps)


def of_cells(word: str, step: str, names: list[str], cells: list[list[str]]) -> Proposal | None:
    """Propose what learns from a table with commas, which a step writes."""
    rows = [names, *map(list, zip(*cells, strict=True))]
    proposed = _of_rows(_Table(word, ".csv", ",", rows), len(names))
    return proposed and proposed.after(step)
