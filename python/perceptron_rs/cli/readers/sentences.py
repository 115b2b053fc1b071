"""Files of tokens as columns: one token a line, an empty line behind each sentence, plain or .gz.

Lines that are no tokens belong to the sentence that they stand in: comments of CoNLL-U, its ranges of words
and empty nodes, and -DOCSTART- of CoNLL-2003.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.source import (
    STANDARD_INPUT,
    Place,
    check_file,
    files_of,
    name_of,
    text_blocks,
)

__all__ = ["STANDARD_INPUT", "Sentence", "batches", "sentences"]

_DOCSTART = "-DOCSTART-"
_CONLL_U = 10  # columns, separated by tabs
_NO_WORD = re.compile(r"\d+[-.]\d+")  # in the first of them
#: The blanks of ASCII alone: a word may hold others.
_BLANKS = re.compile(rb"[ \t\x0b\x0c\r]+")


@dataclass(slots=True)
class Sentence:
    """The columns of each token; and all lines, with whether each is a token."""

    tokens: list[list[str]] = field(default_factory=list)
    lines: list[tuple[str, bool]] = field(default_factory=list)


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
    """Give sentences as soon as their last lines have come; CommandError with file and line if unsound.

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
        reader = _Reader(name_of(path), columns, expected, least, keep_lines)
        for _, text in text_blocks(path, max_ratio=max_ratio):
            if done := reader.read(text):
                yield done
        if done := reader.end():
            yield done
        columns = reader.columns


class _Reader:
    """Makes sentences of lines, some at a time; the arguments are those of ``batches``."""

    def __init__(self, name: str, columns: int | None, expected: str, least: int, keep_lines: bool) -> None:
        self._name, self.columns, self._expected, self._least = name, columns, expected, least
        self._keep_lines = keep_lines
        self._tabs: bool | None = None
        self._waiting = b""  # until a line tells whether tabs separate columns
        self._number = 0
        self._first = ""  # the first column of the line that all others must be like
        self._sentence = Sentence()

    def read(self, text: bytes) -> list[Sentence]:
        """Return the sentences that end in these lines."""
        if self._tabs is None:
            self._waiting += text
            # A line that begins with # may be a comment, and tells nothing.
            first = re.search(rb"^(?!#)[^\n]*[^\s][^\n]*$", self._waiting, re.MULTILINE)
            if first is None:
                return []
            self._tabs = b"\t" in first[0].strip(b"\r\n")
            text, self._waiting = self._waiting, b""
        done = []
        for line in text.removesuffix(b"\n").split(b"\n"):
            self._number += 1
            if line.strip():
                self._add(line.rstrip(b"\r"))
            elif self._sentence.tokens or self._sentence.lines:
                done.append(self._sentence)
                self._sentence = Sentence()
        return done

    def end(self) -> list[Sentence]:
        """Return the sentence that no empty line has ended."""
        if self._tabs is None and self._waiting.strip():
            self._tabs = False
            return self.read(self._waiting + b"\n\n")
        last = self._sentence
        return [last] if last.tokens or last.lines else []

    def _add(self, line: bytes) -> None:
        cells = line.split(b"\t") if self._tabs else _BLANKS.split(line.strip(b" \t\x0b\x0c"))
        try:
            text = line.decode("utf-8")
            token = [cell.decode("utf-8") for cell in cells]
        except UnicodeDecodeError:
            raise CommandError(f"{self._name}: line {self._number} is not UTF-8; convert the file") from None
        is_token = not self._is_other(token)
        if is_token:
            self._check(token)
            self._sentence.tokens.append(token)
        if self._keep_lines:
            self._sentence.lines.append((text, is_token))

    def _is_other(self, token: list[str]) -> bool:
        """Whether a line is no token: a comment has no tab, where tabs separate columns."""
        if token[0] == _DOCSTART:
            return True
        if not self._tabs:
            return False
        if len(token) == 1 and token[0].startswith("#") and self.columns != 1:
            return True
        return len(token) == _CONLL_U and _NO_WORD.fullmatch(token[0]) is not None

    def _check(self, token: list[str]) -> None:
        place = f"{self._name}: line {self._number}"
        if self.columns is None:
            self.columns, self._first = len(token), token[0]
            if len(token) < self._least:
                raise CommandError(
                    f"{place} has {len(token)} columns, but {self._expected} {self._least}"
                    f"{about_comments(token[0])}"
                )
        if len(token) != self.columns:
            raise CommandError(
                f"{place} has {len(token)} columns, but {self._expected} {self.columns}; "
                f"give each token the same number, and put an empty line between sentences"
                f"{about_comments(token[0], self._first)}"
            )
        if not all(map(str.strip, token)):
            empty = next(j for j, cell in enumerate(token, 1) if not cell.strip())
            raise CommandError(f"{place} has an empty column {empty}; fill it, for instance with _")


def about_comments(*cells: str) -> str:
    """Say more of a wrong number of columns if one of these first cells may begin a comment."""
    comment = next((cell for cell in cells if cell.startswith("#")), None)
    if comment is None:
        return ""
    return (
        f"; if the line that begins with {comment!r:.40} is a comment, remove it, or separate columns by "
        f"tabs: then a line that begins with # and has no tab is one"
    )
