"""Examples from raw text: a line holds a label, a tab and the text; its words are hashed to columns.

Of examples to predict, the label may be left out. Whether it is there is said by an option; or there is no
tab; or what stands before each tab is a class of the model. Anything else is refused: it might be text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.source import file_of
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.io.layout import hasher
from perceptron_rs.io.lines import text_blocks

if TYPE_CHECKING:
    from perceptron_rs.io.cells import LabelKind

__all__ = ["TextLines", "kind_of_labels", "with_label_kind"]

_INTEGER = re.compile("0|-?[1-9][0-9]*")


class TextLines:
    """Reads lines of text; parameters are those of ``SvmlightLines``."""

    def __init__(self, name: str, wanted: Wanted) -> None:
        self._name, self._wanted = name, wanted
        self._are_labelled: bool | None = None

    def part(self, first: int, text: bytes) -> Data:
        """Return the examples in whole lines, the first of which has this number."""
        labels, texts, wanted = [], [], self._wanted
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            label, tab, words = line.decode("utf-8").rstrip("\r").partition("\t")
            if wanted.labels or wanted.beside is not None:
                has_label = wanted.beside is None
            elif wanted.labelled is not None:
                has_label = wanted.labelled
            else:
                has_label = self._has_label(number, label, tab)
            if has_label and not tab:
                raise CommandError(
                    f"{self._name}: line {number} has no tab; write each line as a label, a tab and the text"
                )
            labels.append(label)
            texts.append((words if has_label else f"{label} {words}").split())
        assert self._wanted.hash_bits is not None
        X = hasher(self._wanted.hash_bits, "string").transform(texts)
        return Data(X, _labels(labels, self._wanted) if self._wanted.labels else None)

    def _has_label(self, number: int, label: str, tab: str) -> bool:
        """Return whether a line of unknown kind has a label; all lines must be alike."""
        known = self._wanted.classes
        has_label = bool(tab) and known is not None and _is_class(label, known)
        if tab and not has_label:
            raise CommandError(
                f"{self._name}: line {number} has a tab, and {label!r:.40} before it is none of the model's "
                f"classes; say --labelled if it is a label, or --unlabelled if all of the line is text"
            )
        if self._are_labelled not in (None, has_label):
            raise CommandError(
                f"{self._name}: line {number} has {'a' if has_label else 'no'} label, unlike the lines "
                f"before; say --labelled or --unlabelled"
            )
        self._are_labelled = has_label
        return has_label


def _is_class(text: str, classes: NDArray[Any]) -> bool:
    if classes.dtype.kind in "OU":
        return text in classes.tolist()
    try:
        return float(text) in classes.tolist()
    except ValueError:
        return False


def with_label_kind(paths: Sequence[str], wanted: Wanted) -> Wanted:
    """Return what is wanted of raw text, with what its labels are: all lines say it."""
    labels = (
        line.partition(b"\t")[0]
        for path in paths
        for _, text in text_blocks(file_of(path), max_ratio=wanted.max_ratio)
        for line in text.removesuffix(b"\n").split(b"\n")
    )
    return replace(wanted, label_kind=kind_of_labels(label.decode() for label in labels))


def kind_of_labels(labels: Iterable[str]) -> LabelKind:
    """Return what labels are, as of a table: text, unless all are integers; 01 is text."""
    return "i" if all(map(_INTEGER.fullmatch, labels)) else "U"


def _labels(texts: list[str], wanted: Wanted) -> NDArray[Any]:
    """Return the labels as numbers or strings."""
    if (wanted.label_kind or kind_of_labels(texts)) != "U":
        with suppress(ValueError):  # a model of numbers has none of these classes
            return np.array([float(text) for text in texts])
    return np.array(texts)
