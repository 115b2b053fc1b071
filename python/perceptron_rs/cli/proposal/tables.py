"""What learns from a table: by its delimiter, its first line and its labels."""

from __future__ import annotations

import csv
import io
import re
import shlex
from itertools import count, zip_longest
from pathlib import Path

from perceptron_rs.cli.proposal.columns import LEAST, LINES, NUMBER, ONES, ZEROS, TableColumns, has_words
from perceptron_rs.cli.proposal.objects import cell
from perceptron_rs.cli.proposal.proposed import Proposal, by_python, most, to_train, unused

#: What the labels are called where columns of a class each become one.
_OF_CLASSES = "labels"


def of_table(word: str, suffix: str, lines: list[str], of_file: list[str]) -> Proposal | None:
    """Propose what learns from a table: ``of_file`` has its empty lines, too."""
    steps: list[str] = []
    fields = [line for line in lines if not re.fullmatch("sep=.", line)]
    delimiter = max(",\t;|", key=lambda mark: _evenness(fields, mark))
    if not (usual := _evenness(fields, delimiter)):
        return _of_blanks(word, lines)
    if all(line.endswith(delimiter) for line in lines[1:]) and len(lines[0].split(delimiter)) == usual - 1:
        new = unused(f"{Path(word).stem}.cells{suffix}")
        steps.append(f"sed 's/{re.escape(delimiter)}\\r*$//' {shlex.quote(word)} > {shlex.quote(new)}")
        word, lines, usual = new, [line.removesuffix(delimiter) for line in lines], usual - 1
    titles = next(i for i, row in enumerate(csv.reader(lines, delimiter=delimiter)) if len(row) == usual)
    if titles:  # such as Excel's "sep=;", or a title
        new = unused(f"{Path(word).stem}.table{suffix}")
        above = of_file.index(lines[titles])
        steps.append(f"sed {'1,' * (above > 1)}{above}d {shlex.quote(word)} > {shlex.quote(new)}")
        word, lines = new, lines[titles:]
    rows = list(csv.reader(lines, delimiter=delimiter))
    if len(rows[0]) == 2 and not _has_header(rows) and suffix != ".tsv" and delimiter == "\t":
        return _of_pairs(word, rows, steps)
    names, options, has_header = rows[0], [], _has_header(rows)
    if suffix not in (".csv", ".tsv"):
        options += ["--format", "csv"]
    if delimiter != ("\t" if suffix == ".tsv" else ","):
        options += ["--delimiter", "\\t" if delimiter == "\t" else delimiter]
    if not has_header:
        names = [f"f{i}" for i in range(len(names))]
        options.append("--no-header")
        rows.insert(0, names)
    elif len(twice := [name for name in names if name.strip()]) > len(set(twice)):
        new = unused(f"{Path(word).stem}.names{suffix}")
        names = _told_apart(names)
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="").writerow(names)
        line = re.sub(r"([\\/&])", r"\\\1", header.getvalue())
        steps.append(f"sed {shlex.quote(f'1s/.*/{line}/')} {shlex.quote(word)} > {shlex.quote(new)}")
        word = new
    if len(rows) < 2:
        return None
    cells = [list(column) for column in zip_longest(*rows[1:], fillvalue="")][: len(names)]
    labelled = _labelled(word, suffix, delimiter, names, cells) if has_header else None
    if labelled is not None:
        word, names, cells, program = labelled
        steps.append(program)
    if word.endswith(".jsonl"):
        return to_train(
            word, *TableColumns(names, cells).options(is_hashed=True, several=_OF_CLASSES), steps=steps
        )
    columns = TableColumns(names, cells, decimal="," if delimiter == ";" else ".")
    if columns.is_one_class:
        return None
    if not columns.is_found and suffix not in (".csv", ".tsv"):
        return None
    options += columns.options(is_text=True)
    return Proposal(word, options, "train", steps, is_short=len(rows) < LEAST)


def _labelled(
    word: str, suffix: str, delimiter: str, names: list[str], cells: list[list[str]]
) -> tuple[str, list[str], list[list[str]], str] | None:
    """Return a file with one column of labels, each of which is there, its columns and what writes it.

    None if it is that already. Of several labels the file is JSON lines, with a list of them.
    """
    dialect = f"dict(delimiter={delimiter!r})"
    code = "import csv, json, sys; "
    code += f"r = csv.reader(open({word!r}, encoding='utf-8-sig', newline=''), **{dialect}); "
    writer, new = f"csv.writer(sys.stdout, **{dialect})", unused(f"{Path(word).stem}.labelled{suffix}")
    ones = [[cell in ONES for cell in column] for column in cells]
    k, is_one = _class_columns(cells, ones)
    if is_one:
        label = _told_apart([*names[:k], _OF_CLASSES])[-1]
        code += f"n = next(r); w = {writer}; w.writerow([*n[:{k}], {label!r}]); "
        code += f"w.writerows([*x[:{k}], *(c for c, v in zip(n[{k}:], x[{k}:]) if v in {ONES})] for x in r)"
        column = [names[k + row.index(True)] for row in zip(*ones[k:], strict=True)]
        return new, [*names[:k], label], [*cells[:k], column], by_python(code, new)
    is_text = any(has_words([cell for cell in column if cell]) for column in cells[:k])
    if is_text and k < len(cells) - 1 and not TableColumns(names, cells).is_called:
        new = unused(f"{Path(word).stem}.labelled.jsonl")
        code += f"n = next(r); [print(json.dumps(dict(zip(n[:{k}], x)) | {{{_OF_CLASSES!r}: "
        code += f"[c for c, v in zip(n[{k}:], x[{k}:]) if v in {ONES}]}})) for x in r]"
        return new, names[:k], cells[:k], by_python(code, new)
    if _has_gaps(names, cells):
        code += f"{writer}.writerows(x for x in r if ''.join(x[{len(names) - 1}:]).strip())"
        full = [i for i, cell in enumerate(cells[-1]) if cell.strip()]
        return new, names, [[column[i] for i in full] for column in cells], by_python(code, new)
    return None


def _class_columns(cells: list[list[str]], ones: list[list[bool]]) -> tuple[int, bool]:
    """Return the first of the last columns that hold 0 and 1, and whether one class is marked in each row."""
    first = len(cells)
    while first and all(cell in (*ONES, *ZEROS) for cell in cells[first - 1]):
        first -= 1
    for k in range(len(cells) - 2, first - 1, -1):
        if all(sum(row) == 1 for row in zip(*ones[k:], strict=True)) and all(map(any, ones[k:])):
            return k, True
    return first, False


def _of_pairs(word: str, rows: list[list[str]], steps: list[str]) -> Proposal:
    """Propose what learns from a label and a text, or a text and a label, with a tab between."""
    first, second = ({row[place] for row in rows if len(row) == 2} for place in (0, 1))
    if len(first) <= len(second):
        return to_train(word, "--text", steps=steps)
    options = ["--format", "tsv", "--no-header", "--target", "f1", "--text-columns", "f0"]
    return to_train(word, *options, steps=steps)


def _of_blanks(word: str, lines: list[str]) -> Proposal | None:
    """Propose a table with commas for one whose columns stand apart by blanks, most of them numbers."""
    rows, program = [line.split() for line in lines], "{$1 = $1; print}"
    if len(rows) > 1 and len(rows[0]) + 1 == len(rows[1]):  # as R writes tables: the names of rows have none
        rows[0], program = ['""', *rows[0]], f'NR == 1 {{$0 = "\\"\\" " $0}} {program}'
    bare = [[cell.strip('"') for cell in row] for row in rows[1:]]
    numbers = sum(most(column, NUMBER.fullmatch) for column in zip(*bare, strict=False))
    if (
        len({len(row) for row in rows}) > 1
        or len(rows[0]) < 3
        or 2 * numbers < len(rows[0])
        or "," in "".join(lines)
    ):
        return None
    new = unused(f"{Path(word).stem}.table.csv")
    commas = [",".join(row) for row in rows]
    proposed = of_table(new, ".csv", commas, commas)
    return proposed and proposed.after(f"awk '{program}' OFS=, {shlex.quote(word)} > {shlex.quote(new)}")


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
    for name in names:
        others = (name if number == 1 else f"{name}_{number}" for number in count(1))
        distinct.append(next(one for one in others if not name.strip() or one not in distinct))
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
        index = [name for name in (file.schema_arrow.pandas_metadata or {}).get("index_columns", []) if name]
    names = [name for name in table.schema.names if name not in index]
    cells = [[cell(value) for value in table.column(name).to_pylist()] for name in names]
    return to_train(word, *TableColumns(names, cells).options()) if table.num_rows >= LEAST else None
