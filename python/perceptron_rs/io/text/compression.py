"""Files that may be compressed: bytes as they are unpacked, and no more of them than is plausible.

What a file is compressed by is told by its first bytes, as pipes have no names.
"""

from __future__ import annotations

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

    @property
    def consumed(self) -> int:
        """Number of bytes of the file itself that have been read."""
        return self.packed.count

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
