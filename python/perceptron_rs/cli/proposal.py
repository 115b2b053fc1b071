"""What to type instead, where a file cannot be learnt from as it is: by a look at its beginning.

A proposal is one line for a shell. Commands that make another file of it come first, if one must be made.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from perceptron_rs.cli.status import PROGRAM
from perceptron_rs.features.categories import kind_of_strings
from perceptron_rs.io.text.compression import MAX_RATIO, decompressed
from perceptron_rs.io.text.paths import paths_of

_LOOKED_AT = 1 << 18
#: Lines that are looked at, fewer than which tell nothing of a table, and how many labels may differ.
_LINES, _LEAST, _CLASSES = 1000, 10, 30
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_OF_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-")
_OF_LABELS = (
    "label",
    "labels",
    "target",
    "class",
    "y",
    "category",
    "sentiment",
    "outcome",
    "survived",
    "species",
)
_OF_JSON = (*_OF_LABELS, "overall", "rating", "stars", "level", "type", "tag")
_SVMLIGHT = re.compile(r"[-+.,\w]+( qid:\d+)?( +\d+:[-+.\w]+)+ *(#.*)?")
_VW = re.compile(r"[^|]*\|\w*( [^|]*)?(\|.*)?")
#: Of files whose columns hold numbers and categories: few names make few collisions.
_FEW_BITS = "12"


class _Proposal(NamedTuple):
    """A proposed command: DATA, its options, and the shell commands that make that file of another one."""

    word: str
    options: list[str]
    command: str
    steps: list[str]

    def after(self, *steps: str) -> _Proposal:
        """Return it behind other steps."""
        return self._replace(steps=[*steps, *self.steps])


def proposal(word: str, typed: Sequence[str]) -> str | None:
    """Return what to type for the one word of DATA that cannot be learnt from; None if nobody knows.

    ``typed`` are the words of the command, whose options are kept.
    """
    with suppress(OSError, ValueError, ImportError):
        path = Path(paths_of(word)[0])
        found = _of_parquet(word, path) if path.suffix == ".parquet" else _of_bytes(word, path)
        if found is None:
            return None
        new = [found.word if one == word else one for one in typed] + found.options
        if found.command != "train":
            new = [found.command, found.word]
        return None if new == list(typed) else " && ".join([*found.steps, f"{PROGRAM} {shlex.join(new)}"])
    return None


def _train(word: str, *options: str, command: str = "train", steps: Sequence[str] = ()) -> _Proposal:
    return _Proposal(word, list(options), command, list(steps))


# ---- kinds of files


def _of_bytes(word: str, path: Path) -> _Proposal | None:
    with path.open("rb") as file:
        begin = file.read(8)
    plain = path.with_suffix("").name
    if begin.startswith(b"PK\x03\x04") and path.suffix == ".xlsx":
        csv_name = f"{plain}.csv"
        code = f"import pandas; pandas.read_excel({str(path)!r}).to_csv({csv_name!r}, index=False)"
        return _train(csv_name, steps=[f"python -c {shlex.quote(code)}"])
    if begin.startswith(b"ARROW1"):
        name = f"{plain}.parquet"
        code = "from pyarrow import feather as f, parquet as p; "
        code += f"p.write_table(f.read_table({str(path)!r}), {name!r})"
        return _train(name, steps=[f"python -c {shlex.quote(code)}"])
    with io.BufferedReader(decompressed(path, MAX_RATIO)) as opened:
        data = opened.read(_LOOKED_AT)
    encoding, other = _encoding(data)
    if encoding is None:
        return None
    text = data.decode(encoding, errors="ignore")
    lines = text.splitlines()[:_LINES]
    if len(data) == _LOOKED_AT and len(lines) < _LINES:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines]
    suffixes = [part for part in path.suffixes if part not in (".gz", ".bz2", ".xz")]
    steps: list[str] = []
    if other is not None:
        new = f"{plain}.utf8{path.suffix}"
        steps, word = [f"iconv -f {other} -t UTF-8 {shlex.quote(word)} > {shlex.quote(new)}"], new
    found = _of_lines(word, suffixes[-1] if suffixes else "", lines, text)
    return found and found.after(*steps)


def _encoding(data: bytes) -> tuple[str | None, str | None]:
    """Return the encoding of a text, None of what is none; and what iconv calls it, if it is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", "UTF-16"
    if b"\0" in data:
        return None, None
    for cut in range(4):  # the last character may be cut
        with suppress(UnicodeDecodeError):
            data[: len(data) - cut].decode("utf-8")
            return "utf-8-sig", None
    return "cp1252", "WINDOWS-1252"


def _of_lines(word: str, suffix: str, lines: list[str], text: str) -> _Proposal | None:
    full = [line for line in lines if line.strip()]
    if not full:
        return None
    if full[0].startswith("__label__"):
        several = any(line.split()[1:2] and line.split()[1].startswith("__label__") for line in full)
        form = [] if suffix in (".ft", ".fasttext") else ["--format", "fasttext"]
        return _train(word, *form, *(["--multilabel"] if several else []))
    if full[0].startswith("["):
        name = f"{Path(word).with_suffix('').name}.jsonl"
        code = f"import json; [print(json.dumps(x)) for x in json.load(open({word!r}, encoding='utf-8'))]"
        records = _json_objects(json.loads(text) if len(text) < _LOOKED_AT else [])
        steps = [f"python -c {shlex.quote(code)} > {shlex.quote(name)}"]
        return _train(name, *_of_records(records), steps=steps) if records else None
    if full[0].startswith("{"):
        records = _json_objects(map(json.loads, full))
        form = [] if suffix in (".jsonl", ".ndjson") else ["--format", "jsonl"]
        return _train(word, *form, *_of_records(records)) if records else None
    if _most(full, _VW.fullmatch) and not any("\t|" in line for line in full[:1]):
        return _train(word, *([] if suffix == ".vw" else ["--format", "vw"]))
    if _most(full, _SVMLIGHT.fullmatch):
        form = [] if suffix in (".svm", ".libsvm", ".svmlight", ".txt") else ["--format", "svmlight"]
        return _train(word, *form, *(["--multilabel"] if any("," in x.split()[0] for x in full) else []))
    if _is_tokens(lines):
        return _train(word, command="tag-train")
    return _of_table(word, suffix, full) or _of_log(word, full)


def _most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)


def _json_objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _of_records(records: list[dict[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = [[_cell(record.get(name)) for record in records] for name in names]
    return _Columns(names, cells, _OF_JSON).options(is_hashed=True)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _is_tokens(lines: list[str]) -> bool:
    """Whether each line is a token with its tags, and an empty line ends each sentence."""
    tokens = [line for line in lines if line.strip() and not line.startswith(("# ", "-DOCSTART-"))]
    blank = [not line.strip() for line in lines]
    ends = sum(one and not other for one, other in zip(blank, [True, *blank[:-1]], strict=True))
    separator = "\t" if "\t" in tokens[0] else None
    widths = {len(line.split(separator)) for line in tokens}
    return len(widths) == 1 and min(widths) > 1 and ends > 1


def _of_log(word: str, lines: list[str]) -> _Proposal | None:
    """Propose labels and texts for lines of words: the label is the first word with few distinct values."""
    rows = [line.split() for line in lines]
    for place in range(min(map(len, rows))):
        values = [row[place] for row in rows]
        if 2 <= len(set(values)) <= min(_CLASSES, len(values) // 5):
            name, field = f"{Path(word).with_suffix('').name}.txt", f"${place + 1}"
            code = f'{{label = {field}; {field} = ""; print label "\\t" $0}}'
            return _train(name, "--text", steps=[f"awk '{code}' {shlex.quote(word)} > {shlex.quote(name)}"])
    return None


# ---- tables


def _of_table(word: str, suffix: str, lines: list[str]) -> _Proposal | None:
    steps: list[str] = []
    if re.fullmatch(r"sep=.", lines[0]):
        new = f"{Path(word).stem}.table.csv"
        steps.append(f"sed 1d {shlex.quote(word)} > {shlex.quote(new)}")
        word, lines = new, lines[1:]
    delimiter = max(",\t;|", key=lambda mark: _evenness(lines, mark))
    rows = list(csv.reader(lines, delimiter=delimiter))
    if not _evenness(lines, delimiter) or len(rows) < _LEAST:
        return None
    if delimiter == "\t" and len(rows[0]) == 2 and not _has_header(rows) and suffix != ".tsv":
        return _train(word, "--text", steps=steps)
    names, options = rows[0], []
    if suffix not in (".csv", ".tsv"):
        options += ["--format", "csv"]
    if delimiter != ("\t" if suffix == ".tsv" else ","):
        options += ["--delimiter", "\\t" if delimiter == "\t" else delimiter]
    if not _has_header(rows):
        names = [f"f{i}" for i in range(len(names))]
        options.append("--no-header")
        rows.insert(0, names)
    cells = [list(column) for column in zip_longest(*rows[1:], fillvalue="")][: len(names)]
    if delimiter != "," and any(_most(column, _OF_COMMA.fullmatch) for column in cells):
        new = f"{Path(word).stem}.points{suffix}"
        steps.append(f"sed 's/,/./g' {shlex.quote(word)} > {shlex.quote(new)}")
        word, cells = new, [[cell.replace(",", ".") for cell in column] for column in cells]
    return _train(word, *options, *_Columns(names, cells).options(is_text=True), steps=steps)


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
    return all(cell.isdigit() for cell in rows[0] if _NUMBER.fullmatch(cell)) and not all(
        _NUMBER.fullmatch(cell) for cell in rows[0]
    )


def _of_parquet(word: str, path: Path) -> _Proposal | None:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        table = next(file.iter_batches(_LINES))
        index = [name for name in (file.schema_arrow.pandas_metadata or {}).get("index_columns", []) if name]
    names = [name for name in table.schema.names if name not in index]
    cells = [[_cell(value) for value in table.column(name).to_pylist()] for name in names]
    return _train(word, *_Columns(names, cells).options()) if table.num_rows >= _LEAST else None


class _Columns:
    """The columns of a table: which one holds the labels, and what the others are.

    Parameters
    ----------
    names : list of str
    cells : list of list of str
        Of each column; empty ones are missing.
    telling : tuple of str
        What columns of labels are called.
    """

    def __init__(
        self, names: list[str], cells: list[list[str]], telling: tuple[str, ...] = _OF_LABELS
    ) -> None:
        self.names, self.cells = names, cells
        may_be = [i for i in range(len(names)) if names[i].strip() and self._is_label(i)]
        called = [i for word in telling for i in may_be if names[i].strip().lower() == word]
        last = len(names) - 1
        self.target = (called or ([last] if last in may_be else may_be[:1]) or [last])[0]
        self.is_called = bool(called)

    def _is_label(self, place: int) -> bool:
        values = self.cells[place]
        distinct = set(values)
        whole = all(not _NUMBER.fullmatch(cell) or float(cell) == int(float(cell)) for cell in distinct)
        return whole and "" not in distinct and 2 <= len(distinct) <= min(_CLASSES, len(values) // 3)

    def options(self, *, is_text: bool = False, is_hashed: bool = False) -> list[str]:
        """Return the options that learn from the columns; ``is_text``: cells are text, of CSV."""
        drop, texts, missing = [], [], []
        has_strings = has_numbers = has_gaps = False
        for place, (name, column) in enumerate(zip(self.names, self.cells, strict=True)):
            if place == self.target:
                continue
            words = [cell for cell in column if cell.strip() in _MISSING]
            values = [cell for cell in column if cell.strip() and cell not in words]
            numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in values)
            if not name.strip() or not values or _counts(values):
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
                elif _has_words(values):
                    texts.append(name)
                else:
                    drop.append(name)
        last = len(self.names) - 1
        options = [] if self.target == last and not is_hashed else ["--target", self.names[self.target]]
        options += ["--text-columns", ",".join(texts)] if texts else []
        options += ["--drop", ",".join(dict.fromkeys(drop))] if drop else []
        options += ["--missing", ",".join(missing)] if missing else []
        mixed = has_strings or has_gaps
        options += ["--hash-bits", _FEW_BITS] if mixed and not texts and not is_hashed else []
        return options + (
            ["--scale", "standard"] if has_numbers and (mixed or texts) and not is_hashed else []
        )


def _counts(values: list[str]) -> bool:
    """Whether the values are row numbers: they count up by one."""
    if not all(value.isdigit() for value in values):
        return False
    numbers = [int(value) for value in values]
    return len(numbers) > 9 and all(b - a == 1 for a, b in pairwise(numbers))


def _is_list(values: list[str]) -> bool:
    return all(value.startswith("[") for value in values)


def _has_words(values: list[str]) -> bool:
    return sum(len(re.findall(r"[^\W\d_]{2,}", value)) > 1 for value in values) * 2 >= len(values)
