"""Lines of svmlight text as rows, with labels or without; it imports no more than parsing needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from perceptron_rs._core import read_svmlight_part
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, wrong_width
from perceptron_rs.io.svmlight.label_lists import CutLists, as_matrix
from perceptron_rs.rows.sparse import CsrArrays

_CONTENT = re.compile(rb"^[ \t]*([^\s#][^\s]*)", re.MULTILINE)
_COLUMN = re.compile(r"(, line \d+, column )(\d+)")
_LABEL = b"0 "
_NO_LABEL = re.compile(r"(.*, line \d+, column 1: .* is not a number);")
#: What the parser says of a list of labels.
_LISTS = "is a list of labels; say multilabel=True"


class SvmlightText:
    """Makes examples of whole lines of a file.

    Where nothing says whether lines begin with labels, the first line that has anything does.

    Parameters
    ----------
    name : str
        What errors call the file.
    reading : Reading
        How it is read. Lists of labels become a matrix, if it says all labels; else they are left out.
    """

    def __init__(self, name: str, reading: Reading) -> None:
        self._name, self._reading = name, reading
        self._is_labelled = True if reading.with_labels else reading.labelled
        self._has_lists = reading.multilabel and self._is_labelled is not False

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples in whole lines, the first of which has this number."""
        reading = self._reading
        y: NDArray[Any] | None = None
        if self._has_lists:
            cut = CutLists(text, self._name, first - 1)
            rows, _, zero_based = self._parsed(first, cut.text, cut.placed)
            if reading.with_labels and reading.list_labels is not None:
                y = as_matrix(cut.lists, reading.list_labels, self._name)
        else:
            if self._is_labelled is None and (content := _CONTENT.search(text)):
                self._is_labelled = b":" not in content[1]
            if self._is_labelled is False:
                rows, _, zero_based = self._parsed(first, _with_labels(text), _without_label)
            else:
                rows, y, zero_based = self._parsed(first, text)
        if reading.n_features is not None and rows.shape[1] > reading.n_features:
            raise wrong_width(self._name, rows.shape[1], reading, zero_based)
        return Examples(rows, y, zero_based=zero_based)

    def lists(self, first: int, text: bytes) -> list[tuple[float, ...]]:
        """Return the labels of each example."""
        return CutLists(text, self._name, first - 1).lists

    def _parsed(
        self, first: int, text: bytes, placed: Callable[[ValueError], ValueError] | None = None
    ) -> tuple[CsrArrays, NDArray[Any], bool]:
        """Return rows, labels, and whether columns count from 0; errors have the columns of the file."""
        reading = self._reading
        base = None if isinstance(reading.zero_based, str) else reading.zero_based
        try:
            values, columns, starts, y, width, is_zero_based = read_svmlight_part(
                text,
                path=self._name,
                lines_before=first - 1,
                zero_based=base,
                refuse_query_ids=reading.refuses_query_ids,
            )
        except ValueError as error:
            raise explained(placed(error) if placed else error, self._name, reading) from error
        least = max(width, reading.n_features or 0)
        return CsrArrays.of(values, columns, starts, least), y, is_zero_based


def _with_labels(text: bytes) -> bytes:
    """Put a label before each line but comments: an empty line is an example without entries."""
    lines = text.removesuffix(b"\n")
    if b"#" in lines:
        return re.sub(rb"(?m)^(?![ \t]*#)", _LABEL, lines) + b"\n"
    return _LABEL + lines.replace(b"\n", b"\n" + _LABEL) + b"\n"


def _without_label(error: ValueError) -> ValueError:
    """Return an error with the column as it is in the file, where the label was not."""
    return ValueError(_COLUMN.sub(lambda place: f"{place[1]}{int(place[2]) - len(_LABEL)}", str(error)))


def explained(error: ValueError, name: str, reading: Reading) -> ValueError:
    """Return an error about svmlight text with what may be meant."""
    if (no_label := _NO_LABEL.match(str(error))) and not reading.as_written:
        return ArgumentError(
            "{text}, as the label of svmlight text is",
            "of raw text, a label, a tab and words on each line, say {format='lines'}; of fastText's or vw's "
            "lines {format='fasttext'} or {format='vw'}; and of a table or arrays {format}",
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
