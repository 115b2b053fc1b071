"""Files and pipes as every reader opens them: unpacked, and no more than is plausible; text in UTF-8.

What a file is compressed by is told by its first bytes, as pipes have no names.
"""

from __future__ import annotations

import codecs
import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.text.paths import PACKED, PathLike

#: How many times its size a file may unpack to, unless somebody says otherwise.
MAX_RATIO = 250.0
_SMALL = 1 << 24  # so much may be packed as tightly as it likes
_BUFFER = 1 << 17
_NEWLINE = 10


@dataclass(frozen=True, slots=True)
class Packing:
    """A way to compress files: what they begin with, and the module that reads them."""

    name: str
    suffix: str
    begin: bytes
    module: str


_GZ, _BZ2, _XZ = PACKED
PACKINGS = (
    Packing("gzip", _GZ, b"\x1f\x8b", "gzip"),
    Packing("bzip2", _BZ2, b"BZh", "bz2"),
    Packing("xz", _XZ, b"\xfd7zXZ\0", "lzma"),
)


def first_bytes(read: Callable[[int], bytes | None], marks: tuple[bytes, ...]) -> bytes:
    """Return the first bytes of a file: of a pipe no more than has come, unless they may become a mark."""
    begin = read(_BUFFER) or b""
    while any(len(begin) < len(mark) and mark.startswith(begin) for mark in marks):
        more = read(_BUFFER)
        if not more:
            break
        begin += more
    return begin


def decompressed(
    file: PathLike | IO[bytes], max_ratio: float = MAX_RATIO, *, name: str | None = None
) -> Unpacked:
    """Return what is in a file, compressed or not, of which what has come is given at once, as of a pipe.

    Reading it raises ValueError, which names the file, if it is damaged or more than ``max_ratio`` allows. A
    file that is given by its path is closed with it; ``name`` is what errors call another one.
    """
    opened: Any = file
    if is_path := isinstance(file, (str, os.PathLike)):
        opened = Path(file).open("rb")  # noqa: SIM115  closed with the text
    try:
        return Unpacked(opened, str(file) if name is None else name, max_ratio, owns=is_path)
    except BaseException:
        if is_path:
            opened.close()
        raise


def n_lines(text: bytes) -> int:
    """Return how many lines end in the text: ``bytes.count`` takes four times as long."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE))


class _Counted(io.RawIOBase):
    """A file whose first bytes are looked at; counts those that are taken from it."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name, self.count = file, name, 0
        self.begin = first_bytes(self.read_some, tuple(packing.begin for packing in PACKINGS))

    def read_some(self, n: int) -> bytes:
        """Return so many bytes, or what has come; an error names the file."""
        try:
            data: bytes = getattr(self.file, "read1", self.file.read)(n)
        except OSError as error:
            if error.filename is None and error.errno is not None:
                error.filename = self.name
            raise
        return data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.begin[: len(buffer)] if self.begin else self.read_some(len(buffer))
        self.begin = self.begin[len(data) :]
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


class Unpacked(io.RawIOBase):
    """The bytes of a file, unpacked and looked at on their way."""

    #: Nothing to close, until the file has been looked at: one that could not be made is closed, too.
    packing: Packing | None = None
    owns = False

    def __init__(self, file: IO[bytes], name: str, max_ratio: float, *, owns: bool) -> None:
        self.name, self.max_ratio = name, max_ratio
        self.packed = _Counted(file, name)
        begin = self.packed.begin
        packing = next((packing for packing in PACKINGS if begin.startswith(packing.begin)), None)
        self.count = 0  # where it stands
        if packing is None:
            if file.seekable():
                self.count = file.tell() - len(begin)
            named = next((other for other in PACKINGS if name.lower().endswith(other.suffix)), None)
            if named is not None:
                if named.begin.startswith(begin):
                    raise ValueError(_cut_off(name, named))
                raise _damage(name, named)
            self.file: Any = self.packed
            self.read_some: Any = self.packed.read
        else:
            self.file = import_module(packing.module).open(self.packed)
            self.read_some = self.file.read1
        self.packing, self.owns = packing, owns

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as bytes have come, and return how many; ArgumentError for a bomb."""
        if self.packing is None:
            n = self.packed.readinto(buffer)
            self.count += n
            return n
        data = self._unpack(len(buffer), self.packing)
        buffer[: len(data)] = data
        self.count += len(data)
        if self.count > _SMALL + self.max_ratio * self.packed.count:
            raise ArgumentError(
                f"unpacks to more than {self.max_ratio:g} times its size",
                f"if you know that it is no {self.packing.name} bomb, raise {{max_ratio}} or unpack it",
                place=f"{self.name}: ",
            )
        return len(data)

    def _unpack(self, n: int, packing: Packing) -> bytes:
        try:
            data: bytes = self.read_some(n)
        except EOFError:
            raise ValueError(_cut_off(self.name, packing)) from None
        except zlib.error:
            raise _damage(self.name, packing) from None
        except OSError as error:
            if error.errno is not None:  # of the disk, and not of what is on it
                raise
            raise _damage(self.name, packing) from None
        except Exception as error:
            if type(error).__name__ != "LZMAError":  # lzma is imported where it is needed
                raise
            raise _damage(self.name, packing) from None
        return data

    def seekable(self) -> bool:
        """Whether `seek` goes forwards, at least: yes."""
        return True

    def tell(self) -> int:
        """Return where it stands among the unpacked bytes."""
        return self.count

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place; of what is compressed only forwards: what lies between is read."""
        if self.packing is None and whence == 0 and self.packed.file.seekable():
            self.packed.begin = b""
            self.count = self.packed.count = self.packed.file.seek(offset)
            return self.count
        if whence != 0 or offset < self.count:
            kind = "a pipe" if self.packing is None else f"a {self.packing.name} file"
            raise io.UnsupportedOperation(f"{kind} is read from its beginning to its end")
        while self.count < offset and self.read(min(_BUFFER, offset - self.count)):
            pass
        return self.count

    def close(self) -> None:
        """Close what unpacks, and the file if it is its own."""
        if not self.closed:
            if self.packing is not None:
                self.file.close()  # of the library, which leaves the file below open
            if self.owns:
                self.packed.file.close()
        super().close()


def _cut_off(name: str, packing: Packing) -> str:
    return f"{name}: the {packing.name} data ends early: the file was cut; get it again"


class DamageError(ValueError):
    """Packed data is damaged: what was unpacked last may be wrong, too."""


def _damage(name: str, packing: Packing) -> DamageError:
    return DamageError(
        f"{name}: the {packing.name} data is damaged or none; get it again, or drop the {packing.suffix} if "
        f"it is plain text"
    )


_MARKS = {
    codecs.BOM_UTF8: "UTF-8",
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
#: What other kinds of files begin with; compressed twice is one of them.
_NO_TEXT = {
    **{packing.begin: f"is compressed by {packing.name} once more; unpack it first" for packing in PACKINGS},
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it first",
    b"PK\x03\x04": "is a zip archive; unpack it first",
}


def open_text(
    file: PathLike | IO[bytes],
    max_ratio: float = MAX_RATIO,
    *,
    name: str | None = None,
    is_checked: bool = True,
) -> io.BufferedReader:
    """Return the text of a file as bytes in UTF-8: unpacked, and without the byte order mark.

    Parameters
    ----------
    file : str, path-like or binary file
        A path, which is closed with the text; or a file that is open, which stays so.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.
    name : str, default=None
        What errors call a file that is open.
    is_checked : bool, default=True
        Whether all of it is checked to be UTF-8. Of a format whose every byte is looked at later, only the
        first bytes are.

    Returns
    -------
    io.BufferedReader
        What has come of a pipe is given at once. Places in it are those in the unpacked file.

    Raises
    ------
    ValueError
        When it is opened or read, if the text is not UTF-8, or the compressed file is damaged or unpacks to
        too much. The message names the file.
    OSError
        If the file cannot be opened or read.
    """
    source = decompressed(file, max_ratio, name=name)
    try:
        return io.BufferedReader(_Text(source, is_checked=is_checked), _BUFFER)
    except BaseException:
        source.close()
        raise


def check_utf8(text: bytes, name: str, lines_before: int | None) -> None:
    """Raise ValueError, which names file and line, unless a text of whole lines is UTF-8."""
    try:
        text.isascii() or text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(text, error.start, name, lines_before) from None


def _refused(text: bytes, place: int, name: str, lines_before: int | None) -> ValueError:
    """Return an error about a byte that is not UTF-8."""
    number = None if lines_before is None else lines_before + text.count(b"\n", 0, place) + 1
    line = "" if number is None else f", line {number}"
    if 0 in text:
        return ValueError(f"{name}{line}: is not text but binary data; check the format")
    begin = max(text.rfind(b"\n", 0, place) + 1, place - 20)
    shown = text[begin : place + 10].split(b"\n")[0]
    return ValueError(
        f"{name}{line}: is not UTF-8 text but, it seems, Latin-1 (or Windows-1252): {shown!r:.80}; save it "
        f"as UTF-8, for instance by iconv -f LATIN1 -t UTF-8"
    )


class _Text(io.RawIOBase):
    """The bytes of a text, which are looked at on their way."""

    def __init__(self, source: Unpacked, *, is_checked: bool) -> None:
        self.source, self.name = source, source.name
        begin = first_bytes(source.read, (*_MARKS, *_NO_TEXT))
        if len(begin) == 1 and begin != b"\n":  # an empty line may be an example that waits for its answer
            begin += source.read(1) or b""
        mark = next((mark for mark in _MARKS if begin.startswith(mark)), b"")
        encoding = _MARKS.get(mark, "UTF-8")
        if not mark and 0 in begin[:2] and any(begin[:2]):  # no text in UTF-8 holds a zero byte
            encoding = "UTF-16"
        if encoding != "UTF-8":
            raise ValueError(
                f"{self.name}: is {encoding} text, not UTF-8; save it as UTF-8, for instance by "
                f"iconv -f {encoding} -t UTF-8"
            )
        for other, what in _NO_TEXT.items():
            if begin.startswith(other):
                raise ValueError(f"{self.name}: {what}")
        self.begin = begin.removeprefix(mark)
        self.is_checked = is_checked
        self.failed: ValueError | None = None  # what is wrong behind the lines that were given
        self.lines: int | None = 0  # None: not counted from the beginning
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.failed is not None:
            raise self.failed
        if self.begin:
            n = min(len(self.begin), len(buffer))
            buffer[:n], self.begin = self.begin[:n], self.begin[n:]
        else:
            n = self.source.readinto(buffer)
        return self._checked(bytes(memoryview(buffer)[:n])) if self.is_checked else n

    def _checked(self, text: bytes) -> int:
        """Return how many bytes of a text can be given: its error, which names the line, comes next."""
        rest: bytes = self.decoder.getstate()[0]
        if rest or not text or not text.isascii():
            try:
                self.decoder.decode(text, final=not text)
            except UnicodeDecodeError as error:
                if not text:
                    raise ValueError(
                        f"{self.name}: ends within a character of UTF-8: the file was cut; get it again"
                    ) from None
                self.failed = _refused(rest + text, error.start, self.name, self.lines)
                good = text.rfind(b"\n", 0, max(0, error.start - len(rest))) + 1
                if not good:
                    raise self.failed from None
                return good
        if self.lines is not None:
            self.lines += n_lines(text)
        return len(text)

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.source.tell() - len(self.begin)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place; of what is no plain file only forwards."""
        skipped = offset - self.tell()
        if whence == 0 and 0 <= skipped <= len(self.begin):
            self.begin = self.begin[skipped:]
            self.lines = None if skipped else self.lines
            return offset
        self.begin, self.lines = b"", None
        self.decoder.reset()
        return self.source.seek(offset, whence)

    def close(self) -> None:
        if not self.closed:
            self.source.close()
        super().close()


def line_text(line: bytes, name: str, number: int) -> str:
    """Return a line without its end; ValueError if it holds the line ends of old Macintosh computers."""
    text = line.decode("utf-8").rstrip("\r")
    if "\r" in text:
        raise ValueError(
            f"{name}: line {number} has a carriage return within; end lines by line feeds, as by "
            "tr '\\r' '\\n'"
        )
    return text
