"""Columns of tagged sentences: one token a line, an empty line behind each sentence."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from perceptron_rs.arrays.scalars import number
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.conll import ConllParser, Sentence, TokenLayout, columns_read
from perceptron_rs.io.source import Source, byte_ranges, can_be_read_again
from perceptron_rs.io.text.lines import name_of_file, text_blocks, whole_lines
from perceptron_rs.io.text.opening import MAX_RATIO, open_text
from perceptron_rs.io.text.paths import PathLike, paths_of
from perceptron_rs.parameters.kinds import RATIO
from perceptron_rs.parameters.ranges import check_value

#: Given the columns of each token of a sentence that are read, the attributes of each.
Attributes: TypeAlias = Callable[[list[list[str]]], list[Any]]

_SENTENCES = 1024  # of a batch
T = TypeVar("T")
_CHUNK = 1 << 20  # bytes whose lines are counted at once


def open_sentences(
    path: PathLike | Sequence[PathLike],
    *,
    attributes: Attributes,
    tag_column: int | None = None,
    columns: Sequence[int] | None = None,
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
        Returns the attributes of the tokens of a sentence, given the columns of each, such as
        `perceptron_rs.features.column_attributes`.
    tag_column : int, default=None
        Which column is the tag, counted from 1 as by the command, or from the last one by -1, -2, ... None:
        the last one; of CoNLL-U column 4, of universal parts of speech.
    columns : sequence of int, default=None
        Which columns ``attributes`` is given, in this order, counted from 1. None: all before the tag; of
        CoNLL-U column 2, of words.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The sentences.

    Raises
    ------
    ValueError
        If a number of a column is 0, or ``columns`` names one twice. When it is read, if a line has another
        number of columns than the first, or an empty one, names columns, or is not UTF-8. The message names
        the file and the line.
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
    chosen = _Chosen(attributes, tag_column, _numbers(columns))
    files = tuple(map(Path, paths_of(path)))
    again = can_be_read_again(*files)

    def read() -> Iterator[Sentence]:
        return chain.from_iterable(read_sentences(list(map(str, files)), chosen.refuse, max_ratio=max_ratio))

    return source_of(
        read,
        chosen.example,
        cut=partial(_cut_sentences, files, chosen),
        files=files if again else (),
        again=again,
        reading=f"sentences, tag_column={tag_column}, columns={chosen.columns}",
        name=str(files[0]),
    )


def _numbers(columns: Sequence[int] | None) -> tuple[int, ...]:
    is_list = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) > 0
    numbers = () if columns is None else tuple(columns) if is_list else (0,)
    if any((number(column, whole=True) or 0) < 1 for column in numbers):
        raise ValueError(f"columns must be numbers of columns from 1, got {columns!r:.80}")
    if columns is not None and (not numbers or len(set(numbers)) < len(numbers)):
        raise ValueError(f"columns must name one column or more, each once, got {columns!r:.80}")
    return numbers


@dataclass(frozen=True)
class _Chosen:
    """The roles of the columns, and the attributes that are made of them."""

    attributes: Attributes
    tag: int | None
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if not callable(self.attributes):
            raise TypeError(
                f"attributes must be a function of sentences, such as column_attributes of "
                f"perceptron_rs.features, got {self.attributes!r:.80}"
            )
        if self.tag is not None and not number(self.tag, whole=True):
            raise ValueError(
                f"tag_column must be the number of a column from 1, -1 for the last one, or None, got "
                f"{self.tag!r:.80}"
            )

    def refuse(self, width: int) -> str | None:
        """Return how many columns there must be at least, if these are too few."""
        least = max(2, abs(self.tag or 0), *self.columns)
        return f"it needs, with the tag, {least}" if width < least else None

    def example(self, sentence: Sentence) -> tuple[list[Any], list[str]]:
        """Return the attributes of the tokens, and their tags."""
        tag, columns = columns_read(sentence.layout, self.tag, self.columns)
        tokens = [[token[number - 1] for number in columns] for token in sentence.tokens]
        return self.attributes(tokens), [token[tag - 1] for token in sentence.tokens]


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
    refuse: Callable[[int], str | None] | None = None,
    *,
    keep_lines: bool = False,
    one_column: bool = False,
    max_ratio: float | None = None,
) -> Iterator[list[Sentence]]:
    """Give sentences as soon as their last lines have come; ValueError with file and line if unsound.

    Parameters
    ----------
    files : sequence of str or binary file
        Read as if they were one.
    refuse, keep_lines, one_column
        As of `ConllParser`; sentences without a token are given with ``keep_lines`` alone.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Yields
    ------
    list of Sentence
        All that are complete.
    """
    columns = None
    for file in files:
        parser = ConllParser(
            name_of_file(file),
            refuse,
            keep_lines=keep_lines,
            one_column=one_column,
            layout=TokenLayout(columns=columns),
        )
        for _, text in text_blocks(file, max_ratio=max_ratio):
            yield from _complete(parser.read(text), keep_lines)
        yield from _complete(parser.end(), keep_lines)
        columns = columns or parser.layout.columns


def _complete(sentences: Iterator[Sentence], keep_lines: bool) -> Iterator[list[Sentence]]:
    """Give all sentences as one list; an error is raised after those that precede it."""
    done: list[Sentence] = []
    try:
        for sentence in sentences:
            if keep_lines or sentence.tokens:
                done.append(sentence)
    except ValueError:
        if done:
            yield done
        raise
    if done:
        yield done


def _cut_sentences(files: Sequence[Path], chosen: _Chosen, n: int | None) -> list[Callable[[], Batch]]:
    """Cut files into n ranges of sentences, at the first empty lines behind ranges of bytes."""
    ranges = byte_ranges([str(file) for file in files], n)
    layouts = (_layout(file, chosen) for file in files)
    columns = next((layout.columns for layout in layouts if layout.columns), None)
    return [
        partial(
            _read_sentence_ranges,
            [
                (file, _after_empty_line(file, begin), _after_empty_line(file, end))
                for file, begin, end in part
            ],
            chosen,
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


def _read_sentence_ranges(ranges: list[tuple[str, int, int]], chosen: _Chosen, columns: int | None) -> Batch:
    """Read the sentences between places in files."""
    parts = (_between(Path(file), chosen, columns, begin, end) for file, begin, end in ranges)
    examples = [chosen.example(sentence) for part in parts for sentence in part]
    return Batch([tokens for tokens, _ in examples], [tags for _, tags in examples])


def _between(file: Path, chosen: _Chosen, columns: int | None, begin: int, end: int) -> Iterator[Sentence]:
    """Give the sentences between two places of a file that is not compressed."""
    layout = replace(_layout(file, chosen), columns=columns)
    parser = ConllParser(str(file), chosen.refuse, layout=layout, before=_lines_before(file, begin))
    with open_text(str(file)) as text:
        if begin > 0:
            text.seek(begin)
        for lines in whole_lines(text, _CHUNK, n_bytes=end - text.tell()):
            yield from (sentence for sentence in parser.read(lines) if sentence.tokens)
    yield from (sentence for sentence in parser.end() if sentence.tokens)


def batched(items: Iterable[T]) -> Iterator[list[T]]:
    """Give lists of as many items as are read at once; the last may be shorter."""
    rest = iter(items)
    while block := list(islice(rest, _SENTENCES)):
        yield block


def _layout(file: Path, chosen: _Chosen) -> TokenLayout:
    """Return what the beginning of a file tells of its lines."""
    parser = ConllParser(str(file), chosen.refuse)
    with open_text(str(file)) as text:
        for line in text:
            deque(parser.read(line), maxlen=0)
            if parser.layout.columns is not None:
                break
    return parser.layout


def _lines_before(file: Path, place: int) -> int:
    if place == 0:
        return 0
    with file.open("rb") as text:
        return sum(text.read(min(_CHUNK, place - at)).count(b"\n") for at in range(0, place, _CHUNK))
