"""Files of tokens as columns: one token a line, an empty line behind each sentence, plain or compressed."""

from __future__ import annotations

from collections.abc import Iterator

from perceptron_rs.cli.readers.source import (
    STANDARD_INPUT,
    Place,
    check_file,
    files_of,
    name_of,
    text_blocks,
)
from perceptron_rs.io.conll import ConllParser, Layout, Sentence

__all__ = ["STANDARD_INPUT", "Sentence", "batches", "sentences"]


def sentences(
    place: Place,
    columns: int | None = None,
    expected: str = "the lines before have",
    *,
    least: int = 1,
    max_ratio: float | None = None,
) -> Iterator[Sentence]:
    """Give the sentences of a file that have tokens; the others of ``batches`` are left out."""
    for batch in batches(place, columns, expected, least=least, keep_lines=False, max_ratio=max_ratio):
        yield from (sentence for sentence in batch if sentence.tokens)


def batches(
    place: Place,
    columns: int | None = None,
    expected: str = "the lines before have",
    *,
    least: int = 1,
    keep_lines: bool = True,
    max_ratio: float | None = None,
) -> Iterator[list[Sentence]]:
    """Give sentences as soon as their last lines have come; ValueError with file and line if unsound.

    Parameters
    ----------
    place : str or tuple of str
        The file, or several; "-" is standard input.
    columns : int, default=None
        How many columns each line must have; None: as many as the first.
    expected : str
        Who wants so many columns, for the error.
    least : int, default=1
        How many the first must have at least.
    keep_lines : bool, default=True
        Whether to keep the lines themselves.
    max_ratio : float, default=None
        How many times its size a compressed file may unpack to; None: the default of all readers.

    Yields
    ------
    list of Sentence
        All that are complete.
    """
    check_file(place)
    for path in files_of(place):
        layout = Layout(columns=columns)
        parser = ConllParser(name_of(path), expected, least=least, keep_lines=keep_lines, layout=layout)
        for _, text in text_blocks(path, max_ratio=max_ratio):
            if done := parser.read(text):
                yield done
        if done := parser.end():
            yield done
        columns = parser.layout.columns
