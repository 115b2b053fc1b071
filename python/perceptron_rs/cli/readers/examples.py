"""From a file or standard input to examples and labels: by its suffix, or the format that an option names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from perceptron_rs.cli.errors import CommandError, UsageError, about, one_line
from perceptron_rs.cli.readers.data import Data, joined, same_columns
from perceptron_rs.cli.readers.labels import read_labels, tidy
from perceptron_rs.cli.readers.source import (
    Place,
    check_file,
    file_of,
    files_of,
    is_read_once,
    name_of,
    opened,
)
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.io.lines import text_blocks
from perceptron_rs.packed import MAX_RATIO
from perceptron_rs.packed import SUFFIXES as PACKED
from perceptron_rs.text import check_utf8, open_text

__all__ = ["blocks", "format_of", "load", "with_label_kind"]

#: The suffixes of each format.
SUFFIXES = {
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".txt": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".npz": "npz",
    ".npy": "npy",
    ".parquet": "parquet",
}
TEXT_TABLES = ("csv", "tsv")
TABLES = (*TEXT_TABLES, "parquet")
#: Those that are text, and so can be read line by line, and compressed.
TEXTS = ("svmlight", "csv", "tsv", "lines")


def load(place: Place, wanted: Wanted) -> Data:
    """Read all examples; raise CommandError, which names the file, if they are not as wanted."""
    form = format_of(place, wanted)
    check_file(place)
    name = name_of(place)
    with about(name):
        data = _read_all(place, form, wanted) if isinstance(place, tuple) else _read(place, form, wanted)
        if wanted.beside is not None:
            data = replace(data, y=read_labels(wanted.beside))
        if 0 in data.shape:
            raise CommandError(f"{name}: contains no examples")
        data = _checked(data, name, wanted)
        n = data.X.shape[0]
        if data.y is not None and len(data.y) != n:
            raise CommandError(
                f"{wanted.beside or name}: {len(data.y)} labels for the {n} examples of {name}"
            )
    return data


#: Is told what is wrong with an example that cannot be read; raises an error, or has it left out.
Bad: TypeAlias = Callable[[str], None]


def blocks(
    place: Place,
    wanted: Wanted,
    *,
    may_wait: bool = False,
    check: Callable[[Data], None] | None = None,
    bad: Bad | None = None,
) -> Iterator[Data]:
    """Give the examples of text as soon as their lines are read; of Parquet some at a time, of arrays all.

    A model says how wide they are. If nothing says whether columns count from 0, all must be read to know.
    Where examples ``may_wait`` for later ones to be read, svmlight text is parsed on several threads.

    ``check`` looks at examples and raises CommandError. What it or a reader cannot take is told to ``bad``,
    line by line, when the examples before it have been given.
    """
    form = format_of(place, wanted)
    unknown = form == "svmlight" and wanted.zero_based == "auto"
    if unknown and is_read_once(place):
        _wait_for_all(place, needs_answers=bad is not None)
    in_parts = form == "parquet" and not is_read_once(place)
    if not (form in TEXTS or in_parts) or unknown or wanted.beside is not None:
        data = load(place, wanted)
        if check is not None:
            check(data)
        yield data
        return
    check_file(place)
    first = None
    for path in files_of(place):
        parts = _blocks(path, form, wanted, may_wait=may_wait, check=check, bad=bad)
        for data in _parquet(path, wanted, check) if in_parts else parts:
            first = first or (path, data)
            same_columns(*first, path, data)
            yield data


def _parquet(path: str, wanted: Wanted, check: Callable[[Data], None] | None) -> Iterator[Data]:
    """Give the examples of a Parquet file, some at a time."""
    from perceptron_rs.cli.readers.tables import parquet_parts

    empty = True
    with about(path):
        for part in parquet_parts(path, wanted):
            if len(part):
                data, empty = _checked(part, path, wanted), False
                if check is not None:
                    check(data)
                yield data
    if empty:
        raise CommandError(f"{path}: contains no examples")


def _wait_for_all(place: Place, *, needs_answers: bool) -> None:
    """Say that no line can be answered before the last one is read; raise an error if it must be."""
    why = f"{name_of(place)}: the model does not say whether columns count from 0"
    how = "say --zero-based yes or no"
    if needs_answers:
        raise UsageError(f"{why}, so no line can be learnt from before the last one is read; {how}")
    warnings.warn(f"{why}, so all of it is read before the first answer; {how}", UserWarning, stacklevel=1)


def _blocks(
    path: str,
    form: str,
    wanted: Wanted,
    *,
    may_wait: bool,
    check: Callable[[Data], None] | None,
    bad: Bad | None,
) -> Iterator[Data]:
    """Give the examples of one file of text."""
    name, empty = name_of(path), True
    lines = _lines(form, name, wanted)

    records = lines.text.records if form in TABLES else None

    def part(block: tuple[int, bytes]) -> Data:
        with about(name):
            data = _checked(lines.part(*block), name, wanted)
            if check is not None and len(data):
                check(data)
            return data

    def without_bad(number: int, text: bytes) -> Iterator[Data]:
        """Give the examples of what can be read, and tell of each line that cannot."""
        nonlocal lines
        try:
            with about(name):
                check_utf8(text, name, number - 1)
            data = part((number, text))
        except CommandError as error:
            if records is None:
                ends = [end.end() for end in re.finditer(rb"\n|.\Z", text, re.DOTALL)]
            else:
                ends = records.ends(text)
            if len(ends) < 2:
                assert bad is not None
                bad(_of_line(one_line(error), name, number))
                return
        else:
            yield data
            return
        if number == 1:
            lines = _lines(form, name, wanted)  # it has seen the header
        half = len(ends) // 2
        yield from without_bad(number, text[: ends[half - 1]])
        yield from without_bad(number + half, text[ends[half - 1] :])

    # The parser of svmlight text looks at every byte.
    is_checked = form != "svmlight" and bad is None
    texts = text_blocks(file_of(path), max_ratio=wanted.max_ratio, is_checked=is_checked, records=records)
    found: Iterator[Data]
    if bad is not None:
        found = (data for block in texts for data in without_bad(*block))
    elif may_wait and wanted.labels and form == "svmlight":  # other readers learn from the first lines
        from perceptron_rs.io.threads import in_order

        found = in_order(part, texts)
    else:
        found = map(part, texts)
    for data in found:
        if len(data):
            empty = False
            yield data
    if empty:
        raise CommandError(f"{name}: contains no examples")


def _of_line(text: str, name: str, number: int) -> str:
    """Return what is wrong with a line, with its number."""
    if f"line {number}" in text:
        return text
    text = re.sub(r"^row \d+: ", "", text.removeprefix(name).removeprefix(": "))  # of those that were read
    return f"{name}, line {number}: {text}"


def format_of(place: Place, wanted: Wanted) -> str:
    """Return the format that an option or the suffix says; UsageError if options do not go with it."""
    paths = files_of(place)
    form = wanted.format or _by_suffix(paths[0], wanted)
    for path in paths[1:]:
        if wanted.format is None and (other := _by_suffix(path, wanted)) != form:
            raise CommandError(
                f"{path}: is {other}, but {paths[0]} is {form}; name files of one format, or --format"
            )
    tables = (("--target", wanted.target), ("--delimiter", wanted.delimiter), ("--drop", wanted.drop or None))
    for option, value in (*tables, ("--columns", wanted.columns)):
        if value is not None and form not in TABLES:
            raise UsageError(f"{option} is about the columns of a table, and {name_of(place)} is {form}")
    asked = wanted.hash_bits is not None and wanted.usual is None  # by an option, and not by the model
    if asked and form not in (*TABLES, "lines"):
        raise UsageError(f"--hash-bits is for tables and --tokens, and {name_of(place)} is {form}")
    return form


def _by_suffix(path: str, wanted: Wanted) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (*SUFFIXES, *PACKED) and is_read_once(path):
        if wanted.usual is None:
            raise UsageError(f"{name_of(path)} has no suffix that says its format; add --format")
        return wanted.usual
    if suffix in PACKED:
        inner = SUFFIXES.get(Path(Path(path).stem).suffix.lower())
        if inner in TEXTS:
            return inner
        known = ", ".join(suffix for suffix, form in SUFFIXES.items() if form in TEXTS)
        raise CommandError(f"{path}: only {known} may be compressed, as in data.svm{suffix}")
    if suffix not in SUFFIXES:
        raise CommandError(
            f"{path}: unknown suffix {suffix!r}; the suffix must be one of {', '.join(SUFFIXES)}, or "
            f"--format must name the format"
        )
    return SUFFIXES[suffix]


def _read_all(paths: tuple[str, ...], form: str, wanted: Wanted) -> Data:
    """Return the examples of several files, as if they were of one."""
    if form == "svmlight" and wanted.labels and not is_read_once(paths):
        from perceptron_rs.cli.readers.svmlight import read_svmlight

        return read_svmlight(paths, wanted)
    if form in TEXT_TABLES:
        from perceptron_rs.cli.readers.tables import with_kinds

        wanted = with_kinds(paths, form, wanted)
    if form == "lines" and wanted.labels and wanted.label_kind is None and wanted.beside is None:
        wanted = with_label_kind(paths, wanted)
    parts = []
    for path in paths:
        with about(path):
            parts.append(_read(path, form, wanted))
        same_columns(paths[0], parts[0], path, parts[-1])
    texts = {name for part in parts for name in (part.hashed[1] if part.hashed else ())}
    if any(part.hashed is not None and set(part.hashed[1]) != texts for part in parts):
        return _read_all(paths, form, replace(wanted, texts=tuple(texts)))
    return joined(parts, paths)


def _read(path: str, form: str, wanted: Wanted) -> Data:
    if form in ("npz", "npy"):
        from perceptron_rs.io.arrays import read_npy, read_npz

        return Data(read_npy(file_of(path))) if form == "npy" else Data(*read_npz(file_of(path)))
    if form in TABLES and not is_read_once(path):
        from perceptron_rs.cli.readers.tables import read_csv, read_parquet

        return read_parquet(path, path, wanted) if form == "parquet" else read_csv(path, form, wanted)
    if form == "parquet":
        from perceptron_rs.cli.readers.tables import read_parquet

        with opened(path, wanted.max_ratio) as file:
            return read_parquet(path, name_of(path), wanted, file.read())
    if form == "svmlight" and not is_read_once(path) and wanted.labels:
        from perceptron_rs.cli.readers.svmlight import read_svmlight

        return read_svmlight((path,), wanted)
    file, ratio = file_of(path), wanted.max_ratio or MAX_RATIO
    with open_text(file, ratio, name=name_of(path), is_checked=form != "svmlight") as file:
        whole: Data = _lines(form, name_of(path), wanted).part(1, file.read())  # all of it is one block
        return whole


def _lines(form: str, name: str, wanted: Wanted) -> Any:
    """Return what reads whole lines of a format."""
    if form == "svmlight":
        from perceptron_rs.cli.readers.svmlight import SvmlightLines

        return SvmlightLines(name, wanted)
    if form == "lines":
        from perceptron_rs.io.raw_text import RawText

        assert wanted.hash_bits is not None
        lines = RawText(
            name,
            wanted.hash_bits,
            is_labelled=wanted.beside is None if wanted.labels or wanted.beside else wanted.labelled,
            with_labels=wanted.labels,
            kind=wanted.label_kind,
            classes=wanted.classes,
        )
        return _Parts(lambda first, text: Data(*lines.part(first, text)[:2]))
    from perceptron_rs.cli.readers.tables import TableLines

    return TableLines(name, form, wanted)


class _Parts(NamedTuple):
    """What reads whole lines: it is given the number of the first of them, and their text."""

    part: Callable[[int, bytes], Data]


def with_label_kind(paths: Sequence[str], wanted: Wanted) -> Wanted:
    """Return what is wanted of raw text, with what its labels are: all lines say it."""
    from perceptron_rs.io.raw_text import kind_of_files

    return replace(wanted, label_kind=kind_of_files(list(map(file_of, paths)), wanted.max_ratio))


def _checked(data: Data, name: str, wanted: Wanted) -> Data:
    """Return examples with tidy labels, scaled as the model's; CommandError if they are not as wanted."""
    if len(data.shape) != 2:
        raise CommandError(f"{name}: contains no examples")
    if wanted.features is not None and data.shape[1] != wanted.features:
        raise CommandError(f"{name}: has {data.shape[1]} features, but {wanted.features} are expected")
    if wanted.scale is not None:
        data = replace(data, rows=wanted.scale.applied(data.X))
    if data.y is None or (not wanted.labels and wanted.beside is None):
        if wanted.labels and len(data):
            raise CommandError(f"{name}: contains no labels; pass them with --labels FILE.npy")
        return data
    return replace(data, y=tidy(np.asarray(data.y), str(wanted.beside or name)))
