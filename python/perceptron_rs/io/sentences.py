"""Columns of tagged sentences: one token a line, an empty line behind each sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from perceptron_rs.common.options.kinds import RATIO
from perceptron_rs.common.options.ranges import check_value
from perceptron_rs.io.conll import ConllParser, Sentence, TokenLayout
from perceptron_rs.io.source import Batch, PathLike, Source, byte_ranges, can_be_read_again, paths_of
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.text.decoding import open_text
from perceptron_rs.io.text.lines import name_of_file, text_blocks, whole_lines

__all__ = ["batched", "open_sentences", "read_sentences", "source_of"]

#: Given the columns of each token of a sentence, without its tag, the attributes of each.
Attributes: TypeAlias = Callable[[list[list[str]]], list[Any]]

_SENTENCES = 1024  # of a batch
_EXPECTED = "it needs, with the tag,"
T = TypeVar("T")
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
        line holds the columns of a token, separated by tabs, or by blanks if the first token of the file has
        no tab. Empty lines end sentences. Lines that are no tokens are left out, as by the command
        ``perceptrons tag-train``: ``-DOCSTART-``; lines that begin with # and have no tab, where tabs
        separate columns; and the comments, words of several tokens and empty nodes of CoNLL-U.
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
        When it is read, if a line has another number of columns than the first, or an empty one, or is not
        UTF-8. The message names the file and the line.
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
    check_value("max_ratio", RATIO, max_ratio)
    files = tuple(map(Path, paths_of(path)))
    again = can_be_read_again(*files)

    def read() -> Iterator[Sentence]:
        found = read_sentences(
            list(map(str, files)), expected=_EXPECTED, least=_least(tag_column), max_ratio=max_ratio
        )
        return chain.from_iterable(found)

    def example(sentence: Sentence) -> tuple[list[Any], list[str]]:
        tags = [columns.pop(tag_column) for columns in sentence.tokens]
        return attributes(sentence.tokens), tags

    return source_of(
        read,
        example,
        cut=partial(_cut_sentences, files, attributes, tag_column),
        files=files if again else (),
        again=again,
        reading=f"sentences, tag_column={tag_column}",
        name=str(files[0]),
    )


def source_of(
    read: Callable[[], Iterable[Sentence]],
    example: Callable[[Sentence], tuple[list[Any], list[str]]],
    **facts: Any,
) -> Source:
    """Return sentences as a source; ``example`` makes attributes and tags of the tokens of each."""

    def batches() -> Iterator[Batch]:
        for part in batched(read()):
            X, y = zip(*map(example, part), strict=True)
            yield Batch(list(X), list(y))

    return Source(batches=batches, **facts)


def read_sentences(
    files: Sequence[object],
    columns: int | None = None,
    expected: str = "the lines before have",
    *,
    least: int = 1,
    keep_lines: bool = False,
    max_ratio: float | None = None,
) -> Iterator[list[Sentence]]:
    """Give sentences as soon as their last lines have come; ValueError with file and line if unsound.

    Parameters
    ----------
    files : sequence of str or binary file
        Read as if they were one.
    columns : int, default=None
        How many columns each line must have; None: as many as the first.
    expected : str
        Who wants so many columns, for the error.
    least : int, default=1
        How many the first must have at least.
    keep_lines : bool, default=False
        Whether to keep the lines themselves, and sentences without a token.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Yields
    ------
    list of Sentence
        All that are complete.
    """
    for file in files:
        layout = TokenLayout(columns=columns)
        parser = ConllParser(name_of_file(file), expected, least=least, keep_lines=keep_lines, layout=layout)
        for _, text in text_blocks(file, max_ratio=max_ratio):
            if done := _of_tokens(parser.read(text), keep_lines):
                yield done
        if done := _of_tokens(parser.end(), keep_lines):
            yield done
        if columns is None and parser.layout.columns is not None:
            columns, expected = parser.layout.columns, "the lines before have"


def _of_tokens(sentences: list[Sentence], keep_lines: bool) -> list[Sentence]:
    return sentences if keep_lines else [sentence for sentence in sentences if sentence.tokens]


def _cut_sentences(
    files: Sequence[Path], attributes: Attributes, tag_column: int, n: int | None
) -> list[Callable[[], Batch]]:
    """Cut files into n ranges of sentences, at the first empty lines behind ranges of bytes."""
    ranges = byte_ranges([str(file) for file in files], n)
    columns = next((found for file in files if (found := _layout(file).columns)), None)
    return [
        partial(
            _read_sentence_ranges,
            [
                (file, _after_empty_line(file, begin), _after_empty_line(file, end))
                for file, begin, end in part
            ],
            attributes,
            tag_column,
            columns,
        )
        for part in ranges
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


def _read_sentence_ranges(
    ranges: list[tuple[str, int, int]], attributes: Attributes, tag_column: int, columns: int | None
) -> Batch:
    """Read the sentences between places in files."""
    parts = (_between(Path(file), tag_column, columns, begin, end) for file, begin, end in ranges)
    tokens = [sentence.tokens for part in parts for sentence in part]
    y = [[columns.pop(tag_column) for columns in sentence] for sentence in tokens]
    return Batch(list(map(attributes, tokens)), y)


def _between(file: Path, tag_column: int, columns: int | None, begin: int, end: int) -> Iterator[Sentence]:
    """Give the sentences between two places of a file that is not compressed."""
    parser = ConllParser(
        str(file),
        "the lines before have" if columns else _EXPECTED,
        least=_least(tag_column),
        layout=replace(_layout(file), columns=columns),
        before=_lines_before(file, begin),
    )
    with open_text(str(file)) as text:
        if begin > 0:
            text.seek(begin)
        for lines in whole_lines(text, _CHUNK, n_bytes=end - text.tell()):
            yield from _of_tokens(parser.read(lines), keep_lines=False)
    yield from _of_tokens(parser.end(), keep_lines=False)


def _least(tag_column: int) -> int:
    """Return how many columns there must be for a tag and a word."""
    return max(2, tag_column + 1 if tag_column >= 0 else -tag_column)


def batched(items: Iterable[T], size: int = _SENTENCES) -> Iterator[list[T]]:
    """Give lists of so many items; the last may be shorter."""
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def _layout(file: Path) -> TokenLayout:
    """Return what the beginning of a file tells of its lines."""
    parser = ConllParser(str(file))
    with open_text(str(file)) as text:
        for line in text:
            parser.read(line)
            if parser.layout.columns is not None:
                break
    return parser.layout


def _lines_before(file: Path, place: int) -> int:
    if place == 0:
        return 0
    with file.open("rb") as text:
        return sum(text.read(min(_CHUNK, place - at)).count(b"\n") for at in range(0, place, _CHUNK))
