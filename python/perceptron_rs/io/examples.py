"""Files of examples in any format, by one set of options: whole, or part by part."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.rows.sparse import Csr
from perceptron_rs.errors import ArgumentError, OptionsError, about
from perceptron_rs.io.lines import check_files, is_pipe, is_read_once, name_of, names_of, text_blocks
from perceptron_rs.io.reading import TEXT_TABLES, TEXTS, Reading, format_of
from perceptron_rs.io.source import Batch, Source
from perceptron_rs.packed import MAX_RATIO, unpacked
from perceptron_rs.text import check_utf8, open_text

if TYPE_CHECKING:
    from perceptron_rs.io.delimited import Records

__all__ = ["ExampleFiles", "Examples", "held_out"]

_EXACT = 2.0**53
#: Looks at examples, and raises ValueError if they cannot be taken.
Check: TypeAlias = Callable[["Examples"], None]
#: Is told what is wrong with an example, of which file and line; raises an error, or has it left out.
Bad: TypeAlias = Callable[[ValueError, str, int], None]


class Lines(Protocol):
    """Makes examples of whole lines, the first of which has a number."""

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples."""


@dataclass(frozen=True)
class Examples:
    """Examples as they were read; labels and names of the columns, if there are any."""

    rows: Any
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    zero_based: bool | None = None  # of svmlight text
    #: Columns that were hashed, and those of them that hold strings.
    hashed: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of examples, number of features."""
        shape: tuple[int, ...] = self.rows.shape
        return shape

    @cached_property
    def X(self) -> Any:  # noqa: N802  as everywhere
        """The examples as estimators take them."""
        if not isinstance(self.rows, Csr):
            return self.rows
        X = self.rows.matrix()
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    @property
    def labels(self) -> NDArray[Any]:
        """The labels of examples that have some."""
        assert self.y is not None
        return self.y

    def part(self, begin: int, end: int) -> Examples:
        """Return some examples in a row."""
        y = None if self.y is None else self.y[begin:end]
        if not isinstance(self.rows, Csr):
            return replace(self, rows=self.rows[begin:end], y=y)
        indptr = self.rows.indptr[begin : end + 1]
        entries = slice(int(indptr[0]), int(indptr[-1]))
        data, indices = self.rows.data[entries], self.rows.indices[entries]
        some = Csr(data, indices, indptr - indptr[0], (len(indptr) - 1, self.rows.shape[1]))
        return replace(self, rows=some, y=y)

    def chosen(self, rows: NDArray[np.bool_]) -> Examples:
        """Return some of the examples."""
        return replace(self, rows=self.X[rows], y=None if self.y is None else self.y[rows])


class ExampleFiles:
    """Files that are read as if they were one, as often as they are asked for.

    Parameters
    ----------
    files : sequence of str or binary file
        Their names; or what is open, such as a pipe.
    reading : Reading
        The options.
    holdout : float or None, default=None
        The share of the examples that a stream leaves out.
    """

    def __init__(self, files: Sequence[Any], reading: Reading, holdout: float | None = None) -> None:
        self.files, self.reading, self.holdout = tuple(files), reading, holdout
        self.form, self.name = format_of(self.files, reading), names_of(self.files)
        #: Number of the examples that are learnt from; None, as long as no pass has come to their end.
        self.rows: int | None = None
        #: What was read last.
        self.last = Examples(np.zeros((0, 0)))
        self._asks_base = self._holds_zero = False

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
            data = self._read_several() if len(self.files) > 1 else self._read_one(self.files[0], reading)
            if reading.beside is not None:
                data = replace(data, y=_read_labels(reading.beside))
            if 0 in data.shape:
                raise ValueError(f"{self.name}: contains no examples")
            data = self._checked(data, self.name)
            n = data.X.shape[0]
            if data.y is not None and len(data.y) != n:
                raise ValueError(
                    f"{reading.beside or self.name}: {len(data.y)} labels for the {n} examples of {self.name}"
                )
        self.last = data
        return data

    def _read_several(self) -> Examples:
        reading = self.reading
        if self.form == "svmlight" and reading.labels and not self.is_read_once:
            return _read_svmlight(self.files, reading)
        if self.form in TEXT_TABLES or reading.asks_labels(self.form):
            reading = self._with_kinds(reading)
        while True:
            parts: list[Examples] = []
            for file in self.files:
                with about(name_of(file)):
                    parts.append(self._read_one(file, reading))
                _same_columns(name_of(self.files[0]), parts[0], name_of(file), parts[-1])
            texts = {name for part in parts for name in (part.hashed[1] if part.hashed else ())}
            if all(part.hashed is None or set(part.hashed[1]) == texts for part in parts):
                return _joined(parts, [name_of(file) for file in self.files])
            reading = replace(reading, texts=tuple(texts))

    def _read_one(self, file: Any, reading: Reading) -> Examples:
        name, form = name_of(file), self.form
        if form in ("npz", "npy"):
            from perceptron_rs.io.arrays import read_npy, read_npz

            return Examples(read_npy(file)) if form == "npy" else Examples(*read_npz(file))
        if form == "parquet":
            from perceptron_rs.io.tables import parquet_table

            found = file
            if is_read_once([file]):
                with io.BufferedReader(unpacked(file, reading.max_ratio or MAX_RATIO, name=name)) as opened:
                    found = opened.read()
            return next(_of_tables(name, reading, [parquet_table(found)]))
        if form in TEXT_TABLES:
            from perceptron_rs.io.tables import room_for_arrow

            table = _Table(name, form, reading)
            blocks = text_blocks(file, max_ratio=reading.max_ratio, records=table.records)
            with room_for_arrow(file if isinstance(file, str) else b""):
                return table.examples(table.lines.whole(text for _, text in blocks))
        if form == "svmlight" and reading.labels and not is_read_once([file]):
            return _read_svmlight([file], reading)
        ratio = reading.max_ratio or MAX_RATIO
        with open_text(file, ratio, name=name, is_checked=form != "svmlight") as text:
            return self._lines(name, reading).part(1, text.read())  # all of it is one block

    def _with_kinds(self, reading: Reading) -> Reading:
        """Return the options with what labels are and which columns to hash hold text: all cells say it."""
        if self.form == "lines":
            from perceptron_rs.io.raw_text import kind_of_files

            return replace(reading, label_kind=kind_of_files(self.files, reading.max_ratio))
        from perceptron_rs.io.tables import CsvLines, kinds_of

        def records(file: Any, lines: CsvLines) -> Iterator[bytes]:
            blocks = text_blocks(file, max_ratio=reading.max_ratio, records=lines.text.records)
            with about(name_of(file)):
                yield from (text for _, text in blocks)

        every = [_Table(name_of(file), self.form, reading).lines for file in self.files]
        with about(name_of(self.files[0])):
            kind, texts = kinds_of(every, records, self.files)
        return replace(reading, label_kind=kind, texts=texts)

    # ---- part by part

    def parts(
        self, *, may_wait: bool = False, check: Check | None = None, bad: Bad | None = None
    ) -> Iterator[Examples]:
        """Give the examples of text as soon as their lines are read; of Parquet some, of arrays all.

        A model says how wide they are. If nothing says whether columns count from 0, all must be read to
        know. Where examples ``may_wait`` for later ones to be read, svmlight text is parsed on threads.

        What ``check`` or a reader cannot take is told to ``bad``, line by line, when the examples before it
        have been given.
        """
        unknown = self.form == "svmlight" and self.reading.zero_based == "auto"
        if unknown and self.is_read_once:
            self._wait_for_all(needs_answers=bad is not None)
        in_parts = self.form == "parquet" and not self.is_read_once
        if not (self.form in TEXTS or in_parts) or unknown or self.reading.beside is not None:
            data = self.whole()
            if check is not None:
                check(data)
            yield data
            return
        check_files(self.files)
        first = None
        for file in self.files:
            name = name_of(file)
            found = self._tables(file, check) if in_parts else self._texts(file, may_wait, check, bad)
            empty = True
            for data in found:
                if len(data):
                    empty = False
                    first = first or (name, data)
                    _same_columns(*first, name, data)
                    self.last = data
                    yield data
            if empty:
                raise ValueError(f"{name}: contains no examples")

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

    def _tables(self, file: Any, check: Check | None) -> Iterator[Examples]:
        """Give the examples of a Parquet file, some at a time."""
        from perceptron_rs.io.tables import ParquetFile, room_for_arrow

        with about(name_of(file)), room_for_arrow():
            for part in _of_tables(name_of(file), self.reading, ParquetFile(file)):
                yield self._taken(part, name_of(file), check)

    def _texts(self, file: Any, may_wait: bool, check: Check | None, bad: Bad | None) -> Iterator[Examples]:
        """Give the examples of one file of text."""
        name, reading = name_of(file), self.reading
        lines = self._lines(name, reading)
        records: Records | None = getattr(lines, "records", None)

        def part(block: tuple[int, bytes]) -> Examples:
            with about(name):
                return self._taken(lines.part(*block), name, check)

        def without_bad(number: int, text: bytes) -> Iterator[Examples]:
            """Give the examples of what can be read, and tell of each line that cannot."""
            nonlocal lines
            try:
                with about(name):
                    check_utf8(text, name, number - 1)
                data = part((number, text))
            except ValueError as error:
                ends = (
                    [end.end() for end in re.finditer(rb"\n|.\Z", text, re.DOTALL)]
                    if records is None
                    else records.ends(text)
                )
                if len(ends) < 2:
                    assert bad is not None
                    bad(error, name, number)
                    return
            else:
                yield data
                return
            if number == 1:
                lines = self._lines(name, reading)  # it has seen the header
            half = len(ends) // 2
            yield from without_bad(number, text[: ends[half - 1]])
            yield from without_bad(number + half, text[ends[half - 1] :])

        # The parser of svmlight text looks at every byte.
        is_checked = self.form != "svmlight" and bad is None
        blocks = text_blocks(file, max_ratio=reading.max_ratio, is_checked=is_checked, records=records)
        if bad is not None:
            return (data for block in blocks for data in without_bad(*block))
        if may_wait and reading.labels and self.form == "svmlight":  # others learn from the first lines
            from perceptron_rs.io.threads import in_order

            return in_order(part, blocks)
        return map(part, blocks)

    def _lines(self, name: str, reading: Reading) -> Lines:
        """Return what reads whole lines."""
        if self.form == "svmlight":
            return _Svmlight(name, reading)
        return _Raw(name, reading) if self.form == "lines" else _Table(name, self.form, reading)

    def _taken(self, data: Examples, name: str, check: Check | None) -> Examples:
        data = self._checked(data, name)
        if check is not None and len(data):
            check(data)
        return data

    def _checked(self, data: Examples, name: str) -> Examples:
        """Return examples with tidy labels, scaled as the model's; ValueError if they are not as wanted."""
        reading = self.reading
        if len(data.shape) != 2:
            raise ValueError(f"{name}: contains no examples")
        if reading.features is not None and data.shape[1] != reading.features:
            raise ValueError(f"{name}: has {data.shape[1]} features, but {reading.features} are expected")
        if reading.scale is not None:
            data = replace(data, rows=reading.scale.applied(data.X))
        if data.y is None or (not reading.labels and reading.beside is None):
            if reading.labels and len(data):
                raise ArgumentError(
                    "contains no labels",
                    "pass them with {labels}",
                    place=f"{name}: ",
                    settings={"labels": "FILE.npy"},
                )
            return data
        return replace(data, y=_tidy(np.asarray(data.y), str(reading.beside or name)))

    # ---- as a stream

    @property
    def zero_based(self) -> bool | None:
        """Whether the columns count from 0, once all were read; None of other formats than svmlight."""
        if self.form != "svmlight":
            return None
        if self._asks_base:
            return self._holds_zero
        known = self.reading.zero_based
        return self.last.zero_based if isinstance(known, str) else known

    def source(self, fit: Any = None) -> Source:
        """Return the examples for ``fit_stream``, but those that are held out.

        ``fit`` is a scaler, with the methods ``add(X)`` and ``scale()``, that a first pass fits.
        """
        own = self.reading
        strings = own.asks_strings(self.form)
        if self.is_read_once and self.takes_own_pass(scales=fit is not None):
            others = ["keep what is read with {cache}"] if self.form in TEXTS else []
            if not (strings or fit is not None or self.holdout is not None):
                others.insert(0, "say the labels with {classes}")
            raise OptionsError(
                "{name} can be read only once, but {scale}, {holdout}, the strings of a hashed table and "
                "whether all labels are integers take a pass of their own",
                ", ".join([*others, "or name a file"]),
                settings={"cache": "FILE"},
                name=self.name,
            )
        check_files(self.files)
        self._asks_base = self.form == "svmlight" and own.zero_based == "auto"
        width = own.features  # of what is read, one more where columns are counted as if from 0
        if self._asks_base:
            self.reading = replace(own, zero_based=True, features=None)
        if strings and self.form in TEXT_TABLES:
            self.reading = self._with_kinds(self.reading)
            strings = False
        if strings or fit is not None:
            self._first_pass(fit, width)
        bits = self.reading.hash_bits
        return Source(
            batches=self._learnt,
            n_features=width or self.reading.features or (None if bits is None else 1 << bits),
            is_shifted=None if self._asks_base else False,
            files=() if any(map(_has_no_stamp, self.files)) else tuple(map(Path, self.files)),
            again=not self.is_read_once,
            reading=f"{replace(self.reading, threads=None, max_ratio=None, classes=None)}{self.holdout}",
            name=self.name,
        )

    def takes_own_pass(self, *, scales: bool) -> bool:
        """Whether something must be known of all examples before any is learnt from."""
        reading, form = self.reading, self.form
        of_data = reading.asks_labels(form) or reading.asks_strings(form)
        return of_data or scales or self.holdout is not None

    def came_from(self, rows: int, *, holds_zero: bool) -> None:
        """Take what a cache knows of all examples: perhaps only the beginning of the files was read."""
        self.rows, self._holds_zero = rows, holds_zero

    def left_out(self, n_features: int) -> Iterator[Examples]:
        """Give the examples that were not learnt from; by now it is known how columns are counted."""
        self._settle(n_features)
        return self._streamed(held=True)

    def _learnt(self) -> Iterator[Batch]:
        rows = 0
        for data in self._streamed(held=False):
            rows += len(data)
            yield Batch(data.rows, data.labels)
        self.rows = rows

    def _streamed(self, *, held: bool) -> Iterator[Examples]:
        number = 0
        if self.reading.asks_labels(self.form):
            self.reading = self._with_kinds(self.reading)
        for data in self.parts(may_wait=True):
            if self._asks_base and not self._holds_zero:
                self._holds_zero = bool((data.rows.indices == 0).any())
            first, number = number, number + len(data)
            if self.holdout is None:
                yield data
                continue
            chosen = _is_held_out(first, number, self.holdout) == held
            if chosen.any():
                yield data.chosen(chosen)

    def _settle(self, n_features: int) -> None:
        """Read on with columns that are counted as by the model."""
        if self._asks_base:
            self.reading = replace(self.reading, zero_based=self._holds_zero)
        self.reading, self._asks_base = replace(self.reading, features=n_features), False

    def _first_pass(self, fit: Any, n_features: int | None) -> None:
        """Find the strings of a table, the width of text and the numbers of a scaler."""
        texts: dict[str, None] = {}
        if self.form == "svmlight" and self.reading.features is None:
            width = max((data.shape[1] for data in self._streamed(held=False)), default=1)
            self._settle(n_features or width - (self._asks_base and not self._holds_zero))
        for data in self._streamed(held=False):
            texts |= dict.fromkeys(data.hashed[1] if data.hashed else ())
            if fit is not None:
                fit.add(data.X)
        if self.reading.hash_bits is not None and not self.reading.texts:
            self.reading = replace(self.reading, texts=tuple(texts))
        if fit is not None:
            self.reading = replace(self.reading, scale=fit.scale())


def _has_no_stamp(file: Any) -> bool:
    """Whether nothing tells that a file is as it was: of pipes, and of copies, which have another's name."""
    return is_pipe(file) or hasattr(file, "name")


def _is_held_out(begin: int, end: int, share: float) -> NDArray[np.bool_]:
    """Return which of some examples are held out: evenly spaced ones, so that a later run finds the same."""
    held: NDArray[np.bool_] = np.diff(np.floor(np.arange(begin, end + 1) * share)) > 0
    return held


def held_out(n: int, share: float | None) -> NDArray[np.bool_] | None:
    """Return which of n examples are held out; None if none shall be."""
    if share is None:
        return None
    found = _is_held_out(0, n, share)
    if not found.any() or found.all():
        raise ArgumentError(
            f"{{holdout}}: of {n} examples it leaves none, or takes none",
            "choose another",
            values={"holdout": share},
        )
    return found


class _Svmlight:
    """Reads lines of svmlight text; unless an option says it, the first tells whether they have labels."""

    def __init__(self, name: str, reading: Reading) -> None:
        from perceptron_rs.io.svmlight_text import SvmlightText

        self._name, self._reading = name, reading
        base = None if isinstance(reading.zero_based, str) else reading.zero_based
        is_labelled = True if reading.labels else reading.labelled
        self._text = SvmlightText(name, base, n_features=reading.features, is_labelled=is_labelled)

    def part(self, first: int, text: bytes) -> Examples:
        try:
            rows, y, zero_based = self._text.part(first, text)
        except ValueError as error:
            raise _explained(error, self._name, self._reading) from error
        if self._reading.features is not None and rows.shape[1] > self._reading.features:
            raise _too_wide(self._name, rows.shape[1], self._reading, zero_based)
        return Examples(rows, y, zero_based=zero_based)


class _Raw:
    """Reads lines of raw text."""

    def __init__(self, name: str, reading: Reading) -> None:
        from perceptron_rs.io.raw_text import RawText

        assert reading.hash_bits is not None
        beside = reading.beside is not None
        self._text = RawText(
            name,
            reading.hash_bits,
            is_labelled=not beside if reading.labels or beside else reading.labelled,
            with_labels=reading.labels,
            kind=reading.label_kind,
            classes=reading.classes,
        )

    def part(self, first: int, text: bytes) -> Examples:
        return Examples(*self._text.part(first, text)[:2])


class _Table:
    """Reads records of a text table.

    If the options do not say what labels are, or which columns to hash hold text, a part must be all of it.
    """

    def __init__(self, name: str, form: str, reading: Reading) -> None:
        from perceptron_rs.io.delimited import CsvText
        from perceptron_rs.io.layout import layout_of
        from perceptron_rs.io.tables import CsvLines

        text = CsvText(name, reading.separator(form), header=reading.header, missing=reading.missing)
        self._reading, self.records = reading, text.records
        self.lines = CsvLines(
            text,
            lambda text: layout_of(text.schema, name, reading, text=text),
            hash_bits=reading.hash_bits,
            texts=reading.texts,
            kind=reading.label_kind,
            is_labelled=reading.labels,
            is_new=reading.names is None,
        )

    def part(self, _first: int, text: bytes) -> Examples:
        return self.examples(self.lines.part(text))

    def examples(self, batch: Any) -> Examples:
        """Return a batch with the names of its columns; none if no line was there."""
        layout = self.lines.layout
        if batch is None or layout is None:
            return Examples(np.zeros((0, self._reading.features or 0)))
        if self._reading.hash_bits is not None:
            names = tuple(feature.name for feature in layout.features)
            return Examples(batch.X, batch.y, hashed=(names, self.lines.texts or ()))
        return Examples(batch.X, batch.y, None if self.lines.text.header is False else layout.names)


def _of_tables(name: str, reading: Reading, tables: Any) -> Iterator[Examples]:
    """Give the examples of a Parquet file: of some rows at a time, or of tables that have been read."""
    from perceptron_rs.io.layout import layout_of, located

    is_read = isinstance(tables, list)
    schema = tables[0].schema if is_read else tables.schema
    first = (lambda: tables[0].slice(0, 1)) if is_read else tables.first
    layout, rows, bits = layout_of(schema, name, reading, first=first), 0, reading.hash_bits
    with located(name, lambda: rows):
        parts: Iterable[Any] = tables if is_read else tables.parts(layout.used)
        for part in parts:
            X, y, _, _ = layout.batch(part, hash_bits=bits, is_labelled=reading.labels)
            if bits is None:
                yield Examples(X, y, layout.names)
            else:
                names = tuple(feature.name for feature in layout.features)
                yield Examples(X, y, hashed=(names, layout.texts(part.schema)))
            rows += part.num_rows


def _read_svmlight(files: Sequence[Any], reading: Reading) -> Examples:
    """Return the examples of whole files of svmlight text, on several threads."""
    from perceptron_rs.io.svmlight import load_with_base

    def load(features: int | None) -> tuple[Any, NDArray[np.float64], bool]:
        return load_with_base(
            list(files),
            n_features=features,
            zero_based=reading.zero_based,
            max_ratio=reading.max_ratio or MAX_RATIO,
            n_jobs=reading.threads,
        )

    try:
        X, y, zero_based = load(reading.features)
    except ValueError as error:
        if getattr(error, "cause", "") == "too wide":
            X, _, zero_based = load(None)
            raise _too_wide(names_of(files), X.shape[1], reading, zero_based) from error
        raise _explained(error, names_of(files), reading) from error
    return Examples(X, y, zero_based=zero_based)


_NO_LABEL = re.compile(r"(.*, line \d+, column 1: .* is not a number);")


def _explained(error: ValueError, name: str, reading: Reading) -> ValueError:
    """Return an error about svmlight text with what may be meant."""
    if no_label := _NO_LABEL.match(str(error)):
        return ArgumentError(
            "{text}, as the label of svmlight text is",
            "of raw text, a label, a tab and words on each line, say {format='lines'}, and of a table or "
            "arrays {format}",
            text=no_label[1],
        )
    if reading.base_of_model and "has the column 0" in str(error):
        return ArgumentError(
            "has a column 0, but the model counts columns from 1, like the file it was trained on",
            "if both count from 0, train with {zero_based=True}",
            place=f"{name}: ",
        )
    return error


def _too_wide(name: str, width: int, reading: Reading, zero_based: bool) -> ArgumentError:
    counted = f", counted from {int(not zero_based)} as by the model" if reading.base_of_model else ""
    return ArgumentError(
        f"has {width} features{counted}, but {reading.features} are expected",
        "to expect more features than the training file has, train with {n_features}",
        place=f"{name}: ",
    )


def _read_labels(path: Path) -> NDArray[Any]:
    """Read labels from a .npy file."""
    with about(path):
        if path.suffix.lower() != ".npy":
            raise ValueError("labels must be in a .npy file, written by numpy.save")
        if path.is_dir():
            raise ValueError("is a folder; name a file in it")
        y = np.load(path, allow_pickle=False)
        if not isinstance(y, np.ndarray) or y.ndim != 1:
            raise ValueError("labels must be one array of one dimension, one for each row")
    return y


def _tidy(y: NDArray[Any], where: str) -> NDArray[Any]:
    """Return float labels that are whole as integers, so that 1.0 in a file and 1 are one class."""
    if y.dtype.kind == "f":
        is_finite = np.isfinite(y)
        if not is_finite.all():
            row = int(np.argmin(is_finite))
            raise ValueError(
                f"{where}: row {row + 1}: the label is {y[row]}; labels must be finite, so drop this example"
            )
        if not (np.trunc(y) == y).all():
            value = y[np.trunc(y) != y][0]
            raise ValueError(
                f"{where}: holds the label {value}; labels must be whole numbers or strings, "
                f"so round or bin a regression target first"
            )
        if np.abs(y).max(initial=0.0) < _EXACT:
            return y.astype(np.int64)
    if y.dtype.kind not in "biufU":
        raise ValueError(f"{where}: labels must be numbers or strings, got the type {y.dtype}")
    return y


def _same_columns(name: str, data: Examples, other_name: str, other: Examples) -> None:
    """Raise ValueError unless the columns of two files have the same names."""
    names, others = ((d.names or (d.hashed[0] if d.hashed else None)) for d in (data, other))
    if names != others:
        raise ArgumentError(
            "its columns are {others}, but those of {first} are {names}",
            "name those to use with {columns} and {target}",
            place=f"{other_name}: ",
            others=_shown(others),
            first=name,
            names=_shown(names),
        )


def _shown(names: tuple[str, ...] | None) -> str:
    if names is None:
        return "without names"
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")


def _joined(parts: Sequence[Examples], names: Sequence[str]) -> Examples:
    """Return the examples of several files as those of one; they have the same columns."""
    first = parts[0]
    for name, part in zip(names, parts, strict=True):
        both = f"{names[0]} and {name}: "
        if (part.y is None) != (first.y is None):
            raise ArgumentError("one of them has labels, and the other has none", place=both)
        if part.y is not None and first.y is not None and _is_text(part.y) != _is_text(first.y):
            raise ArgumentError("the labels of one are numbers, and those of the other are text", place=both)
    from perceptron_rs.common.labels import joined_labels  # which imports scikit-learn

    y = None if first.y is None else joined_labels([part.labels for part in parts])
    if not isinstance(first.rows, Csr) and not hasattr(first.rows, "tocsr"):
        widths = {part.shape[1] for part in parts}
        if len(widths) > 1:
            raise ValueError(f"{names[0]} and the others have different numbers of columns: {sorted(widths)}")
        return replace(first, rows=np.concatenate([part.rows for part in parts]), y=y)
    # Of svmlight text the columns of each file were counted from 0 only if it has a column 0.
    zero_based = any(part.zero_based for part in parts)
    matrices = [part.X for part in parts]
    for part, X in zip(parts, matrices, strict=True):
        if zero_based and part.zero_based is False:
            X.indices = X.indices + X.indices.dtype.type(1)
            X.resize((X.shape[0], X.shape[1] + 1))
    width = max(X.shape[1] for X in matrices)
    for X in matrices:
        X.resize((X.shape[0], width))
    from scipy.sparse import vstack

    rows = vstack(matrices, format="csr")
    return replace(first, rows=rows, y=y, zero_based=None if first.zero_based is None else zero_based)


def _is_text(y: NDArray[Any]) -> bool:
    return y.dtype.kind in "OU"
