"""The reader of each format: of lines, of tables, of tensors, of svmlight text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import RAW, Reading, wrong_width
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.text.lines import is_read_once, name_of_file, names_of


class Lines(Protocol):
    """Makes examples of whole lines, the first of which has a number."""

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples."""


def line_reader(form: str, name: str, reading: Reading) -> Lines:
    """Return what reads whole lines, or whole records, of a format."""
    if form == "svmlight":
        from perceptron_rs.io.svmlight.lines import SvmlightText

        return SvmlightText(name, reading)
    if form == "jsonl":
        from perceptron_rs.io.hashed.json_lines import JsonLines

        return JsonLines(name, reading)
    if form == "vw":
        from perceptron_rs.io.hashed.vw_lines import VwLines

        return VwLines(name, reading)
    if form in RAW:
        from perceptron_rs.io.hashed.raw_text import FastText, RawText

        return (RawText if form == "lines" else FastText)(name, reading)
    from perceptron_rs.io.tables.tables import CsvLines

    return CsvLines(name, form, reading)


class TableRows:
    """Makes examples of rows of a Parquet file; ``first`` returns one that tells how long lists are."""

    def __init__(self, name: str, reading: Reading, schema: Any, first: Callable[[], Any]) -> None:
        from perceptron_rs.io.tables.layout import layout_of

        self._name, self._reading = name, reading
        self.layout = layout_of(schema, name, reading, first=first)
        self._hasher = None if reading.hash_bits is None else reading.hasher("parquet")

    def part(self, first: int, table: Any) -> Examples:
        """Return the examples in some rows, the first of which has this number."""
        from perceptron_rs.io.tables.layout import located_cell

        layout, hasher = self.layout, self._hasher
        with located_cell(self._name, lambda: first - 1):
            if hasher is None:
                layout.refuse_strings(table)
            X, y, weights, _ = layout.batch(table, hasher=hasher, is_labelled=self._reading.with_labels)
        if hasher is None:
            return Examples(X, y, weights, layout.names)
        names = tuple(feature.name for feature in layout.features)
        return Examples(X, y, weights, hashed=(names, layout.strings(table.schema)))


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
    tensors: dict[str, NDArray[Any]] = {}
    for option, tensor in (("target", target), ("sample_weight", reading.sample_weight)):
        if tensor is None:
            continue
        values = tensors[option] = np.array(mapped_tensor(file, tensor, option))
        if values.shape != (len(X),):
            raise ArgumentError(
                f"the tensor {{tensor!r:.80}} has the shape {values.shape}, but there are {len(X)} examples",
                f"name another one as {{{option}}}",
                place=f"{name}: ",
                tensor=tensor,
            )
    return Examples(X, tensors.get("target"), tensors.get("sample_weight"))


def read_svmlight(files: Sequence[object], reading: Reading) -> Examples:
    """Return the examples of whole files of svmlight text, on several threads."""
    from perceptron_rs.io.svmlight.files import load_with_base
    from perceptron_rs.io.svmlight.lines import explained

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
        if isinstance(error, ArgumentError) and error.cause == "too wide":
            X, _, zero_based = load(None)
            raise wrong_width(names_of(files), X.shape[1], reading, zero_based) from error
        raise explained(error, names_of(files), reading) from error
    return Examples(X, y, zero_based=zero_based)
