"""One class a format: what makes examples of whole lines, of records, and of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.text.lines import is_read_once, name_of_file, names_of

__all__ = ["Lines", "TableLines", "lines_of", "of_tables", "read_svmlight", "read_tensors", "wrong_width"]


#: What the parser says of a list of labels.
_LISTS = "is a list of labels; say multilabel=True"


class Lines(Protocol):
    """Makes examples of whole lines, the first of which has a number."""

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples."""


def lines_of(form: str, name: str, reading: Reading) -> Lines:
    """Return what reads whole lines of a format."""
    if form == "svmlight":
        return _SvmlightLines(name, reading)
    if form == "jsonl":
        return _ObjectLines(name, reading)
    return _RawLines(name, reading) if form == "lines" else TableLines(name, form, reading)


class _SvmlightLines:
    """Reads lines of svmlight text; unless an option says it, the first tells whether they have labels."""

    def __init__(self, name: str, reading: Reading) -> None:
        from perceptron_rs.io.svmlight.lines import SvmlightText

        self._name, self._reading = name, reading
        base = None if isinstance(reading.zero_based, str) else reading.zero_based
        is_labelled = True if reading.with_labels else reading.labelled
        self._text = SvmlightText(
            name,
            base,
            n_features=reading.n_features,
            is_labelled=is_labelled,
            refuse_query_ids=reading.refuses_query_ids,
            multilabel=reading.multilabel and is_labelled is not False,
            labels=reading.list_labels if reading.with_labels else None,
        )

    def part(self, first: int, text: bytes) -> Examples:
        try:
            rows, y, zero_based = self._text.part(first, text)
        except ValueError as error:
            raise _explained(error, self._name, self._reading) from error
        if self._reading.n_features is not None and rows.shape[1] > self._reading.n_features:
            raise wrong_width(self._name, rows.shape[1], self._reading, zero_based)
        return Examples(rows, y, zero_based=zero_based)


class _RawLines:
    """Reads lines of raw text."""

    def __init__(self, name: str, reading: Reading) -> None:
        from perceptron_rs.io.raw_text import RawText

        assert reading.hash_bits is not None
        beside = reading.labels is not None
        self._text = RawText(
            name,
            reading.hash_bits,
            reading.text(),
            is_normalized=not reading.tf_idf,
            words=reading.ngrams_of,
            is_labelled=not beside if reading.with_labels or beside else reading.labelled,
            with_labels=reading.with_labels,
            kind=reading.label_kind,
            classes=reading.classes,
        )

    def part(self, first: int, text: bytes) -> Examples:
        return Examples(*self._text.part(first, text)[:2])


class _ObjectLines:
    """Reads JSON lines."""

    def __init__(self, name: str, reading: Reading) -> None:
        from perceptron_rs.io.json_lines import JsonLines

        assert reading.hash_bits is not None
        self._text = JsonLines(
            name,
            reading.hash_bits,
            target=reading.target or reading.usual_target,
            sample_weight=reading.sample_weight or reading.usual_weight,
            needs_weight=reading.sample_weight is not None,
            drop=reading.drop,
            needs_drop="drop" in reading.given,
            with_labels=reading.with_labels and reading.labels is None,
        )

    def part(self, first: int, text: bytes) -> Examples:
        return Examples(*self._text.part(first, text)[:3])


class TableLines:
    """Reads records of a text table.

    If the options do not say what labels are, or which columns to hash hold text, a part must be all of it.
    """

    def __init__(self, name: str, form: str, reading: Reading) -> None:
        from perceptron_rs.io.tables.delimited import CsvText
        from perceptron_rs.io.tables.layout import layout_of
        from perceptron_rs.io.tables.tables import CsvLines

        text = CsvText(name, reading.separator(form), header=reading.header, missing=reading.missing)
        self._reading, self.records = reading, text.records
        self.lines = CsvLines(
            text,
            lambda text: layout_of(text.schema, name, reading, text=text),
            hash_bits=reading.hash_bits,
            texts=reading.texts,
            kind=reading.label_kind,
            is_labelled=reading.with_labels,
            is_new=reading.names is None,
        )

    def part(self, _first: int, text: bytes) -> Examples:
        """Return the examples in whole records."""
        return self.examples(self.lines.part(text))

    def examples(self, batch: Any) -> Examples:
        """Return a batch with the names of its columns; none if no line was there."""
        layout = self.lines.layout
        if batch is None or layout is None:
            return Examples(np.zeros((0, self._reading.n_features or 0)))
        if self._reading.hash_bits is not None:
            names = tuple(feature.name for feature in layout.features)
            how: dict[str, Any] = {"hashed": (names, self.lines.texts or ())}
        else:
            how = {"names": None if self.lines.text.header is False else layout.names}
        return Examples(batch.X, batch.y, batch.sample_weight, **how)


def of_tables(name: str, reading: Reading, tables: Any) -> Iterator[Examples]:
    """Give the examples of a Parquet file: of some rows at a time, or of tables that have been read."""
    from perceptron_rs.io.tables.layout import layout_of, located

    is_read = isinstance(tables, list)
    schema = tables[0].schema if is_read else tables.schema
    first = (lambda: tables[0].slice(0, 1)) if is_read else tables.first
    layout, rows, bits = layout_of(schema, name, reading, first=first), 0, reading.hash_bits
    with located(name, lambda: rows):
        parts: Iterable[Any] = tables if is_read else tables.parts(layout.used)
        for part in parts:
            X, y, weights, _ = layout.batch(part, hash_bits=bits, is_labelled=reading.with_labels)
            if bits is None:
                yield Examples(X, y, weights, layout.names)
            else:
                names = tuple(feature.name for feature in layout.features)
                yield Examples(X, y, weights, hashed=(names, layout.texts(part.schema)))
            rows += part.num_rows


def read_tensors(file: Any, reading: Reading) -> Examples:
    """Return the examples of a safetensors file, mapped: options name its tensors."""
    from perceptron_rs.io.arrays import matrix_of_file
    from perceptron_rs.io.tensors import mapped_tensor

    name, chosen = name_of_file(file), reading.columns or reading.usual_tensor
    if is_read_once([file]):
        raise OptionsError(
            "{name}: tensors are mapped into memory, which a pipe cannot be", "write it to a file", name=name
        )
    if chosen is not None and len(chosen) != 1:
        raise OptionsError(
            "{columns} must name one tensor of a safetensors file, got {names}", names=", ".join(chosen)
        )
    if reading.labels is not None and reading.target is not None:
        raise OptionsError("{labels} and {target} both say the labels", "leave one of them out")
    target = None
    if reading.with_labels and reading.labels is None:
        target = reading.target or reading.usual_target
        if target is None:
            raise ArgumentError(
                "which tensor holds the labels must be said",
                "name it as {target}, or pass them with {labels}",
                place=f"{name}: ",
                settings={"target": "NAME", "labels": "FILE.npy"},
            )
    X = matrix_of_file(mapped_tensor(file, None if chosen is None else chosen[0], "columns"), name)
    found: dict[str, Any] = {}
    for option, tensor in (("target", target), ("sample_weight", reading.sample_weight)):
        if tensor is None:
            continue
        values = found[option] = np.array(mapped_tensor(file, tensor, option))
        if values.shape != (len(X),):
            raise ArgumentError(
                f"the tensor {{tensor!r:.80}} has the shape {values.shape}, but there are {len(X)} examples",
                f"name another one as {{{option}}}",
                place=f"{name}: ",
                tensor=tensor,
            )
    return Examples(X, found.get("target"), found.get("sample_weight"))


def read_svmlight(files: Sequence[Any], reading: Reading) -> Examples:
    """Return the examples of whole files of svmlight text, on several threads."""
    from perceptron_rs.io.svmlight.files import load_with_base

    def load(features: int | None) -> tuple[Any, NDArray[np.generic], bool]:
        return load_with_base(
            list(files),
            n_features=features,
            zero_based=reading.zero_based,
            max_ratio=reading.max_ratio or MAX_RATIO,
            n_jobs=reading.threads,
            multilabel=reading.multilabel,
        )

    try:
        X, y, zero_based = load(reading.n_features)
    except ValueError as error:
        if getattr(error, "cause", "") == "too wide":
            X, _, zero_based = load(None)
            raise wrong_width(names_of(files), X.shape[1], reading, zero_based) from error
        raise _explained(error, names_of(files), reading) from error
    return Examples(X, y, zero_based=zero_based)


_NO_LABEL = re.compile(r"(.*, line \d+, column 1: .* is not a number);")


def _explained(error: ValueError, name: str, reading: Reading) -> ValueError:
    """Return an error about svmlight text with what may be meant."""
    if (no_label := _NO_LABEL.match(str(error))) and not reading.as_written:
        return ArgumentError(
            "{text}, as the label of svmlight text is",
            "of raw text, a label, a tab and words on each line, say {format='lines'}, and of a table or "
            "arrays {format}",
            text=no_label[1],
        )
    if _LISTS in str(error):
        return ArgumentError(
            "{text}", "say {multilabel=True}, or keep one label a line", text=str(error).partition(";")[0]
        )
    if reading.base_of_model and "has the column 0" in str(error):
        return ArgumentError(
            "has a column 0, but the model counts columns from 1, like the file it was trained on",
            "if both count from 0, train with {zero_based=True}",
            place=f"{name}: ",
        )
    return error


def wrong_width(name: str, width: int, reading: Reading, zero_based: bool | None = None) -> ArgumentError:
    """Return the error for examples that have another number of features than an option or a model says."""
    counted = reading.base_of_model and zero_based is not None
    base = f", counted from {int(not zero_based)} as by the model" if counted else ""
    remedy, settings = "", {}
    if "n_features" in reading.given:
        remedy = "leave {n_features} out, or give another number"
    elif zero_based is not None:
        remedy = "to expect more features than the training file has, train with {n_features}"
        settings = {"n_features": "N"}
    problem = f"has {width} features{base}, but {reading.n_features} are expected"
    return ArgumentError(problem, remedy, place=f"{name}: ", settings=settings)
