"""Raw text: a line holds a label, a tab and the text, whose n-grams are hashed to columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.choices import Analyzer, Norm
from perceptron_rs.common.rows.sparse import CsrArrays
from perceptron_rs.errors import ArgumentError
from perceptron_rs.features.text import hashed_rows, normalized
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, checked_options
from perceptron_rs.io.source import PathLike, Source, paths_of, refuse_pipe
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.text.decoding import line_text
from perceptron_rs.io.text.lines import text_blocks

if TYPE_CHECKING:
    from perceptron_rs.io.tables.cells import LabelKind

__all__ = ["RawText", "kind_of_files", "kind_of_labels", "open_lines"]

_INTEGER = re.compile("0|-?[1-9][0-9]*")


def open_lines(
    path: PathLike | Sequence[PathLike],
    *,
    hash_bits: int = 18,
    ngrams: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    analyzer: Analyzer = "word",
    stop_words: Literal["english"] | None = None,
    binary: bool = False,
    norm: Norm = "l2",
    labelled: bool = True,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read raw text in parts, for ``fit_stream``.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files in UTF-8, read as if they were one; patterns such as ``"part-*.txt.gz"`` and folders name
        several. gzip, bzip2 or xz may have compressed them. A line holds a label, a tab and a text.
    hash_bits : int, default=18
        N-grams are hashed to ``2 ** hash_bits`` columns, with the columns and values of scikit-learn's
        ``HashingVectorizer``.
    ngrams, lowercase, analyzer, stop_words, binary, norm
        As for `open_examples`.
    labelled : bool, default=True
        Whether each line begins with a label and a tab. If not, all of it is text, and y of the batches is
        None.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The examples. Labels are integers if all of the files are, else text: a first pass tells it.

    Raises
    ------
    ValueError
        When it is read, if a line has no tab, or is not UTF-8. The message names the file and the line.
    OSError
        If a file is missing, or when it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mail.txt")
    ...     _ = file.write_text("spam\tbuy now\nham\tsee you soon\n")
    ...     model = Perceptron().fit_stream(open_lines(file, hash_bits=10))
    >>> model.classes_.tolist()
    ['ham', 'spam']
    """
    from perceptron_rs.io.files import ExampleFiles  # which reads by this module

    if labelled not in (True, False):
        raise ValueError(f"labelled must be True or False, got {labelled!r:.80}")
    files = paths_of(path)
    for file in files:
        refuse_pipe(file, "raw text is read")
    options = checked_options(
        format="lines",
        hash_bits=hash_bits,
        max_ratio=max_ratio,
        ngrams=ngrams,
        lowercase=lowercase,
        analyzer=analyzer,
        stop_words=stop_words,
        binary=binary,
        norm=norm,
    )
    return ExampleFiles(files, Reading(**options, with_labels=labelled, labelled=labelled)).source()


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
        self._name, self._reading, self._columns = name, reading, 1 << reading.hash_bits
        self._options = reading.text()
        beside = reading.labels is not None
        self._is_labelled = not beside if reading.with_labels or beside else reading.labelled
        self._are_labelled: bool | None = None

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples in whole lines, the first of which has this number."""
        labels, texts = [], []
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            label, tab, words = line_text(line, self._name, number).partition("\t")
            has_label = self._is_labelled
            if has_label is None:
                has_label = self._has_label(number, label, tab)
            if has_label and not tab:
                raise ValueError(
                    f"{self._name}: line {number} has no tab; write each line as a label, a tab and the text"
                )
            if has_label and not label:
                raise ValueError(
                    f"{self._name}: line {number} has nothing before its tab, where the label is"
                )
            labels.append(label)
            texts.append(words if has_label else f"{label}{tab}{words}")
        reading = self._reading
        rows = hashed_rows(texts, self._options, self._columns, reading.ngrams_of)
        if not reading.tf_idf:  # else they are counts, which are weighed later
            rows = normalized(rows, self._options.norm)
        is_wanted = reading.with_labels and self._is_labelled is not False
        y = _labels(labels, reading.label_kind) if is_wanted else None
        return Examples(CsrArrays.of(*rows, self._columns), y)

    def _has_label(self, number: int, label: str, tab: str) -> bool:
        """Return whether a line of unknown kind has a label; all lines must be alike."""
        known = self._reading.classes
        has_label = bool(tab) and known is not None and _is_class(label, known)
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


def _is_class(text: str, classes: NDArray[np.generic]) -> bool:
    found = text if classes.dtype.kind in "OU" else _label_number(text)
    return found in classes.tolist()


def kind_of_files(files: Sequence[object], max_ratio: float | None = None) -> LabelKind:
    """Return what the labels of raw text are: all lines tell it."""
    labels = (
        line.partition(b"\t")[0]
        for file in files
        for _, text in text_blocks(file, max_ratio=max_ratio)
        for line in text.removesuffix(b"\n").split(b"\n")
    )
    return kind_of_labels(label.decode() for label in labels)


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

    found = float(label) if is_number(label) else math.inf
    return found if abs(found) < 2.0**53 else None


def _labels(texts: list[str], kind: LabelKind | None) -> NDArray[np.generic]:
    """Return the labels as numbers or strings; as strings if one is no number, and so no class of a model."""
    if (kind or kind_of_labels(texts)) == "U":
        return np.array(texts)
    numbers = list(map(_label_number, texts))
    return np.array(texts if None in numbers else numbers)
