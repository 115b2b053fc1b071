"""Bytes from a file or from standard input, also compressed: whole lines, as soon as they come."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeAlias

from perceptron_rs.cli.errors import CommandError, UsageError
from perceptron_rs.packed import MAX_RATIO, unpacked
from perceptron_rs.paths import paths_of

__all__ = [
    "STANDARD_INPUT",
    "Place",
    "check_file",
    "data_of",
    "file_of",
    "files_of",
    "is_pipe",
    "is_read_once",
    "kept",
    "name_of",
    "opened",
]

STANDARD_INPUT = "-"
_BLOCK = 1 << 20
#: Where DATA is: a file, "-", or several files, which are read as if they were one.
Place: TypeAlias = str | tuple[str, ...]


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
                    while part := getattr(file, "read1", file.read)(_BLOCK):
                        out.write(part)
                _copies[path] = copy
            yield
        finally:
            for path in paths:
                _copies.pop(path, None)


@contextmanager
def _opened_as_it_is(path: str) -> Iterator[Any]:
    if path == STANDARD_INPUT:
        yield file_of(path)
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


class _StandardInput:
    """Standard input under the name that messages call it by."""

    name = name_of(STANDARD_INPUT)

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._file, attribute)


class _Copy(str):
    """The path of a copy, under the name of what was copied."""

    name: str


def file_of(path: str) -> Any:
    """Return a file as readers take it: its name, or what is open."""
    if path in _copies:
        copy = _Copy(_copies[path])
        copy.name = name_of(path)
        return copy
    if path != STANDARD_INPUT:
        return path
    if sys.stdin is None:
        raise CommandError("standard input: is closed; name a file")
    # A test's or a caller's own object may hold text alone.
    return _StandardInput(getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode()))


@contextmanager
def opened(path: str, max_ratio: float | None = None) -> Iterator[IO[bytes]]:
    """Open a file or standard input, and unpack what is packed in it.

    Reading raises ValueError if that is more than ``max_ratio`` times as much; None stands for the default.
    """
    file = unpacked(file_of(path), max_ratio or MAX_RATIO, name=name_of(path))
    with io.BufferedReader(file) as found:
        yield found
