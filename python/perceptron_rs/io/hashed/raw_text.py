"""Raw text: a line holds a label, a tab and the text, whose n-grams are hashed to columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import LabelKind, Reading
from perceptron_rs.io.svmlight.label_lists import as_matrix
from perceptron_rs.io.text.decoding import line_text
from perceptron_rs.io.text.lines import refuse_names

#: What labels of fastText begin with.
_PREFIX = "__label__"
#: Words that begin so; a pattern that begins with letters is looked for by them.
_LABEL = re.compile(rf"{_PREFIX}(?<!\S{_PREFIX})(\S*)")
#: How lines of Vowpal Wabbit begin.
_VW = re.compile(r"[^|]{0,40}\|\S* ")
_INTEGER = re.compile("0|-?[1-9][0-9]*")


class RawText:
    """Makes examples of whole lines of a file.

    Where nothing says whether lines have labels, a line has one if it is a class of the model, and has none
    without a tab; anything else is refused, as it might be text.

    Parameters
    ----------
    name : str
        What errors call the file.
    reading : Reading
        How it is read, with a number of bits.
    """

    def __init__(self, name: str, reading: Reading) -> None:
        assert reading.hash_bits is not None
        self._name, self._reading, self._hasher = name, reading, reading.hasher("lines")
        beside = reading.labels is not None
        self._is_labelled = not beside if reading.with_labels or beside else reading.labelled
        self._are_labelled: bool | None = None

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples in whole lines, the first of which has this number."""
        lists, texts = self._cut_lines(first, text)
        is_wanted = self._reading.with_labels and self._is_labelled is not False
        y = labels_of(lists, self._reading) if is_wanted else None
        return Examples(self._hasher.rows({"": texts}), y)

    def lists(self, first: int, text: bytes) -> list[tuple[str, ...]]:
        """Return the labels of each example, as they are written."""
        return self._cut_lines(first, text)[0]

    def _cut_lines(self, first: int, text: bytes) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the labels and the texts of whole lines."""
        lists, texts = [], []
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            labels, words = self._cut(number, line_text(line, self._name, number))
            if self._reading.with_labels and len(labels) > 1 and not self._reading.multilabel:
                raise several_labels(f"{self._name}: line {number} ")
            lists.append(labels)
            texts.append(words)
        return lists, texts

    def _cut(self, number: int, line: str) -> tuple[tuple[str, ...], str]:
        """Return the labels of a line, and its text."""
        label, tab, words = line.partition("\t")
        has_label = self._is_labelled
        if has_label is None:
            has_label = self._has_label(number, label, tab)
        if not has_label:
            return (), line
        if not tab:
            raise ArgumentError(
                f"line {number} has no tab",
                "write each line as a label, a tab and the text" + _other_format(line),
                place=f"{self._name}: ",
            )
        if not label and not self._reading.multilabel:
            raise ValueError(f"{self._name}: line {number} has nothing before its tab, where the label is")
        if number == 1:
            refuse_names((label, words), f"{self._name}: line 1", 1)
        return self._labels(label), words

    def _labels(self, label: str) -> tuple[str, ...]:
        """Return the labels before a tab: one, or a list of them."""
        if not self._reading.multilabel:
            return (label,)
        return tuple(part.strip() for part in label.split(",")) if label.strip() else ()

    def _has_label(self, number: int, label: str, tab: str) -> bool:
        """Return whether a line of unknown kind has a label; all lines must be alike."""
        known = self._reading.classes
        labels = self._labels(label)
        has_label = bool(tab) and known is not None and all(_is_class(own, known) for own in labels)
        if tab and not has_label:
            raise ArgumentError(
                "line {number} has a tab, and {label!r:.40} before it is none of the model's classes",
                "say {labelled=True} if it is a label, or {labelled=False} if all of the line is text",
                place=f"{self._name}: ",
                number=number,
                label=label,
            )
        if self._are_labelled not in (None, has_label):
            raise ArgumentError(
                f"line {number} has {'a' if has_label else 'no'} label, unlike the lines before",
                "say {labelled=True} or {labelled=False}",
                place=f"{self._name}: ",
            )
        self._are_labelled = has_label
        return has_label


class FastText(RawText):
    """Makes examples of lines as fastText reads them: words, of which those are labels that begin so."""

    def _cut(self, number: int, line: str) -> tuple[tuple[str, ...], str]:
        parts = _LABEL.split(line)  # one by one, words would take longer than their hashes
        labels, text = tuple(parts[1::2]), "".join(parts[::2])
        if self._is_labelled and not labels and not self._reading.multilabel:
            raise ValueError(f"{self._name}: line {number} has no label; write {_PREFIX}NAME before the text")
        if not all(labels):
            raise ValueError(f"{self._name}: line {number} has {_PREFIX} without a name behind it")
        # Blanks are parts of n-grams of characters alone.
        return labels, text.strip() if self._reading.analyzer == "word" else " ".join(text.split())


def _other_format(line: str) -> str:
    """Return a further remedy for a line that may be of another format."""
    if line.startswith(_PREFIX):
        return ", or say {format='fasttext'} of lines such as fastText's"
    return ", or say {format='vw'} of lines such as Vowpal Wabbit's" if _VW.match(line) else ""


def several_labels(place: str) -> ArgumentError:
    """Return the error for an example that has several labels where one is wanted."""
    remedy = "learn all of them ({multilabel=True}), or keep one"
    return ArgumentError("has several labels", remedy, place=place)


def labels_of(lists: Sequence[tuple[str, ...]], reading: Reading) -> NDArray[Any]:
    """Return labels as they are written as y: of one each, or of lists, whose matrix needs to know all."""
    if not reading.multilabel:
        return _labels([labels[0] for labels in lists], reading.label_kind)
    if reading.list_labels is not None:
        return as_matrix(lists, list(map(str, reading.list_labels)), "the data")
    return as_objects(lists)


def as_objects(lists: Sequence[tuple[Any, ...]]) -> NDArray[Any]:
    """Return lists of labels as an array of objects."""
    y = np.empty(len(lists), dtype=object)
    for number, labels in enumerate(lists):
        y[number] = labels
    return y


def _is_class(text: str, classes: NDArray[np.generic]) -> bool:
    label = text if classes.dtype.kind in "OU" else _label_number(text)
    return label in classes.tolist()


def kind_of_labels(labels: Iterable[str]) -> LabelKind:
    """Return what labels are, as of a table: text, unless all are integers of 64 bits; 01 is text."""
    return "i" if all(map(_is_integer, labels)) else "U"


def _is_integer(label: str) -> bool:
    is_short = len(label) < 19
    return _INTEGER.fullmatch(label) is not None and (is_short or -(2**63) <= int(label) < 2**63)


def _label_number(label: str) -> int | float | None:
    """Return a label as a number, to the last digit; None if it is none."""
    if _is_integer(label):
        return int(label)
    from perceptron_rs.io.tables.cells import is_number

    value = float(label) if is_number(label) else math.inf
    return value if abs(value) < 2.0**53 else None


def _labels(texts: list[str], kind: LabelKind | None) -> NDArray[np.generic]:
    """Return the labels as numbers; as strings if one is no number, so that no class of numbers matches."""
    if (odd := next((text for text in texts if text.endswith("\0")), None)) is not None:
        raise ValueError(f"the label {odd!r:.60} ends with NUL, which NumPy drops; leave that out")
    if (kind or kind_of_labels(texts)) == "U":
        return np.array(texts)
    numbers = list(map(_label_number, texts))
    return np.array(texts if None in numbers else numbers)
