"""Columns of tagged sentences: one token a line, an empty line behind each sentence."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from perceptron_rs.io.source import Batch, PathLike, Source, paths_of
from perceptron_rs.packed import MAX_RATIO, check_ratio, unpacked

__all__ = ["open_sentences"]

#: Given the columns of each token of a sentence, without its tag, the attributes of each.
Attributes: TypeAlias = Callable[[list[list[str]]], list[Any]]

_SENTENCES = 1024  # of a batch


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
        batches=batches, files=files, reading=f"sentences, tag_column={tag_column}", name=str(files[0])
    )


def _sentences(file: Path, tag_column: int, max_ratio: float) -> Iterator[list[list[str]]]:
    """Give the columns of the tokens of each sentence."""
    sentence: list[list[str]] = []
    width, number = None, 0  # of columns; of the last line that was read
    try:
        with unpacked(str(file), max_ratio) if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if not text.strip():
                    if sentence:
                        yield sentence
                    sentence = []
                    continue
                columns = text.split("\t") if "\t" in text else text.split()
                width = len(columns) if width is None else width
                if len(columns) != width or not -width <= tag_column < width or width < 2:
                    raise ValueError(
                        f"{file}, line {number}: has {len(columns)} columns, but {max(width, 2)} are needed, "
                        f"one of which is the tag; put an empty line between sentences"
                    )
                sentence.append(columns)
    except UnicodeDecodeError:
        raise ValueError(f"{file}, line {number}: is not UTF-8; convert the file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{file}, after line {number}: the compressed file is damaged: {error}") from None
    if sentence:
        yield sentence
