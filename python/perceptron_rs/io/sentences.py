"""Columns of tagged sentences: one token a line, an empty line behind each sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from perceptron_rs.io.source import Batch, PathLike, Source, byte_ranges, paths_of
from perceptron_rs.packed import MAX_RATIO, check_ratio
from perceptron_rs.text import open_text

__all__ = ["open_sentences"]

#: Given the columns of each token of a sentence, without its tag, the attributes of each.
Attributes: TypeAlias = Callable[[list[list[str]]], list[Any]]

_SENTENCES = 1024  # of a batch
_CHUNK = 1 << 20  # bytes whose lines are counted at once


def open_sentences(
    path: PathLike | Sequence[PathLike],
    *,
    attributes: Attributes,
    tag_column: int = -1,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read tagged sentences in parts, for ``SequencePerceptron.fit_stream``.

    Parameters
    ----------
    path : str, path-like, or list of them
        Text files in UTF-8, read as if they were one; patterns such as ``"part-*.tsv.gz"`` name several. A
        line holds the columns of a token, separated by tabs, or by blanks if the line has no tab. Empty lines
        end sentences.
    attributes : callable
        Returns the attributes of the tokens of a sentence, given the columns of each but for the tag, such as
        `perceptron_rs.features.column_attributes`.
    tag_column : int, default=-1
        Which column is the tag, counted from 0, or from the last one by -1, -2, ...
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The sentences.

    Raises
    ------
    ValueError
        When it is read, if a line has another number of columns than the first, or is not UTF-8. The message
        names the file and the line.
    OSError
        If a file is missing, or when it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import SequencePerceptron
    >>> from perceptron_rs.features import column_attributes
    >>> from perceptron_rs.io import open_sentences
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.tsv")
    ...     _ = file.write_text("the\tD\ndog\tN\n\na\tD\ncat\tN\nsleeps\tV\n")
    ...     model = SequencePerceptron().fit_stream(open_sentences(file, attributes=column_attributes))
    >>> model.classes_.tolist()
    ['D', 'N', 'V']
    """
    files, max_ratio = tuple(map(Path, paths_of(path))), check_ratio(max_ratio)
    for file in files:
        file.stat()  # says now that it is missing

    def batches() -> Iterator[Batch]:
        X: list[list[Any]] = []
        y: list[list[str]] = []
        for file in files:
            for sentence in _sentences(file, tag_column, max_ratio):
                y.append([columns.pop(tag_column) for columns in sentence])
                X.append(attributes(sentence))
                if len(X) == _SENTENCES:
                    yield Batch(X, y)
                    X, y = [], []
        if X:
            yield Batch(X, y)

    return Source(
        batches=batches,
        cut=partial(_cut, files, attributes, tag_column),
        files=files,
        reading=f"sentences, tag_column={tag_column}",
        name=str(files[0]),
    )


def _cut(
    files: Sequence[Path], attributes: Attributes, tag_column: int, n: int | None
) -> list[Callable[[], Batch]]:
    """Cut files into n ranges of sentences, at the first empty lines behind ranges of bytes."""
    return [
        partial(
            _read_ranges,
            [
                (file, _after_empty_line(file, begin), _after_empty_line(file, end))
                for file, begin, end in part
            ],
            attributes,
            tag_column,
        )
        for part in byte_ranges([str(file) for file in files], n)
    ]


def _after_empty_line(file: str, place: int) -> int:
    """Return the end of the first empty line that begins at a place of a file, or behind it."""
    if place == 0:
        return 0
    with Path(file).open("rb") as lines:
        lines.seek(place - 1)
        lines.readline()
        while line := lines.readline():
            if not line.decode("utf-8", "replace").strip():
                break
        return lines.tell()


def _read_ranges(ranges: list[tuple[str, int, int]], attributes: Attributes, tag_column: int) -> Batch:
    """Read the sentences between places in files."""
    X: list[list[Any]] = []
    y: list[list[str]] = []
    for file, begin, end in ranges:
        for sentence in _sentences(Path(file), tag_column, MAX_RATIO, begin, end):
            y.append([columns.pop(tag_column) for columns in sentence])
            X.append(attributes(sentence))
    return Batch(X, y)


def _sentences(
    file: Path, tag_column: int, max_ratio: float, begin: int = 0, end: int | None = None
) -> Iterator[list[list[str]]]:
    """Give the columns of the tokens of each sentence; of a file that is not compressed, between places."""
    sentence: list[list[str]] = []
    width, before, number = None, 0, 0  # columns; lines in front of the range; the last line that was read
    opening = ""  # the first column of the line that all others must be like
    if begin > 0:
        first: list[list[str]] = next(_sentences(file, tag_column, max_ratio), [[]])
        width, before = len(first[0]) or None, _lines_before(file, begin)
        opening = first[0][0] if width else ""
    with open_text(str(file), max_ratio) as lines:
        if begin > 0:
            lines.seek(begin)
        place = lines.tell()
        for number, line in enumerate(lines, before + 1):
            if end is not None and place >= end:
                break
            place += len(line)
            text = line.decode("utf-8").rstrip("\r\n")
            if not text.strip():
                if sentence:
                    yield sentence
                sentence = []
                continue
            columns = text.split("\t") if "\t" in text else text.split()
            if width is None:
                width, opening = len(columns), columns[0]
            if len(columns) != width or not -width <= tag_column < width or width < 2:
                raise ValueError(
                    f"{file}, line {number}: has {len(columns)} columns, but {max(width, 2)} are needed, "
                    f"one of which is the tag; put an empty line between sentences"
                    + _about_comments(columns[0], opening)
                )
            sentence.append(columns)
    if sentence:
        yield sentence


def _about_comments(*cells: str) -> str:
    """Say more of a wrong number of columns if one of these first cells may begin a comment."""
    comment = next((cell for cell in cells if cell.startswith("#")), None)
    return "" if comment is None else f", and remove comments: a line begins with {comment!r:.40}"


def _lines_before(file: Path, place: int) -> int:
    with file.open("rb") as text:
        return sum(text.read(min(_CHUNK, place - at)).count(b"\n") for at in range(0, place, _CHUNK))
