"""What becomes of a file: a command that learns from it, and another file that is written before."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple, TextIO

from perceptron_rs.io.text.paths import PACKED

#: So many bytes are looked at; of long lines so many, and so many bytes at most.
HEAD_BYTES, _LOOKED_LINES, MOST = 1 << 18, 100, 1 << 24
LINES = 1000  # or rows, at most
#: Larger documents, which must be read whole, are not looked at.
_DOCUMENT = 1 << 26


class Form(NamedTuple):
    """A command that learns from a file, its options, and what writes the file that it reads."""

    options: Sequence[str]
    command: str = "train"
    ending: str = ""  # of the file that is written; without one, the command reads the file as it is
    write: Callable[[TextIO], object] | None = None
    program: str = ""  # of Python, which writes it instead
    is_short: bool = False  # so that nothing follows for the options
    note: str = ""  # what becomes of the labels, which follows from this file
    is_by_hand: bool = False  # somebody must write labels into that file, before the command


def made(parts: Callable[[], Iterable[str]], ending: str, *options: str, **more: Any) -> Form:
    """Learn from a text, which is written part by part."""
    return Form(options, ending=ending, write=lambda out: out.writelines(parts()), **more)


def as_csv(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return the lines of a table with commas."""
    return map(csv.writer(SimpleNamespace(write=str), lineterminator="\n").writerow, rows)


def parted(name: str) -> str:
    """Return the note on numbers that become classes."""
    return f"this is a classifier: the numbers of {name} become two classes"


def unused(name: str) -> str:
    """Return a name that no file has yet: a file that is there is somebody's, perhaps the one to read."""
    path = Path(name)
    names = (name if number == 1 else f"{path.stem}.{number}{path.suffix}" for number in count(1))
    return next(one for one in names if not Path(one).exists())


class Text:
    """The first lines of a text file, and a way to read all of it.

    Parameters
    ----------
    name : str
        Its suffix names the format, but for one of a compressed file.
    opened : callable
        Opens all of it, as bytes.
    is_ours : bool
        Whether the commands open it, too.
    """

    def __init__(self, name: str, opened: Callable[[], Any], *, is_ours: bool = False) -> None:
        suffixes = [part for part in Path(name).suffixes if part not in PACKED]
        self.suffix = suffixes[-1] if suffixes else ""
        self.opened = opened
        with io.BufferedReader(opened()) as file:
            data = _beginning(file)
        self.encoding = _encoding(data)
        self.is_ours = is_ours and self.encoding == "utf-8-sig"
        #: What is looked at, and its lines.
        self.begin = "" if self.encoding is None else data.decode(self.encoding, errors="ignore")
        lines = self.begin.splitlines()[:LINES]
        if len(data) >= HEAD_BYTES and len(lines) < LINES:
            lines.pop()
        self.lines = [line.rstrip("\r") for line in lines]
        self.full = [line for line in self.lines if line.strip()]

    def whole(self) -> Iterator[str]:
        """Return all lines, with their ends."""
        with io.TextIOWrapper(io.BufferedReader(self.opened()), self.encoding, newline="") as file:
            yield from file

    def document(self) -> str:
        """Return all of a file that must be read whole to be known; ValueError for a large one."""
        with io.BufferedReader(self.opened()) as file:
            data = file.read(_DOCUMENT + 1)
        if len(data) > _DOCUMENT:
            raise ValueError("is too large to be looked at")
        return data.decode(self.encoding or "utf-8")

    def learnt(self, *options: str, **more: Any) -> Form:
        """Learn from it as it is; a file that the commands cannot open is written plainly."""
        if self.is_ours:
            return Form(options, **more)
        return made(self.whole, f".new{self.suffix}", *options, **more)

    def rewritten(self, change: Callable[[str], str], ending: str, *options: str, **more: Any) -> Form:
        """Learn from it with each line changed."""
        parts = lambda: (change(line.rstrip("\r\n")) + "\n" for line in self.whole())  # noqa: E731
        return made(parts, ending, *options, **more)


def _beginning(file: IO[bytes]) -> bytes:
    """Return the first bytes of a file: of long lines more, but not all."""
    data = file.read(HEAD_BYTES)
    while len(data) < MOST and data.count(b"\n") < _LOOKED_LINES and (more := file.read(HEAD_BYTES)):
        data += more
    return data


def _encoding(data: bytes) -> str | None:
    """Return the encoding of a text; None of what is none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in data:
        for order, first in (("le", 1), ("be", 0)):  # of UTF-16 without a mark, each second byte is one
            if 4 * data[first::2].count(0) > len(data) and 0 not in data[1 - first :: 2]:
                return f"utf-16-{order}"
        return None
    if re.search(rb"[\x01-\x08\x0e-\x1a]", data) or data.startswith(b"%PDF"):
        return None
    for cut in range(4):  # the last character may be cut
        with suppress(UnicodeDecodeError):
            data[: len(data) - cut].decode("utf-8")
            return "utf-8-sig"
    return "cp1252"
