"""Whole lines of text, as soon as they have come: what all readers of text begin with."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from perceptron_rs.io.text.compression import MAX_RATIO, n_lines
from perceptron_rs.io.text.decoding import open_text

if TYPE_CHECKING:  # importing it takes longer than reading a small file
    from perceptron_rs.io.tables.delimited import Records

__all__ = [
    "BLOCK",
    "Watcher",
    "check_files",
    "is_pipe",
    "is_read_once",
    "name_of_file",
    "names_of",
    "text_blocks",
    "watched",
    "whole_lines",
]

#: Bytes that are asked for at once, and parsed at once. Of half as many, reading takes half the processor
#: time; a whole run takes the same.
BLOCK = 1 << 20


class Watcher(Protocol):
    """Hears how far reading is."""

    def begin(self) -> None:
        """Note that a file is read from its beginning."""

    def __call__(self, name: str, lines: int, n_bytes: int, share: float | None) -> None:
        """Take the lines and bytes of text so far, and their share of the file, if it is known."""


#: Of this process, because another thread than the one that asked for it may read.
_watchers: list[Watcher] = []


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell this one of all text that is read meanwhile."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def name_of_file(file: object) -> str:
    """Return what messages call a file: the name that it has, or its path."""
    return str(getattr(file, "name", None) or (file if isinstance(file, str) else "the open file"))


def names_of(files: Sequence[object]) -> str:
    """Return what messages call several files."""
    others = len(files) - 1
    more = f" and {others} more file{'s' * (others > 1)}" if others else ""
    return f"{name_of_file(files[0])}{more}"


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
    number, n_bytes = 1, 0
    for watcher in _watchers:
        watcher.begin()
    text: Any
    with open_text(file, max_ratio or MAX_RATIO, name=name_of_file(file), is_checked=is_checked) as text:
        _widen(text)
        is_packed = text.raw.source.packing is not None  # which gives little at once
        for lines in whole_lines(text, size, records=records, at_once=is_pipe(file) or not is_packed):
            yield number, lines
            number += n_lines(lines)
            n_bytes += len(lines)
            _tell(file, text, number - 1, n_bytes)


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
    end of a line.
    """
    read, rest = text.read1 if at_once else text.read, b""
    while n_bytes is None or n_bytes > 0:
        part = read(size if n_bytes is None else min(size, n_bytes))
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
    if records is not None:
        records.check_closed(rest)
    if rest:
        yield rest


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


def _tell(file: Any, text: Any, lines: int, n_bytes: int) -> None:
    """Say how far reading is: of a packed file the share is that of what was unpacked."""
    if not _watchers:
        return
    size = 0 if is_pipe(file) else Path(file).stat().st_size
    for watcher in _watchers:
        watcher(name_of_file(file), lines, n_bytes, min(1.0, text.raw.consumed / size) if size else None)


def _widen(text: Any) -> None:
    """Let a pipe hold more than the usual 64 KB, where the system can: its two ends wait less."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(text.raw.source.packed.file.fileno(), fcntl.F_SETPIPE_SZ, BLOCK)
