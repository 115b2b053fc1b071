"""Lists of labels at the beginnings of svmlight lines, such as ``1,3 2:0.5``: cut off, and made a matrix."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError

#: The labels of an example, sorted.
LabelList: TypeAlias = tuple[float, ...]

_FIRST = re.compile(rb"^([^\S\n]*)([^\s#]+)", re.MULTILINE)
_PLACE = re.compile(r"(, line )(\d+)(, column )(\d+)")
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
        without = {self._before + 1 + self._whole.count(b"\n", 0, at) for at in self._without}

        def own(place: re.Match[str]) -> str:
            shift = len(_LABEL) if int(place[2]) in without else 0
            return f"{place[1]}{place[2]}{place[3]}{int(place[4]) - shift}"

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
