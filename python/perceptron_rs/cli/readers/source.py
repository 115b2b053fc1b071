"""Bytes from a file or from standard input, also compressed: whole lines, as soon as they come."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias

from perceptron_rs.cli.errors import CommandError, UsageError
from perceptron_rs.packed import MAX_RATIO, n_lines, unpacked
from perceptron_rs.paths import paths_of
from perceptron_rs.text import open_text

if TYPE_CHECKING:  # importing it takes longer than reading a small file
    from perceptron_rs.io.delimited import Records

__all__ = [
    "BLOCK",
    "STANDARD_INPUT",
    "Place",
    "check_file",
    "data_of",
    "files_of",
    "is_pipe",
    "is_read_once",
    "kept",
    "name_of",
    "opened",
    "opened_text",
    "text_blocks",
    "watched",
]

STANDARD_INPUT = "-"
#: Where DATA is: a file, "-", or several files, which are read as if they were one.
Place: TypeAlias = str | tuple[str, ...]
#: Bytes that are asked for at once.
BLOCK = 1 << 20


def data_of(words: Sequence[str]) -> Place:
    """Return what the words of DATA name: standard input, a file, or the files of all of them."""
    if list(words) == [STANDARD_INPUT]:
        return STANDARD_INPUT
    if STANDARD_INPUT in words:
        raise UsageError(
            "standard input (-) cannot be one of several files; name the files, or pipe them all"
        )
    found = paths_of(words)
    return found[0] if len(found) == 1 else tuple(found)


def files_of(place: Place) -> tuple[str, ...]:
    """Return the files, one after another; "-" is standard input."""
    return place if isinstance(place, tuple) else (place,)


def name_of(place: Place) -> str:
    """Return what messages call it."""
    if not isinstance(place, tuple):
        return "standard input" if place == STANDARD_INPUT else place
    if len(place) == 1:
        return name_of(place[0])
    others = len(place) - 1
    return f"{place[0]} and {others} more file{'s' * (others > 1)}"


def is_read_once(place: Place) -> bool:
    """Whether it cannot be read again, as standard input and named pipes that are not kept."""
    return any(is_pipe(path) and path not in _copies for path in files_of(place))


def is_pipe(path: str) -> bool:
    """Whether it is standard input or a named pipe."""
    return path == STANDARD_INPUT or _is_pipe(Path(path))


#: Where a copy is of what could be read once only; of this process, as another thread may read.
_copies: dict[str, Path] = {}


@contextmanager
def kept(place: Place, beside: Path) -> Iterator[None]:
    """Copy what can be read once only to files, meanwhile, in the folder of another one."""
    with TemporaryDirectory(prefix=f".{beside.name}-", dir=beside.parent) as folder:
        paths = [path for path in files_of(place) if is_pipe(path)]
        try:
            for number, path in enumerate(paths):
                copy = Path(folder) / str(number)
                with copy.open("wb") as out, _opened_as_it_is(path) as file:
                    while part := getattr(file, "read1", file.read)(BLOCK):
                        out.write(part)
                _copies[path] = copy
            yield
        finally:
            for path in paths:
                _copies.pop(path, None)


@contextmanager
def _opened_as_it_is(path: str) -> Iterator[Any]:
    if path == STANDARD_INPUT:
        yield _file(path)
        return
    with Path(path).open("rb") as file:
        yield file


def _is_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def check_file(place: Place) -> None:
    """Raise unless there is a file that can be read and has anything in it; each, if there are several."""
    for path in files_of(place):
        if is_pipe(path):  # the beginning of a pipe can be read once only
            continue
        with Path(path).open("rb") as opened:
            if not opened.read(1):
                raise CommandError(f"{path}: the file is empty")


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


def _tell(path: str, file: Any, lines: int, n_bytes: int) -> None:
    """Say how far reading is: of a packed file the share is that of what was unpacked."""
    if not _watchers:
        return
    size = 0 if is_pipe(path) else Path(path).stat().st_size
    for watcher in _watchers:
        watcher(name_of(path), lines, n_bytes, min(1.0, file.raw.consumed / size) if size else None)


@contextmanager
def opened(path: str, max_ratio: float | None = None) -> Iterator[IO[bytes]]:
    """Open a file or standard input, and unpack what is packed in it.

    Reading raises ValueError if that is more than ``max_ratio`` times as much; None stands for the default.
    """
    with io.BufferedReader(unpacked(_file(path), max_ratio or MAX_RATIO, name=name_of(path))) as file:
        yield file


def opened_text(path: str, max_ratio: float | None = None, *, is_checked: bool = True) -> io.BufferedReader:
    """Open text as all readers do; the arguments are those of ``open_text``."""
    file = open_text(_file(path), max_ratio or MAX_RATIO, name=name_of(path), is_checked=is_checked)
    _widen(file)
    return file


def _file(path: str) -> Any:
    if path in _copies:
        return _copies[path]
    if path != STANDARD_INPUT:
        return path
    if sys.stdin is None:
        raise CommandError("standard input: is closed; name a file")
    # A test's or a caller's own object may hold text alone.
    return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())


def text_blocks(
    path: str,
    size: int = BLOCK,
    *,
    max_ratio: float | None = None,
    is_checked: bool = True,
    records: Records | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Give whole lines, as many as have come, and the number of the first of them, from 1.

    With ``records``, whole records: lines may end within quotes.

    A reader that waits for an answer before it sends more gets it: nothing is waited for but the end of a
    line.
    """
    number, rest, n_bytes = 1, b"", 0
    for watcher in _watchers:
        watcher.begin()
    with opened_text(path, max_ratio, is_checked=is_checked) as file:
        while True:
            part = file.read1(size)
            end = part.rfind(b"\n") + 1
            if not part:
                text, rest = rest, b""
                if records is not None:
                    records.check_closed(text)
            elif records is not None:
                rest += part
                end = records.end(rest)
                text, rest = rest[:end], rest[end:]
            elif end:
                text, rest = b"".join((rest, memoryview(part)[:end])), part[end:]
            else:
                text, rest = b"", rest + part
            n_bytes += len(part)
            if text:
                yield number, text
                number += n_lines(text)
                _tell(path, file, number - 1, n_bytes)
            if not part:
                return


def _widen(file: Any) -> None:
    """Let a pipe hold more than the usual 64 KB, where the system can: its two ends wait less."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(file.raw.source.packed.file.fileno(), fcntl.F_SETPIPE_SZ, BLOCK)
