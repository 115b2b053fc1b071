"""Lines of svmlight text as rows, with labels, with lists of labels or with none."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import read_svmlight_part
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, wrong_width
from perceptron_rs.rows.sparse import CsrArrays

#: The labels of an example, sorted.
LabelList: TypeAlias = tuple[float, ...]

_FIRST = re.compile(rb"^([^\S\n]*)([^\s#]+)", re.MULTILINE)
_PLACE = re.compile(r"(, line (\d+), column )(\d+)")
_LABEL = b"0 "


class CutLists:
    """The lists of some lines, and the lines with a 0 in their place, as a parser of one label takes them.

    A line whose first part has a colon has no labels, as for :func:`sklearn.datasets.load_svmlight_file`.

    Parameters
    ----------
    text : bytes
        Whole lines.
    name : str
        What errors call the file.
    lines_before : int
        How many lines stand before these.

    Raises
    ------
    ValueError
        If a label is not a finite number.
    """

    def __init__(self, text: bytes, name: str, lines_before: int) -> None:
        self.lists: list[LabelList] = []
        self._name, self._whole, self._before = name, text, lines_before
        self._known: dict[bytes, LabelList] = {}
        self._without: list[int] = []  # where lines without labels begin
        self.text = _FIRST.sub(self._cut, text)

    def _cut(self, match: re.Match[bytes]) -> bytes:
        space, first = match[1], match[2]
        if b":" in first:
            self._without.append(match.start())
            self.lists.append(())
            return space + _LABEL + first
        if first not in self._known:
            self._known[first] = self._parsed(first, match.start(2))
        self.lists.append(self._known[first])
        return space + _LABEL[:1] + b" " * (len(first) - 1)  # columns of errors stay what they are

    def _parsed(self, text: bytes, at: int) -> LabelList:
        labels = []
        for label in text.split(b","):
            try:
                value = float(label)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                line = self._whole.count(b"\n", 0, at)
                column = at - self._whole.rfind(b"\n", 0, at)
                shown = text.decode(errors="replace")
                raise ValueError(
                    f'{self._name}, line {self._before + line + 1}, column {column}: "{shown}" is not a list '
                    f"of labels; write finite numbers with commas between them, such as 1,3"
                )
            labels.append(value)
        return tuple(sorted(labels))

    def placed(self, error: ValueError) -> ValueError:
        """Return an error of the parser with the column as it is in the file."""
        return _placed(error, {self._before + 1 + self._whole.count(b"\n", 0, at) for at in self._without})


def _placed(error: ValueError, lines: Container[int] | None = None) -> ValueError:
    """Return an error with the column as it is in the file, where these lines have no label; None: all."""

    def own(place: re.Match[str]) -> str:
        is_shifted = lines is None or int(place[2]) in lines
        return f"{place[1]}{int(place[3]) - len(_LABEL) * is_shifted}"

    return ValueError(_PLACE.sub(own, str(error)))


def all_labels(lists: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return all labels of lists, sorted; ValueError if there are less than two."""
    labels: set[Any] = set().union(*set(lists))
    if len(labels) < 2:
        raise ValueError(
            f"lists of labels need two labels or more, found {sorted(labels)}; read one label a line instead"
        )
    return tuple(sorted(labels))


def tidy_labels(labels: Iterable[float]) -> tuple[float, ...]:
    """Return labels that are whole as integers, as those of other files."""
    labels = tuple(labels)
    return tuple(map(int, labels)) if all(float(label).is_integer() for label in labels) else labels


def as_matrix(lists: Sequence[tuple[Any, ...]], labels: Sequence[Any], name: str) -> NDArray[np.uint8]:
    """Return a matrix of 0 and 1 that says which of the labels each example has.

    Raises
    ------
    ValueError
        If there is another label.
    """
    columns = {label: k for k, label in enumerate(labels)}
    matrix = np.zeros((len(lists), len(columns)), dtype=np.uint8)
    for row, own in enumerate(lists):
        for label in own:
            if label not in columns:
                raise ArgumentError(
                    "holds the label {label}, which is none of the labels {known!r:.200}",
                    "name all labels, or drop the example",
                    place=f"{name}: ",
                    label=repr(label) if isinstance(label, str) else f"{label:g}",
                    known=list(labels),
                )
            matrix[row, columns[label]] = 1
    return matrix


_CONTENT = re.compile(rb"^[ \t]*([^\s#][^\s]*)", re.MULTILINE)
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
                rows, _, zero_based = self._parsed(first, _with_labels(text), _placed)
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
