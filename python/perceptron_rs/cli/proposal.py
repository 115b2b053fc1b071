"""What to type instead, where a file cannot be learnt from as it is: by a look at its beginning.

A proposal is one line for a shell. Commands that make another file of it come first, if one must be made.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import count, pairwise, zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

from perceptron_rs.cli.status import PROGRAM
from perceptron_rs.features.categories import kind_of_strings
from perceptron_rs.io.text.compression import MAX_RATIO, decompressed
from perceptron_rs.io.text.paths import PACKED, SUFFIXES, paths_of

#: What files that nobody can read raise: RuntimeError is that of encrypted archives, and of deep JSON.
_UNREADABLE = (
    OSError,
    ValueError,
    ImportError,
    EOFError,
    RuntimeError,
    csv.Error,
    zipfile.BadZipFile,
    zlib.error,
)
_LOOKED_AT = 1 << 18
#: Of long lines so many are looked at, and so many bytes at most.
_LOOKED_LINES, _MOST = 100, 1 << 24
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
#: A blank ends the label, and what touches the bar is a tag.
_VW = re.compile(r"[^|]*\s[^|\s]*\|\w*( [^|]*)?(\|.*)?")
#: Keys of objects as vw and river write them, which hold objects of features.
_OF_RIVER = {"_label", "x"}
_FLAT = (
    "import json; flat = lambda x, before='': {k: v for n, y in x.items() for k, v in "
    "(flat(y, before + n + '.') if isinstance(y, dict) else {before + n: y}).items()}"
)
_PART_OF_TIME = re.compile(r"\d[-/:.]\d+[-/:.]\d")
#: What unpacks, by suffix.
_UNPACK = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
#: Of files whose columns hold numbers and categories: few names make few collisions.
_FEW_BITS = "12"


class _Proposal(NamedTuple):
    """A proposed command: DATA, its options, and the shell commands that make that file of another one."""

    word: str
    options: list[str]
    command: str
    steps: list[str]
    is_short: bool = False  # so that nothing follows for the options

    def after(self, *steps: str) -> _Proposal:
        """Return it behind other steps."""
        return self._replace(steps=[*steps, *self.steps])


def proposal(word: str, typed: Sequence[str], *, is_known: bool = False) -> str | None:
    """Return what to type for the one word of DATA that cannot be read; None if nobody knows.

    ``typed`` are the words of the command, whose options are kept. ``is_known``: a model knows how to read
    it, so that only another file is proposed.
    """
    limit = csv.field_size_limit(_MOST)
    try:
        with suppress(*_UNREADABLE):
            return _command(word, list(typed), is_known=is_known)
    finally:
        csv.field_size_limit(limit)
    return None


def _command(word: str, typed: list[str], *, is_known: bool) -> str | None:
    path = Path(paths_of(word)[0])
    if not (path.is_file() or path.is_dir()):
        return None  # a pipe, which has been read: to open it again would wait for a writer
    found = _of_parquet(word, path) if path.suffix == ".parquet" else _of_bytes(word, path)
    if found is None:
        return None
    forms = {SUFFIXES.get(Path(found.word).suffix), *found.options}
    if forms & {"csv", "tsv", "parquet"} and find_spec("pyarrow") is None:
        found = found.after("pip install pyarrow")
    if (found.is_short and not is_known) or (is_known and not found.steps):
        return None
    new = [found.word if one == word else one for one in typed] + ([] if is_known else found.options)
    if found.command != "train":
        new = [found.command, found.word]
    return None if new == typed else " && ".join([*found.steps, f"{PROGRAM} {shlex.join(new)}"])


def _train(word: str, *options: str, command: str = "train", steps: Sequence[str] = ()) -> _Proposal:
    return _Proposal(word, list(options), command, list(steps))


# ---- kinds of files


def _of_bytes(word: str, path: Path) -> _Proposal | None:
    with path.open("rb") as file:
        begin = file.read(8)
    plain = path.with_suffix("").name
    if begin.startswith(b"PK\x03\x04") and path.suffix == ".xlsx":
        csv_name = _unused(f"{plain}.csv")
        code = f"import pandas; pandas.read_excel({str(path)!r}).to_csv({csv_name!r}, index=False)"
        lacking = [name for name in ("pandas", "openpyxl") if find_spec(name) is None]
        first = [f"pip install {' '.join(lacking)}"] if lacking else []
        return _train(csv_name, steps=[*first, f"python -c {shlex.quote(code)}"])
    if begin.startswith(b"PK\x03\x04"):
        return _of_archive(word, path) if path.suffix == ".zip" else None
    if begin.startswith(b"ARROW1"):
        name = _unused(f"{plain}.parquet")
        code = "from pyarrow import feather as f, parquet as p; "
        code += f"p.write_table(f.read_table({str(path)!r}), {name!r})"
        return _train(name, steps=[f"python -c {shlex.quote(code)}"])
    with io.BufferedReader(decompressed(path, MAX_RATIO)) as opened:
        data = _beginning(opened)
    found = _of_data(word, data)
    if path.suffix in _UNPACK and found is not None and found.steps:  # of programs that read plain text
        whole = _unused(plain)
        unpacked = f"{_UNPACK[path.suffix]} -dc {shlex.quote(word)} > {shlex.quote(whole)}"
        found = _of_data(whole, data)
        return found and found.after(unpacked)
    return found


def _of_archive(word: str, path: Path) -> _Proposal | None:
    """Propose to unpack an archive, and to learn from its file: of several, from the largest."""
    with zipfile.ZipFile(path) as archive:
        files = [one for one in archive.infolist() if Path(one.filename).suffix.lower() in SUFFIXES]
        if not files:
            return None
        largest = max(files, key=lambda one: one.file_size)
        with archive.open(largest) as file:
            data = _beginning(file)
    folder = _unused(path.with_suffix("").name)
    found = _of_data(f"{folder}/{largest.filename}", data)
    return found and found.after(shlex.join(["python", "-m", "zipfile", "-e", word, folder]))


def _beginning(file: IO[bytes]) -> bytes:
    """Return the first bytes of a file: of long lines more, but not all."""
    data = file.read(_LOOKED_AT)
    while len(data) < _MOST and data.count(b"\n") < _LOOKED_LINES and (more := file.read(_LOOKED_AT)):
        data += more
    return data


def _of_data(word: str, data: bytes) -> _Proposal | None:
    encoding, other = _encoding(data)
    if encoding is None:
        return None
    text = data.decode(encoding, errors="ignore")
    lines = text.splitlines()[:_LINES]
    if len(data) >= _LOOKED_AT and len(lines) < _LINES:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines]
    path = Path(word)
    suffixes = [part for part in path.suffixes if part not in PACKED]
    steps: list[str] = []
    if other is not None:
        new = _unused(f"{path.with_suffix('').name}.utf8{path.suffix}")
        steps, word = [f"iconv -f {other} -t UTF-8 {shlex.quote(word)} > {shlex.quote(new)}"], new
    found = _of_lines(word, suffixes[-1] if suffixes else "", lines, text)
    return found and found.after(*steps)


def _unused(name: str) -> str:
    """Return a name that no file has yet: a file that is there is somebody's, perhaps the one to read."""
    path = Path(name)
    names = (name if number == 1 else f"{path.stem}.{number}{path.suffix}" for number in count(1))
    return next(one for one in names if not Path(one).exists())


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
    if any(line.startswith("__label__") for line in full[:_LEAST]):
        several = any(line.split()[1:2] and line.split()[1].startswith("__label__") for line in full)
        form = [] if suffix in (".ft", ".fasttext") else ["--format", "fasttext"]
        return _train(word, *form, *(["--multilabel"] if several else []))
    if full[0].startswith("["):
        name = _unused(f"{Path(word).with_suffix('').name}.jsonl")
        code = f"import json; [print(json.dumps(x)) for x in json.load(open({word!r}, encoding='utf-8'))]"
        records = _json_objects(json.loads(text) if len(text) < _LOOKED_AT else [])
        steps = [f"python -c {shlex.quote(code)} > {shlex.quote(name)}"]
        options = _of_records(records)
        return None if options is None else _train(name, *options, steps=steps)
    if full[0].startswith("{"):
        records = _json_objects(map(json.loads, full))
        if not records:
            return None
        if (found := _of_tokens(word, records[0])) is not None:
            return found
        keys = records[0].keys()
        if any(isinstance(records[0][key], dict) for key in keys) and not _OF_RIVER & keys:
            name = _unused(f"{Path(word).with_suffix('').name}.flat.jsonl")
            code = f"[print(json.dumps(flat(json.loads(x)))) for x in open({word!r}, encoding='utf-8')]"
            options = _of_records([_flat(record) for record in records])
            steps = [f"python -c {shlex.quote(f'{_FLAT}; {code}')} > {shlex.quote(name)}"]
            return None if options is None else _train(name, *options, steps=steps)
        form = [] if suffix in (".jsonl", ".ndjson") else ["--format", "jsonl"]
        options = _of_records(records)
        return None if options is None else _train(word, *form, *options)
    if suffix not in (".csv", ".tsv") and _most(full, _VW.fullmatch) and "\t|" not in full[0]:
        return _train(word, *([] if suffix == ".vw" else ["--format", "vw"]))
    if _most(full, _SVMLIGHT.fullmatch):
        form = [] if suffix in (".svm", ".libsvm", ".svmlight", ".txt") else ["--format", "svmlight"]
        return _train(word, *form, *(["--multilabel"] if any("," in x.split()[0] for x in full) else []))
    if _is_tokens(lines):
        return _train(word, command="tag-train")
    return _of_table(word, suffix, full, lines) or _of_log(word, full)


def _most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)


def _json_objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _flat(record: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return an object whose keys are paths: it holds no objects."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        is_inner = isinstance(value, dict)
        found |= _flat(value, f"{before}{name}.") if is_inner else {f"{before}{name}": value}
    return found


def _of_tokens(word: str, record: dict[str, Any]) -> _Proposal | None:
    """Propose to tag, where two lists of strings are as long as each other: tokens, and their tags."""
    lists = [name for name, value in record.items() if isinstance(value, list)]
    if len(lists) != 2 or len(record[lists[0]]) != len(record[lists[1]]):
        return None
    if not all(isinstance(value, str) for name in lists for value in record[name]):
        return None
    tokens, tags = sorted(lists, key=lambda name: "tag" in name.lower() or "label" in name.lower())
    name = _unused(f"{Path(word).with_suffix('').name}.tags.txt")
    code = f"import json; [print(*map('\\t'.join, zip(x[{tokens!r}], x[{tags!r}])), '', sep='\\n') "
    code += f"for x in map(json.loads, open({word!r}, encoding='utf-8'))]"
    return _train(name, command="tag-train", steps=[f"python -c {shlex.quote(code)} > {shlex.quote(name)}"])


def _of_records(records: list[dict[str, Any]]) -> list[str] | None:
    """Return the options for objects; None if no key holds labels. Lists are no features of theirs."""
    names = list(dict.fromkeys(name for record in records for name in record))
    lists = [name for name in names if any(isinstance(record.get(name), list) for record in records)]
    names = [name for name in names if name not in lists]
    cells = [[_cell(record.get(name)) for record in records] for name in names]
    columns = _Columns(names, cells, _OF_JSON)
    return columns.options(is_hashed=True, drop=lists) if names and columns.is_found else None


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _is_tokens(lines: list[str]) -> bool:
    """Whether each line is a token with its tags, and an empty line ends each sentence."""
    tokens = [line for line in lines if line.strip() and not line.startswith(("# ", "-DOCSTART-"))]
    if not tokens:
        return False
    blank = [not line.strip() for line in lines]
    ends = sum(one and not other for one, other in zip(blank, [True, *blank[:-1]], strict=True))
    separator = "\t" if "\t" in tokens[0] else None
    widths = {len(line.split(separator)) for line in tokens}
    return len(widths) == 1 and min(widths) > 1 and ends > 1


def _of_log(word: str, lines: list[str]) -> _Proposal | None:
    """Propose labels and texts for lines of words: the label is the word with the fewest distinct values."""
    rows = [line.split() for line in lines]
    least, place = _CLASSES + 1, -1
    for i in range(min(map(len, rows))):
        values = [row[i] for row in rows]
        n = len(set(values))
        if 2 <= n <= len(values) // 5 and n < least and not _most(values, _PART_OF_TIME.search):
            least, place = n, i
    if place < 0:
        return None
    name, field = _unused(f"{Path(word).with_suffix('').name}.labels.txt"), f"${place + 1}"
    code = f'{{label = {field}; {field} = ""; print label "\\t" $0}}'
    return _train(name, "--text", steps=[f"awk '{code}' {shlex.quote(word)} > {shlex.quote(name)}"])


# ---- tables


def _of_table(word: str, suffix: str, lines: list[str], of_file: list[str]) -> _Proposal | None:
    """Propose what learns from a table: ``of_file`` has its empty lines, too."""
    steps: list[str] = []
    fields = [line for line in lines if not re.fullmatch("sep=.", line)]
    delimiter = max(",\t;|", key=lambda mark: _evenness(fields, mark))
    if not (usual := _evenness(fields, delimiter)):
        return _of_blanks(word, lines)
    titles = next(i for i, row in enumerate(csv.reader(lines, delimiter=delimiter)) if len(row) == usual)
    if titles:  # such as Excel's "sep=;", or a title
        new = _unused(f"{Path(word).stem}.table{suffix}")
        above = of_file.index(lines[titles])
        steps.append(f"sed {'1,' * (above > 1)}{above}d {shlex.quote(word)} > {shlex.quote(new)}")
        word, lines = new, lines[titles:]
    rows = list(csv.reader(lines, delimiter=delimiter))
    if len(rows[0]) == 2 and not _has_header(rows) and suffix != ".tsv" and delimiter == "\t":
        return _of_pairs(word, rows, steps)
    names, options = rows[0], []
    if suffix not in (".csv", ".tsv"):
        options += ["--format", "csv"]
    if delimiter != ("\t" if suffix == ".tsv" else ","):
        options += ["--delimiter", "\\t" if delimiter == "\t" else delimiter]
    if not _has_header(rows):
        names = [f"f{i}" for i in range(len(names))]
        options.append("--no-header")
        rows.insert(0, names)
    elif len(twice := [name for name in names if name.strip()]) > len(set(twice)):
        new = _unused(f"{Path(word).stem}.names{suffix}")
        names = _told_apart(names)
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="").writerow(names)
        line = re.sub(r"([\\/&])", r"\\\1", header.getvalue())
        steps.append(f"sed {shlex.quote(f'1s/.*/{line}/')} {shlex.quote(word)} > {shlex.quote(new)}")
        word = new
    if len(rows) < 2:
        return None
    cells = [list(column) for column in zip_longest(*rows[1:], fillvalue="")][: len(names)]
    if delimiter != "," and any(_most(column, _OF_COMMA.fullmatch) for column in cells):
        new = _unused(f"{Path(word).stem}.points{suffix}")
        steps.append(f"sed 's/,/./g' {shlex.quote(word)} > {shlex.quote(new)}")
        word, cells = new, [[cell.replace(",", ".") for cell in column] for column in cells]
    if _has_gaps(names, cells):
        new = _unused(f"{Path(word).stem}.labelled{suffix}")
        how = f"delimiter={delimiter!r}"
        code = f"import csv, sys; csv.writer(sys.stdout, {how}).writerows(x for x in csv.reader("
        code += f"open({word!r}, encoding='utf-8-sig', newline=''), {how}) "
        code += f"if ''.join(x[{len(names) - 1}:]).strip())"
        steps.append(f"python -c {shlex.quote(code)} > {shlex.quote(new)}")
        full = [i for i, cell in enumerate(cells[-1]) if cell.strip()]
        word, cells = new, [[column[i] for i in full] for column in cells]
    columns = _Columns(names, cells)
    if columns.is_one_class:
        return None
    if not columns.is_found and suffix not in (".csv", ".tsv"):
        return None
    options += columns.options(is_text=True)
    return _Proposal(word, options, "train", steps, is_short=len(rows) < _LEAST)


def _of_pairs(word: str, rows: list[list[str]], steps: list[str]) -> _Proposal:
    """Propose what learns from a label and a text, or a text and a label, with a tab between."""
    first, second = ({row[place] for row in rows if len(row) == 2} for place in (0, 1))
    if len(first) <= len(second):
        return _train(word, "--text", steps=steps)
    options = ["--format", "tsv", "--no-header", "--target", "f1", "--text-columns", "f0"]
    return _train(word, *options, steps=steps)


def _of_blanks(word: str, lines: list[str]) -> _Proposal | None:
    """Propose a table with commas for one whose columns stand apart by blanks, most of them numbers."""
    rows = [line.split() for line in lines]
    numbers = sum(_most(column, _NUMBER.fullmatch) for column in zip(*rows, strict=False))
    if (
        len({len(row) for row in rows}) > 1
        or len(rows[0]) < 3
        or 2 * numbers < len(rows[0])
        or "," in "".join(lines)
    ):
        return None
    new = _unused(f"{Path(word).stem}.table.csv")
    commas = [",".join(row) for row in rows]
    found = _of_table(new, ".csv", commas, commas)
    return found and found.after(f"awk '{{$1 = $1; print}}' OFS=, {shlex.quote(word)} > {shlex.quote(new)}")


def _has_gaps(names: list[str], cells: list[list[str]]) -> bool:
    """Whether some labels are missing: those of the last column, which else could hold them."""
    full = [cell for cell in cells[-1] if cell.strip()]
    if len(full) == len(cells[-1]) or 2 * len(full) < len(cells[-1]):
        return False
    columns = _Columns(names, [*([""] * len(full) for _ in names[1:]), full])
    return columns.is_found and not _Columns(names, cells).is_called


def _told_apart(names: list[str]) -> list[str]:
    """Return names of which no two are equal: later ones get a number."""
    found: list[str] = []
    for name in names:
        others = (name if number == 1 else f"{name}_{number}" for number in count(1))
        found.append(next(one for one in others if not name.strip() or one not in found))
    return found


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
        #: Whether the last column holds one label, so that any other column would be a guess.
        one = [len(set(column)) == 1 for name, column in zip(names, cells, strict=True) if name.strip()]
        self.is_one_class = not called and one[-1:] == [True] and names[-1].strip() != ""
        #: Whether a column may hold labels.
        self.is_found = bool(called or may_be)

    def _is_label(self, place: int) -> bool:
        values = self.cells[place]
        distinct = set(values)
        whole = all(not _NUMBER.fullmatch(cell) or float(cell) == int(float(cell)) for cell in distinct)
        whole = whole and not _most(values, _PART_OF_TIME.search)
        return whole and "" not in distinct and 2 <= len(distinct) <= min(_CLASSES, len(values) // 3)

    def options(
        self, *, is_text: bool = False, is_hashed: bool = False, drop: Sequence[str] = ()
    ) -> list[str]:
        """Return the options that learn from the columns; ``is_text``: cells are text, of CSV."""
        drop, texts, missing = list(drop), [], []
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
