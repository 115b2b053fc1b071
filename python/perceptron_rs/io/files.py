"""Files of examples in any format, read whole or part by part. All readers of them are here."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from perceptron_rs.errors import ArgumentError, OptionsError, about
from perceptron_rs.features.categories import Categories
from perceptron_rs.features.numerals import mark_of
from perceptron_rs.io.examples import Examples, joined_examples, read_labels, same_labels, whole_labels
from perceptron_rs.io.reading import (
    HASHED,
    RAW,
    TEXT_TABLES,
    TEXTS,
    USUAL_BITS,
    Reading,
    format_of,
    wrong_width,
)
from perceptron_rs.io.source import borders
from perceptron_rs.io.svmlight.lines import SvmlightText, all_labels, as_matrix, tidy_labels
from perceptron_rs.io.text.lines import (
    Records,
    check_files,
    is_read_once,
    line_pieces,
    name_of_file,
    names_of,
    readable,
    text_blocks,
)
from perceptron_rs.io.text.opening import MAX_RATIO, check_utf8, decompressed, open_text

#: Looks at examples, and raises ValueError if they cannot be taken.
Check: TypeAlias = Callable[[Examples], None]
#: Takes the error of an example, the file, and the line or row. Raises an error; returns to leave the example
#: out.
Bad: TypeAlias = Callable[[ValueError, str, str], None]

_NO_ROWS = np.zeros((0, 0))
#: Examples that are answered at once; the bits of a score do not depend on it.
_FEW = 8192


class ExampleFiles:
    """Files that are read as if they were one, as often as they are asked for.

    Parameters
    ----------
    files : sequence of str or binary file
        Their names; or what is open, such as a pipe.
    reading : Reading
        The options.
    """

    def __init__(self, files: Sequence[Any], reading: Reading) -> None:
        self.files, self.reading = tuple(files), reading
        self.form, self.name = format_of(self.files, reading), names_of(self.files)
        is_hashed = self.form in HASHED or reading.text_columns
        if is_hashed and reading.hash_bits is None:
            self.reading = replace(reading, hash_bits=USUAL_BITS)
        if self.reading.hash_bits is not None:
            reading.text()  # raises an error before anything is read
            if reading.with_labels and reading.classes is None and reading.text_columns != ():
                self.reading = replace(self.reading, categories=Categories())
        #: What was read last, without its rows.
        self.last = Examples(_NO_ROWS)

    @property
    def is_read_once(self) -> bool:
        """Whether they cannot be read again."""
        return is_read_once(self.files)

    # ---- whole

    def whole(self) -> Examples:
        """Read all examples; ValueError, which names the file, if they are not as the options say."""
        check_files(self.files)
        reading = self.reading
        with about(self.name):
            if self._reads_at_once:
                from perceptron_rs.io.svmlight.files import read_examples

                data = self._listed(read_examples(self.files, reading))
            else:
                data = self._read_several() if len(self.files) > 1 else self._read_one(self.files[0], reading)
            if reading.labels is not None:
                data = replace(data, y=read_labels(reading.labels))
            if 0 in data.shape:
                raise ValueError(f"{self.name}: contains no examples")
            data = self._checked(data, self.name)
            n = data.shape[0]
            if data.y is not None and len(data.y) != n:
                raise ValueError(
                    f"{reading.labels or self.name}: {len(data.y)} labels for the {n} examples of {self.name}"
                )
        self.last = replace(data, rows=_NO_ROWS, y=None, weights=None)
        self._judge_categories()
        return data

    @property
    def _reads_at_once(self) -> bool:
        """Whether all files are read together, on several threads."""
        can_be = self.form == "svmlight" and self.reading.with_labels
        return can_be and (self.reading.multilabel or not self.is_read_once)

    def _read_several(self) -> Examples:
        reading = self.reading
        if self.reading.multilabel and self.reading.list_labels is None and reading.with_labels:
            self._find_labels()
            reading = self.reading
        if self.form in TEXT_TABLES or reading.asks_labels(self.form):
            if self.is_read_once:
                raise OptionsError(
                    f"{{name}}: one can be read only once, but several files of {self.form} are read twice",
                    "pipe them all, as by cat, or name files",
                    name=self.name,
                )
            reading = self._with_kinds(reading)
        while True:
            parts: list[Examples] = []
            names: list[str] = []
            for file in self.files:
                with about(name_of_file(file)):
                    part = self._read_one(file, reading)
                if len(part.shape) == 2 and not len(part):
                    continue  # one of several may be empty, as parts of a table that many processes write
                parts.append(part)
                names.append(name_of_file(file))
                reading = _after_first(reading, names[0], parts[0])
                same_labels(names[0], parts[0], names[-1], parts[-1])
            if not parts:
                raise ValueError(f"{self.name}: contains no examples")
            texts = {name for part in parts for name in (part.hashed[1] if part.hashed else ())}
            if all(part.hashed is None or set(part.hashed[1]) == texts for part in parts):
                return joined_examples(parts, names)
            reading = replace(reading, texts=tuple(texts))

    def _read_one(self, file: Any, reading: Reading) -> Examples:
        name, form = name_of_file(file), self.form
        if form in ("npz", "npy"):
            from perceptron_rs.io.arrays import read_npy, read_npz

            return Examples(read_npy(file)) if form == "npy" else Examples(*read_npz(file))
        if form == "safetensors":
            from perceptron_rs.io.tensors import read_tensors

            return read_tensors(file, reading)
        if form == "parquet":
            from perceptron_rs.io.tables.tables import TableRows, table_file

            content = file
            if is_read_once([file]):
                with io.BufferedReader(
                    decompressed(file, reading.max_ratio or MAX_RATIO, name=name)
                ) as opened:
                    content = opened.read()
            table = table_file(content).whole()
            return TableRows(name, reading, table.schema, lambda: table.slice(0, 1)).part(1, table)
        if form in TEXT_TABLES:
            from perceptron_rs.io.tables.tables import CsvLines

            lines = CsvLines(name, form, reading)
            blocks = text_blocks(file, max_ratio=reading.max_ratio, records=lines.records)
            return lines.whole(text for _, text in blocks)
        ratio = reading.max_ratio or MAX_RATIO
        with open_text(file, ratio, name=name, is_checked=form != "svmlight") as text:
            whole = text.read()  # all of it is one block
        if not whole:
            return Examples(np.zeros((0, reading.n_features or 0)))
        return self._listed(line_reader(self.form, name, reading).part(1, whole))

    def _listed(self, data: Examples) -> Examples:
        """Return examples with a matrix for lists of labels, and note what its columns stand for."""
        if not self.reading.multilabel or data.y is None or data.y.ndim == 2:
            return data
        lists = data.y.tolist()
        if self.reading.list_labels is None:
            self._keep_labels(lists)
        assert self.reading.list_labels is not None
        known = self.reading.list_labels
        written = tuple(map(str, known)) if self._are_written else known
        return replace(data, y=as_matrix(lists, written, self.name))

    @property
    def _are_written(self) -> bool:
        """Whether the format gives the labels of lists as the text that stands there."""
        return self.form in (*RAW, "vw")

    def _keep_labels(self, lists: Iterable[tuple[Any, ...]]) -> None:
        """Set the labels that lists may have, sorted: as numbers if all of them are."""
        labels = all_labels(lists)
        if self._are_written:
            from perceptron_rs.io.hashed.lines import kind_of_labels

            labels = tuple(sorted(map(int, labels))) if kind_of_labels(labels) == "i" else labels
        elif self.form == "svmlight" and not self.reading.as_written:
            labels = tidy_labels(labels)
        self.reading = replace(self.reading, list_labels=labels)

    def _find_labels(self) -> None:
        """Find the labels of lists, by a pass."""
        if self.is_read_once:
            raise OptionsError(
                "{name} can be read only once, but all labels of its lists must be known",
                "say the labels with {classes}, or name a file",
                name=self.name,
            )
        self._keep_labels(self._written_labels())

    def _written_labels(self) -> Iterator[tuple[Any, ...]]:
        """Give the labels of each example as they are written, by a pass."""
        for file in self.files:
            with about(name_of_file(file)):
                lines: Any = line_reader(self.form, name_of_file(file), self.reading)
                is_checked = self.form != "svmlight"
                for block in text_blocks(file, max_ratio=self.reading.max_ratio, is_checked=is_checked):
                    yield from lines.lists(*block)

    def _with_kinds(self, reading: Reading) -> Reading:
        """Return the options with what labels are and which columns to hash hold text: all cells say it."""
        if self._are_written:
            from perceptron_rs.io.hashed.lines import kind_of_labels

            labels = (label for labels in self._written_labels() for label in labels)
            return replace(reading, label_kind=kind_of_labels(labels))
        from perceptron_rs.io.tables.tables import CsvLines, kinds_of

        def records(file: object, lines: CsvLines) -> Iterator[bytes]:
            blocks = text_blocks(file, max_ratio=reading.max_ratio, records=lines.records)
            with about(name_of_file(file)):
                yield from (text for _, text in blocks)

        every = [CsvLines(name_of_file(file), self.form, reading) for file in self.files]
        with about(name_of_file(self.files[0])):
            kind, texts = kinds_of(every, records, self.files)
        return replace(reading, label_kind=kind, texts=texts)

    # ---- part by part

    def parts(
        self, *, may_wait: bool = False, check: Check | None = None, bad: Bad | None = None
    ) -> Generator[Examples]:
        """Give the examples of text as soon as their lines are read; of Parquet some, of arrays all.

        A model says how wide they are. If nothing says whether columns count from 0, all must be read to
        know. Where examples ``may_wait`` for later ones to be read, svmlight text is parsed on threads.

        What ``check`` or a reader cannot take is told to ``bad``, line by line, or row by row, when the
        examples before it have been given; without it, it raises an error then. ``check`` gets few examples
        at a time.
        """
        unknown = self.form == "svmlight" and self.reading.zero_based == "auto"
        if unknown and self.is_read_once:
            self._wait_for_all(needs_answers=check is not None and self.reading.with_labels)
        in_parts = self.form == "parquet" and not self.is_read_once
        if not (self.form in TEXTS or in_parts) or unknown or self.reading.labels is not None:
            whole = self.whole()
            yield from _Parts((one for one in [(1, whole)]), lambda _, data: data).read_by(
                self.name, check, bad
            )
            return
        check_files(self.files)
        first = None
        for file in self.files:
            name = name_of_file(file)
            pieces = self._tables(file) if in_parts else self._texts(file, may_wait=may_wait, bad=bad)
            for data in pieces.read_by(name, check, bad):
                if len(data):
                    first = first or (name, data)
                    self.reading = _after_first(self.reading, *first)
                    same_labels(*first, name, data)
                    self.last = replace(data, rows=_NO_ROWS, y=None, weights=None)
                    yield data
        if first is None:
            raise ValueError(f"{self.name}: contains no examples")

    def _wait_for_all(self, *, needs_answers: bool) -> None:
        """Say that no line can be answered before the last one is read; raise an error if it must be."""
        what = (
            "no line can be learnt from before the last one is read"
            if needs_answers
            else "all of it is read before the first answer"
        )
        error = OptionsError(
            f"the model does not say whether columns count from 0, so {what}",
            "say {zero_based=True} or {zero_based=False}",
            place=f"{self.name}: ",
        )
        if needs_answers:
            raise error
        warnings.warn(UserWarning(error), stacklevel=1)

    def _tables(self, file: Any) -> _Parts:
        """Return the parts of a Parquet file."""
        from perceptron_rs.io.tables.tables import rows_of_file, table_file

        name = name_of_file(file)
        with about(name):
            tables = table_file(file)
            rows = rows_of_file(tables, name, self.reading)

        def blocks() -> Generator[tuple[int, Any]]:
            first = 1
            with about(name):
                for table in tables.parts(rows.layout.used):
                    yield first, table
                    first += table.num_rows

        return _Parts(blocks(), lambda *block: self._checked(rows.part(*block), name))

    def _texts(self, file: object, *, may_wait: bool, bad: Bad | None) -> _Parts:
        """Return the parts of one file of text."""
        name, reading = name_of_file(file), self.reading
        lines = line_reader(self.form, name, reading)
        records: Records | None = getattr(lines, "records", None)
        # The parser of svmlight text looks at every byte.
        is_checked = self.form != "svmlight" and bad is None

        def read(first: int, text: bytes) -> Examples:
            if bad is not None:
                check_utf8(text, name, first - 1)
            return self._checked(lines.part(first, text), name)

        def pieces(first: int, text: bytes, most: int | None = None) -> list[tuple[int, bytes]]:
            nonlocal lines
            if first == 1 and most is None:
                lines = line_reader(self.form, name, reading)  # it has seen the header
            return line_pieces(first, text, most, records)

        each: Any = map
        if may_wait and self.form == "svmlight" and (reading.with_labels or reading.labelled is not None):
            from perceptron_rs.io.text.threads import in_order as each  # others learn from the first lines

        blocks = text_blocks(file, max_ratio=reading.max_ratio, is_checked=is_checked, records=records)
        return _Parts(blocks, read, pieces, each, "line")

    def _checked(self, data: Examples, name: str) -> Examples:
        """Return examples with tidy labels, scaled as the model's; ValueError if they are not as wanted."""
        reading = self.reading
        if len(data.shape) != 2:
            raise ValueError(f"{name}: contains no examples")
        if reading.n_features not in (None, data.shape[1]) and not reading.in_blocks:
            raise wrong_width(name, data.shape[1], reading)
        if reading.scale is not None and not reading.is_weighed:
            data = replace(data, rows=reading.scale.applied(data.rows))
        if data.y is None or (not reading.with_labels and reading.labels is None):
            if reading.with_labels and len(data):
                raise ArgumentError(
                    "contains no labels",
                    "pass them with {labels}",
                    place=f"{name}: ",
                    settings={"labels": "FILE.npy"},
                )
            return data
        if reading.multilabel or reading.as_written:
            return data
        return replace(data, y=whole_labels(np.asarray(data.y), str(reading.labels or name)))

    def _judge_categories(self) -> None:
        """Warn of columns of strings that seem to be no categories but are hashed; refuse those of texts."""
        categories, self.reading = self.reading.categories, replace(self.reading, categories=None)
        for name, value, kind in categories.odd() if categories is not None else ():
            is_refused = kind.is_refused and self.reading.text_columns is None
            remedy = kind.in_csv if self.form in TEXT_TABLES and kind.in_csv else kind.remedy
            error = ArgumentError(
                f"{{column!r}} holds {kind.what}: {{value!r:.60}}",
                remedy + ("; or, if they are categories, set {text_columns=()}" if is_refused else ""),
                place=f"{self.name}: ",
                settings={"text_columns": [name], "drop": [name], "decimal": mark_of([value])},
                column=name,
                value=value,
            )
            if is_refused:
                raise error
            warnings.warn(UserWarning(error), stacklevel=1)


def line_reader(form: str, name: str, reading: Reading) -> Any:
    """Return what makes examples of whole lines, or whole records, of a format."""
    if form == "svmlight":
        return SvmlightText(name, reading)
    if form in TEXT_TABLES:
        from perceptron_rs.io.tables.tables import CsvLines

        return CsvLines(name, form, reading)
    from perceptron_rs.io.hashed import lines

    kinds: Any = {
        "lines": lines.RawText,
        "fasttext": lines.FastText,
        "jsonl": lines.JsonLines,
        "vw": lines.VwLines,
    }
    return kinds[form](name, reading)


def _row_pieces(first: int, rows: Any, most: int | None = None) -> list[tuple[int, Any]]:
    """Cut rows of a table, or examples, behind so many of them, or in half."""
    n = len(rows)
    return [(first + a, rows.slice(a, b - a)) for a, b in borders(n, most or max(1, (n + 1) // 2))]


class _Parts(NamedTuple):
    """Parts of a file, each with the number of its first line or row; what reads one, and what cuts it."""

    blocks: Generator[tuple[int, Any]]
    read: Callable[[int, Any], Examples]
    pieces: Callable[..., list[tuple[int, Any]]] = _row_pieces
    each: Any = map
    unit: str = "row"

    def read_by(self, name: str, check: Check | None, bad: Bad | None) -> Iterator[Examples]:
        """Give the examples of a file that can be taken."""

        def read(piece: tuple[int, Any]) -> Examples:
            with about(name):
                data = self.read(*piece)
                if check is not None and len(data):
                    check(data)
                return data

        def refused(error: ValueError, piece: tuple[int, Any]) -> None:
            if bad is None:
                raise error
            bad(error, name, f"{self.unit} {piece[0]}")

        with closing(self.blocks):
            if check is None:
                yield from self.each(read, self.blocks)
                return
            for block in self.blocks:
                for few in self.pieces(*block, _FEW):
                    yield from readable(few, read, lambda piece: self.pieces(*piece), refused)


def _after_first(reading: Reading, name: str, first: Examples) -> Reading:
    """Return how files are read after the first of several."""
    columns = first.names or (first.hashed[0] if first.hashed else None)
    return reading if columns is None else replace(reading, first=(name, columns))
