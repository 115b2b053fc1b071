"""Whole lines of text, as soon as they have come: what all readers of text begin with."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import OptionsError
from perceptron_rs.io.text.opening import MAX_RATIO, DamageError, n_lines, open_text

T = TypeVar("T")
U = TypeVar("U")

#: Bytes that are asked for at once, and parsed at once. Of half as many, reading takes half the processor
#: time; a whole run takes the same.
BLOCK = 1 << 20


#: A quoted cell may be so long; beyond, its quote is taken for one that is never closed.
_LONGEST = 1 << 24

#: What the first line of a file calls its columns.
_NAMES = frozenset(
    """
    category chunk class comment content deprel deps document entity feats form head id iob label labels
    lemma message misc ner ner_tag ner_tags phrase pos pos_tag pos_tags review sent_id sentence sentence_id
    sentiment tag tags target text texts token token_id tokens topic tweet upos word words xpos
    """.split()  # noqa: SIM905  a list of so many strings has as many quotes
)


def name_of_file(file: object) -> str:
    """Return what messages call a file: the name that it has, or its path."""
    name = getattr(file, "name", None) or file  # of a pipe it is a number
    return str(name) if isinstance(name, str | bytes | os.PathLike) else "the open file"


def names_of(files: Sequence[object]) -> str:
    """Return what messages call several files."""
    others = len(files) - 1
    more = f" and {others} more file{'s' * (others > 1)}" if others else ""
    return f"{name_of_file(files[0])}{more}"


class Records:
    """Cuts text between records: a line may end within quotes.

    Parameters
    ----------
    name : str
        What errors call the text.
    delimiter : str
        Character between two cells.
    """

    def __init__(self, name: str, delimiter: str) -> None:
        self._name = name
        self._borders = np.frombuffer(delimiter.encode() + b"\r\n", dtype=np.uint8)
        mark = re.escape(delimiter.encode())
        # A quote within a cell that does not begin with one is a character like others.
        self._quoted = re.compile(rb"(?:\A|(?<=[\r\n]|" + mark + rb'))"[^"]*(?:""[^"]*)*("?)')

    def end(self, text: bytes) -> int:
        """Return where the last whole record of a text ends, 0 if none is whole; the text begins with one.

        Raises
        ------
        ValueError
            If a quoted cell is so long that its quote must be a slip.
        """
        end, is_open = self._scanned(text)
        if is_open and len(text) - end > _LONGEST:
            raise ValueError(
                f"{self._name}: {_beginning(text[end:])} opens a quote that is not closed within "
                f"{_LONGEST >> 20} MB"
            )
        return end

    def ends(self, text: bytes) -> list[int]:
        """Return where each record of a text ends, also the last one, which may lack its line end."""
        begins, ends, _ = self._cells(text)
        lines = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
        before = np.searchsorted(begins, lines, side="right")
        cuts = (lines[lines >= np.append(0, ends)[before]] + 1).tolist()
        return cuts if not text or cuts[-1:] == [len(text)] else [*cuts, len(text)]

    def check_closed(self, text: bytes) -> None:
        """Raise ValueError if a text, the last one of a file, ends within quotes."""
        end, is_open = self._scanned(text + b"\n")
        if is_open:
            raise ValueError(f"{self._name}: {_beginning(text[end:])} opens a quote that is never closed")

    def _scanned(self, text: bytes) -> tuple[int, bool]:
        """Return the end of the last whole record, and whether what follows has an open quote."""
        newline = b"\n" if b"\n" in text else b"\r"  # of files with the line ends of old Macintoshes
        begins, ends, is_open = self._cells(text)
        last = len(text) - (newline == b"\r")  # which may be half of "\r\n"
        n = len(ends)
        if n and ends[-1] == len(text):  # the quote may be the first of two
            n, last = n - 1, int(begins[-1])
        while (place := text.rfind(newline, int(ends[n - 1]) if n else 0, last)) < 0 < n:
            n, last = n - 1, int(begins[n - 1])
        return place + 1, is_open

    def _cells(self, text: bytes) -> tuple[NDArray[np.intp], NDArray[np.intp], bool]:
        """Return where cells in quotes begin and end, and whether the last one, up to the end, is open."""
        letters = np.frombuffer(text, dtype=np.uint8)
        quotes = np.flatnonzero(letters == ord('"'))
        # Most often two belong together, and a quote right behind them goes on with their cell.
        begins, ends = quotes[::2], quotes[1::2] + 1
        is_open = len(begins) > len(ends)
        ends = np.append(ends, len(text)) if is_open else ends
        is_other = begins[1:] != ends[:-1]
        begins, ends = begins[np.append(begins[:1] >= 0, is_other)], ends[np.append(is_other, ends[:1] >= 0)]
        before = letters[begins[begins > 0] - 1, np.newaxis]  # `isin` would import masked arrays
        if not (before == self._borders).any(axis=1).all():  # some are in the midst of cells
            cells = [(*cell.span(), not cell[1]) for cell in self._quoted.finditer(text)]
            begins, ends, are_open = np.array(cells, dtype=np.intp).reshape(-1, 3).T
            is_open = bool(are_open[-1:].any())
        return begins, ends, is_open


def _beginning(text: bytes) -> str:
    """Say where an open quote is, as somebody can find it."""
    return f"the record that begins {text[:60].decode(errors='replace')!r}"


def text_blocks(
    file: Any,
    size: int = BLOCK,
    *,
    max_ratio: float | None = None,
    is_checked: bool = True,
    records: Records | None = None,
) -> Generator[tuple[int, bytes]]:
    """Give whole lines of a file, and the number of the first of them, from 1.

    With ``records``, whole records: lines may end within quotes. Of a pipe, as many as have come: a program
    that waits for an answer before it sends more gets it.
    """
    number = 1
    text: Any
    with open_text(file, max_ratio or MAX_RATIO, name=name_of_file(file), is_checked=is_checked) as text:
        _widen(text)
        is_packed = text.raw.source.packing is not None  # which gives little at once
        for lines in whole_lines(text, size, records=records, at_once=is_pipe(file) or not is_packed):
            yield number, lines
            number += n_lines(lines)


def whole_lines(
    text: Any,
    size: int = BLOCK,
    *,
    records: Records | None = None,
    n_bytes: int | None = None,
    at_once: bool = False,
) -> Iterator[bytes]:
    """Give whole lines, or records, of a text that is open.

    With ``n_bytes``, those that begin within so many bytes. With ``at_once`` nothing is waited for but the
    end of a line. What cannot be read raises an error behind the lines before it.
    """
    rest, failed = b"", None
    while failed is None and (n_bytes is None or n_bytes > 0):
        part, failed = _read(text, size if n_bytes is None else min(size, n_bytes), at_once)
        if n_bytes is not None:
            n_bytes -= len(part)
            if n_bytes == 0 and not part.endswith(b"\n"):
                part += text.readline()
        if not part:
            break
        if records is not None:
            rest += part
            end = records.end(rest)
            lines, rest = rest[:end], rest[end:]
        elif end := part.rfind(b"\n") + 1:
            lines, rest = b"".join((rest, memoryview(part)[:end])), part[end:]
        else:
            lines, rest = b"", rest + part
        if lines:
            yield lines
    if failed is not None:
        raise failed
    if records is not None:
        records.check_closed(rest)
    if rest:
        yield rest


def _read(text: Any, size: int, at_once: bool) -> tuple[bytes, Exception | None]:
    """Return that many bytes, or fewer if no more have come; and the error that ends the text, if any."""
    parts: list[bytes] = []
    while size > 0:
        try:
            part = text.read1(size)
        except DamageError:
            raise
        except (ValueError, OSError) as error:
            return b"".join(parts), error
        parts.append(part)
        size = 0 if at_once or not part else size - len(part)
    return b"".join(parts), None


def readable(
    item: T, read: Callable[[T], U], halves: Callable[[T], Sequence[T]], bad: Callable[[ValueError, T], None]
) -> Iterator[U]:
    """Give what is read of an item: of all of it or, if that cannot be, of its halves.

    ``bad`` is told of each part that has none, when what stands before it has been given.
    """
    try:
        result = read(item)
    except OptionsError:
        raise
    except ValueError as error:
        parts = halves(item)
        if len(parts) < 2:
            bad(error, item)
            return
    else:
        yield result
        parts = ()
    for part in parts:
        yield from readable(part, read, halves, bad)


def line_pieces(
    first: int, text: bytes, most: int | None = None, records: Records | None = None
) -> list[tuple[int, bytes]]:
    """Cut whole lines, or records, behind so many of them, or in half; no single one is cut.

    ``first`` is the number of the first line.
    """
    if most is not None and text.count(b"\n") < most:
        return [(first, text)]
    ends = [end.end() for end in re.finditer(rb"\n|.\Z", text, re.DOTALL)]
    ends = ends if records is None else records.ends(text)
    most = most or (len(ends) + 1) // 2
    at = [0, *ends[most - 1 : -1 : most], len(text)]
    return [(first + text.count(b"\n", 0, a), text[a:b]) for a, b in pairwise(at)]


def is_pipe(file: object) -> bool:
    """Whether a file may have more to come: a named pipe, or one that is open."""
    return not isinstance(file, str | os.PathLike) or not Path(file).is_file()


def is_read_once(files: Sequence[object]) -> bool:
    """Whether one of them cannot be read again: a named pipe, or a file that is open."""
    return any(
        not isinstance(file, str | os.PathLike)
        or (Path(file).exists() and not Path(file).is_file() and not Path(file).is_dir())
        for file in files
    )


def check_files(files: Sequence[Any]) -> None:
    """Raise unless all files can be read, and one has anything in it; of a pipe nobody knows yet."""
    empty = []
    for file in files:
        if not is_read_once([file]):
            with Path(file).open("rb") as opened:
                empty += [] if opened.read(1) else [file]
    if files and len(empty) == len(files):
        what = "the file is empty" if len(files) == 1 else "all files are empty"
        raise ValueError(f"{names_of(files)}: {what}")


def _widen(text: Any) -> None:
    """Let a pipe hold more than the usual 64 KB, where the system can: its two ends wait less."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(text.raw.source.packed.file.fileno(), fcntl.F_SETPIPE_SZ, BLOCK)


def refuse_names(cells: Sequence[str], place: str, number: int) -> None:
    """Raise ValueError if the first line of a file without a header, at this number, names its columns."""
    if len(cells) > 1 and all(cell.strip().lower() in _NAMES for cell in cells):
        raise ValueError(
            f"{place} holds the names of columns, {', '.join(map(repr, cells))}, and no example; remove it, "
            f"for instance by tail -n +{number + 1}"
        )
