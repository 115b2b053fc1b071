"""By format: what makes examples of whole lines, and of whole tables, tensors and files of svmlight text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, wrong_width
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.text.lines import is_read_once, name_of_file, names_of

__all__ = ["Lines", "lines_of", "of_tables", "read_svmlight", "read_tensors"]


class Lines(Protocol):
    """Makes examples of whole lines, the first of which has a number."""

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples."""


def lines_of(form: str, name: str, reading: Reading) -> Lines:
    """Return what reads whole lines, or whole records, of a format."""
    if form == "svmlight":
        from perceptron_rs.io.svmlight.lines import SvmlightText

        return SvmlightText(name, reading)
    if form == "jsonl":
        from perceptron_rs.io.json_lines import JsonLines

        return JsonLines(name, reading)
    if form == "lines":
        from perceptron_rs.io.raw_text import RawText

        return RawText(name, reading)
    from perceptron_rs.io.tables.tables import CsvLines

    return CsvLines(name, form, reading)


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
    found: dict[str, NDArray[Any]] = {}
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
