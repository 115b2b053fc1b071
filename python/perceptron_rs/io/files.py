"""Files of examples in any format: whole, part by part, or as a stream. All readers of them are here."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from perceptron_rs.errors import ArgumentError, OptionsError, about
from perceptron_rs.io.examples import (
    Examples,
    held_out,
    is_held_out,
    joined,
    read_labels,
    same_columns,
    whole_labels,
)
from perceptron_rs.io.formats import lines_of, of_tables, read_svmlight, read_tensors
from perceptron_rs.io.reading import (
    HASHED,
    TABLES,
    TEXT_TABLES,
    TEXTS,
    USUAL_BITS,
    Reading,
    format_of,
    wrong_width,
)
from perceptron_rs.io.source import Batch, Source
from perceptron_rs.io.svmlight.label_lists import all_labels, as_matrix, labels_in, tidy_labels
from perceptron_rs.io.text.compression import MAX_RATIO, unpacked
from perceptron_rs.io.text.decoding import check_utf8, open_text
from perceptron_rs.io.text.lines import (
    check_files,
    is_pipe,
    is_read_once,
    name_of_file,
    names_of,
    text_blocks,
)

if TYPE_CHECKING:
    from perceptron_rs.io.tables.delimited import Records
    from perceptron_rs.io.tables.layout import Layout

__all__ = ["Bad", "Check", "ExampleFiles"]

#: Looks at examples, and raises ValueError if they cannot be taken.
Check: TypeAlias = Callable[[Examples], None]
#: Takes the error of an example, the file, and the line or row. Raises an error; returns to leave the example
#: out.
Bad: TypeAlias = Callable[[ValueError, str, str], None]

_NO_ROWS = np.zeros((0, 0))
#: What does not change the examples that are read.
_NOT_ABOUT_VALUES = ("threads", "max_ratio", "classes", "ngrams_of", "given")


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
        if self.form == "lines":
            reading.text()  # raises an error before anything is read
        if self.form in HASHED and reading.hash_bits is None:
            self.reading = replace(reading, hash_bits=USUAL_BITS)
        #: Number of the examples that are learnt from; None, as long as no pass has come to their end.
        self.rows: int | None = None
        #: What was read last, without its rows.
        self.last = Examples(_NO_ROWS)
        self._asks_base = self._holds_zero = False
        self._left_out: Examples | None = None

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
        return data

    def learnt(self, fit: Any = None) -> Examples:
        """Read all examples, and return those that are not held out; ``fit`` is a scaler, as for `source`."""
        data = self.whole()
        held = held_out(len(data), self.holdout)
        if fit is not None:
            fit.add(data.X if held is None else data.X[~held])
            self.reading = replace(self.reading, scale=fit.scale())
            data = replace(data, rows=self.reading.scale.applied(data.rows))
        if held is not None:
            self._left_out, data = data.chosen(held), data.chosen(~held)
        self.rows = len(data)
        return data

    def _read_several(self) -> Examples:
        reading = self.reading
        if self.form == "svmlight" and reading.with_labels and (reading.multilabel or not self.is_read_once):
            return self._listed(read_svmlight(self.files, reading))
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
                same_columns(names[0], parts[0], names[-1], parts[-1])
            if not parts:
                raise ValueError(f"{self.name}: contains no examples")
            texts = {name for part in parts for name in (part.hashed[1] if part.hashed else ())}
            if all(part.hashed is None or set(part.hashed[1]) == texts for part in parts):
                return joined(parts, names)
            reading = replace(reading, texts=tuple(texts))

    def _read_one(self, file: Any, reading: Reading) -> Examples:
        name, form = name_of_file(file), self.form
        if form in ("npz", "npy"):
            from perceptron_rs.io.arrays import read_npy, read_npz

            return Examples(read_npy(file)) if form == "npy" else Examples(*read_npz(file))
        if form == "safetensors":
            return read_tensors(file, reading)
        if form == "parquet":
            from perceptron_rs.io.tables.tables import whole_table

            found = file
            if is_read_once([file]):
                with io.BufferedReader(unpacked(file, reading.max_ratio or MAX_RATIO, name=name)) as opened:
                    found = opened.read()
            return next(of_tables(name, reading, [whole_table(found)]))
        if form in TEXT_TABLES:
            from perceptron_rs.io.tables.columns import room_for_arrow
            from perceptron_rs.io.tables.tables import CsvLines

            lines = CsvLines(name, form, reading)
            blocks = text_blocks(file, max_ratio=reading.max_ratio, records=lines.records)
            with room_for_arrow(file if isinstance(file, str) else b""):
                return lines.whole(text for _, text in blocks)
        if form == "svmlight" and reading.with_labels and (reading.multilabel or not is_read_once([file])):
            return self._listed(read_svmlight([file], reading))
        ratio = reading.max_ratio or MAX_RATIO
        with open_text(file, ratio, name=name, is_checked=form != "svmlight") as text:
            whole = text.read()  # all of it is one block
        if not whole:
            return Examples(np.zeros((0, reading.n_features or 0)))
        return lines_of(self.form, name, reading).part(1, whole)

    def _listed(self, data: Examples) -> Examples:
        """Return examples with a matrix for lists of labels, and note what its columns stand for."""
        if not self.reading.multilabel:
            return data
        lists = data.labels.tolist()
        if self.reading.list_labels is None:
            self.reading = replace(self.reading, list_labels=tidy_labels(all_labels(lists)))
        assert self.reading.list_labels is not None
        return replace(data, y=as_matrix(lists, self.reading.list_labels, self.name))

    def target(self, data: Examples) -> Any:
        """Return the labels of examples as ``fit`` takes them."""
        if not self.reading.multilabel:
            return data.labels
        from perceptron_rs.common.targets.label_sets import LabelSets

        return replace(LabelSets.of_indicator(data.labels), classes=np.array(self.reading.list_labels))

    def _find_labels(self) -> None:
        """Find the labels of lists, by a pass."""
        if self.is_read_once:
            raise OptionsError(
                "{name} can be read only once, but all labels of its lists must be known",
                "say the labels with {classes}, or name a file",
                name=self.name,
            )
        texts = (text_blocks(file, max_ratio=self.reading.max_ratio, is_checked=False) for file in self.files)
        labels = labels_in(texts, map(name_of_file, self.files))
        found = labels if self.reading.as_written else tidy_labels(labels)
        self.reading = replace(self.reading, list_labels=found)

    def _with_kinds(self, reading: Reading) -> Reading:
        """Return the options with what labels are and which columns to hash hold text: all cells say it."""
        if self.form == "lines":
            from perceptron_rs.io.raw_text import kind_of_files

            return replace(reading, label_kind=kind_of_files(self.files, reading.max_ratio))
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

        What ``check`` or a reader of text cannot take is told to ``bad``, line by line, or row by row, when
        the examples before it have been given.
        """
        unknown = self.form == "svmlight" and self.reading.zero_based == "auto"
        if unknown and self.is_read_once:
            self._wait_for_all(needs_answers=bad is not None)
        in_parts = self.form == "parquet" and not self.is_read_once
        if not (self.form in TEXTS or in_parts) or unknown or self.reading.labels is not None:
            yield from self._taken(self.whole(), self.name, check, bad)
            return
        check_files(self.files)
        first = None
        for file in self.files:
            name = name_of_file(file)
            found = self._tables(file, check, bad) if in_parts else self._texts(file, may_wait, check, bad)
            for data in found:
                if len(data):
                    first = first or (name, data)
                    same_columns(*first, name, data)
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

    def _tables(self, file: Any, check: Check | None, bad: Bad | None) -> Iterator[Examples]:
        """Give the examples of a Parquet file, some at a time."""
        from perceptron_rs.io.tables.columns import room_for_arrow
        from perceptron_rs.io.tables.tables import table_file

        name, row = name_of_file(file), 1
        with about(name), room_for_arrow():
            for part in of_tables(name, self.reading, table_file(file)):
                yield from self._taken(self._checked(part, name), name, check, bad, row)
                row += len(part)

    def _texts(
        self, file: object, may_wait: bool, check: Check | None, bad: Bad | None
    ) -> Iterator[Examples]:
        """Give the examples of one file of text."""
        name, reading = name_of_file(file), self.reading
        lines = lines_of(self.form, name, reading)
        records: Records | None = getattr(lines, "records", None)

        def part(block: tuple[int, bytes]) -> Examples:
            with about(name):
                data = self._checked(lines.part(*block), name)
                if check is not None and len(data):
                    check(data)
                return data

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
                    bad(error, name, f"line {number}")
                    return
            else:
                yield data
                return
            if number == 1:
                lines = lines_of(self.form, name, reading)  # it has seen the header
            half = len(ends) // 2
            yield from without_bad(number, text[: ends[half - 1]])
            yield from without_bad(number + half, text[ends[half - 1] :])

        # The parser of svmlight text looks at every byte.
        is_checked = self.form != "svmlight" and bad is None
        blocks = text_blocks(file, max_ratio=reading.max_ratio, is_checked=is_checked, records=records)
        if bad is not None:
            found: Iterator[Examples] = (data for block in blocks for data in without_bad(*block))
        elif (
            may_wait and self.form == "svmlight" and (reading.with_labels or reading.labelled is not None)
        ):  # others learn from the first lines
            from perceptron_rs.io.threads import in_order

            found = in_order(part, blocks)
        else:
            found = map(part, blocks)
        with closing(blocks):
            yield from found

    def _taken(
        self, data: Examples, name: str, check: Check | None, bad: Bad | None, row: int = 1
    ) -> Iterator[Examples]:
        """Give the rows that ``check`` can take, and tell of each other one; the first is ``row``."""
        try:
            with about(name):
                if check is not None and len(data):
                    check(data)
        except ValueError as error:
            if bad is None:
                raise
            if len(data) == 1:
                bad(error, name, f"row {row}")
                return
        else:
            yield data
            return
        half = len(data) // 2
        yield from self._taken(data.part(0, half), name, check, bad, row)
        yield from self._taken(data.part(half, len(data)), name, check, bad, row + half)

    def _checked(self, data: Examples, name: str) -> Examples:
        """Return examples with tidy labels, scaled as the model's; ValueError if they are not as wanted."""
        reading = self.reading
        if len(data.shape) != 2:
            raise ValueError(f"{name}: contains no examples")
        if reading.n_features is not None and data.shape[1] != reading.n_features:
            raise wrong_width(name, data.shape[1], reading)
        if reading.scale is not None:
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

    def source(self, fit: object = None) -> Source:
        """Return the examples for ``fit_stream``, but those that are held out.

        ``fit`` is a scaler, with the methods ``add(X)`` and ``scale()``, that a first pass fits.
        """
        own = self.reading
        strings = own.asks_strings(self.form)
        needs_more = strings or fit is not None or self.holdout is not None
        if self.is_read_once and (needs_more or own.asks_labels(self.form)):
            raise OptionsError(
                "{name} can be read only once, but {scale}, {holdout}, the strings of a hashed table and "
                "whether all labels are integers take a pass of their own",
                "name a file" if needs_more else "say the labels with {classes}, or name a file",
                name=self.name,
            )
        check_files(self.files)
        if own.multilabel and own.list_labels is None:
            self._find_labels()
            own = self.reading
        self._asks_base = self.form == "svmlight" and own.zero_based == "auto"
        width = own.n_features  # of what is read, one more where columns are counted as if from 0
        if self._asks_base:
            self.reading = replace(own, zero_based=True, n_features=None)
        if strings and self.form in TEXT_TABLES:
            self.reading = self._with_kinds(self.reading)
            strings = False
        if strings or fit is not None:
            self._first_pass(fit, width)
        bits = self.reading.hash_bits
        return Source(
            batches=self._batches,
            n_features=width or self.reading.n_features or (None if bits is None else 1 << bits),
            labels=self.reading.list_labels,
            is_shifted=None if self._asks_base else False,
            files=() if any(map(is_pipe, self.files)) else tuple(map(Path, self.files)),
            again=not self.is_read_once,
            reading=self._how(),
            name=self.name,
        )

    def _how(self) -> str:
        """Return how they are read: what is not as usual, so that errors show what has changed."""
        how = vars(self.reading) | {"holdout": self.holdout}
        usual = vars(Reading()) | {"holdout": None}
        return ", ".join(
            f"{name}={value!r}"
            for name, value in how.items()
            if name not in _NOT_ABOUT_VALUES and value != usual[name]
        )

    def opened(self) -> Source:
        """Return the examples for ``fit_stream``, with the names of the columns of the first file."""
        if self.form not in TABLES:
            return self.source()
        if self.reading.columns is not None and self.reading.drop:
            raise ArgumentError(
                "{columns} says which columns are features, so {drop} has no effect", "leave one out"
            )
        names = self._names()
        if names is not None:  # those of other files may come in another order
            self.reading = replace(self.reading, columns=names, drop=())
        return replace(self.source(), feature_names=names)

    def _names(self) -> tuple[str, ...] | None:
        """Return the names of the columns of the first file that has any; its header is read, and no more."""
        reading, layout = self.reading, None
        check_files(self.files)
        for file in self.files:
            with about(name_of_file(file)):
                layout = self._layout(file)
            if layout is not None:
                is_named = reading.header is not False and reading.hash_bits is None
                return layout.names if is_named else None
        raise ValueError(f"{self.name}: contains no examples")

    def _layout(self, file: Any) -> Layout | None:
        """Return which columns of a table are what; None if no line of it is there."""
        from perceptron_rs.io.tables.tables import CsvLines, table_file

        if self.form == "parquet":
            return table_file(file).layout(name_of_file(file), self.reading)
        lines = CsvLines(name_of_file(file), self.form, self.reading)
        with closing(text_blocks(file, max_ratio=self.reading.max_ratio, records=lines.records)) as blocks:
            next((found for _, text in blocks if (found := lines.after_header(text)) is not None), None)
        return lines.layout

    def came_from(self, rows: int, *, holds_zero: bool) -> None:
        """Take what a cache knows of all examples: perhaps only the beginning of the files was read."""
        self.rows, self._holds_zero = rows, holds_zero

    def left_out(self, n_features: int) -> Iterator[Examples]:
        """Give the examples that were not learnt from, once; by now it is known how columns are counted."""
        if self._left_out is not None:
            data, self._left_out = self._left_out, None
            return iter([data])
        self._settle(n_features)
        return self._streamed(held=True)

    def _batches(self) -> Iterator[Batch]:
        rows = 0
        for data in self._streamed(held=False):
            rows += len(data)
            yield Batch(data.X, data.y, data.weights)
        self.rows, self.reading = rows, replace(self.reading, ngrams_of=None)  # they have all been told once

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
            chosen = is_held_out(first, number, self.holdout) == held
            if chosen.any():
                yield data.chosen(chosen)

    def _settle(self, n_features: int) -> None:
        """Read on with columns that are counted as by the model."""
        if self._asks_base:
            self.reading = replace(self.reading, zero_based=self._holds_zero)
        self.reading, self._asks_base = replace(self.reading, n_features=n_features), False

    def _first_pass(self, fit: Any, n_features: int | None) -> None:
        """Find the strings of a table, the width of text and the numbers of a scaler."""
        texts: dict[str, None] = {}
        if self.form == "svmlight" and self.reading.n_features is None:
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
