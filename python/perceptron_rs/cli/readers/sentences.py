"""Files of tokens as columns: one token a line, an empty line behind each sentence, plain or .gz."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.examples import check_file

__all__ = ["STANDARD_INPUT", "Sentence", "sentences"]

#: The columns of each token.
Sentence = list[list[str]]

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def sentences(
    path: str, columns: int | None = None, expected: str = "the lines before have"
) -> Iterator[Sentence]:
    """Give the sentences of a file; raise CommandError, which names it and the line, if it is not sound.

    Parameters
    ----------
    path : str
        The file; "-" is standard input.
    columns : int, default=None
        How many columns each line must have; None: as many as the first.
    expected : str
        Who wants so many columns, for the error.

    Yields
    ------
    list of list of str
        The columns of each token of a sentence.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    if path != STANDARD_INPUT:
        check_file(Path(path))
    with _opened(path) as file:
        sentence: Sentence = []
        tabs: bool | None = None
        lines = iter(file)
        number = 0
        while True:
            try:
                line = next(lines, None)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise CommandError(
                    f"{name}: after line {number}: the compressed file is corrupted: {error}"
                ) from error
            if line is None:
                break
            number += 1
            line = (line.removeprefix(_BOM) if number == 1 else line).rstrip(b"\r\n")
            if not line.strip():
                if sentence:
                    yield sentence
                sentence = []
                continue
            if tabs is None:
                tabs = b"\t" in line
            # The blanks of ASCII alone: a word may hold others.
            cells = line.split(b"\t") if tabs else line.split()
            if columns is None:
                columns = len(cells)
            if len(cells) != columns:
                raise CommandError(
                    f"{name}: line {number} has {len(cells)} columns, but {expected} {columns}; "
                    f"give each token the same number, and put an empty line between sentences"
                )
            try:
                sentence.append([cell.decode("utf-8") for cell in cells])
            except UnicodeDecodeError:
                raise CommandError(f"{name}: line {number} is not UTF-8; convert the file") from None
            if not all(map(str.strip, sentence[-1])):
                empty = next(j for j, cell in enumerate(sentence[-1], 1) if not cell.strip())
                raise CommandError(
                    f"{name}: line {number} has an empty column {empty}; fill it, for instance with _"
                )
        if sentence:
            yield sentence


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise CommandError("standard input: is closed; name a file")
        # A test's or a caller's own object may hold text alone.
        raw = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())
        yield _unpacked(raw)
        return
    with Path(path).open("rb") as file, _unpacked(file) as unpacked:
        yield unpacked


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return the file, or what is packed in it; told by its first bytes, as pipes have no names."""
    buffered = file if hasattr(file, "peek") else io.BufferedReader(cast(io.RawIOBase, file))
    if buffered.peek(2)[:2] != _GZIP:
        return buffered
    return cast(IO[bytes], gzip.GzipFile(fileobj=buffered))
