"""Files that may be compressed by gzip: bytes as they are unpacked, and no more of them than is plausible."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

__all__ = ["MAX_RATIO", "check_ratio", "n_lines", "reading", "unpacked"]

#: How many times its size a file may unpack to, unless somebody says otherwise.
MAX_RATIO = 250.0
_SMALL = 1 << 24  # so much may be packed as tightly as it likes
_BUFFER = 1 << 17
_NEWLINE = 10


def check_ratio(max_ratio: Any) -> float:
    """Return the bound; ValueError for what is none."""
    if not isinstance(max_ratio, (int, float)) or not max_ratio > 1:
        raise ValueError(f"max_ratio must be a number above 1, got {max_ratio!r:.80}")
    return float(max_ratio)


def unpacked(packed: str | IO[bytes], max_ratio: float = MAX_RATIO, *, name: str | None = None) -> IO[bytes]:
    """Return what is in a gzip file, of which what has come is given at once, as of a pipe.

    Reading it raises ValueError if it is more than ``max_ratio`` allows. A file that is given by its path is
    closed with it; ``name`` is what errors call another one.
    """
    file = Path(packed).open("rb") if isinstance(packed, str) else packed  # noqa: SIM115  closed with the text
    text = _Unpacked(file, str(packed) if name is None else name, max_ratio, owns=file is not packed)
    return io.BufferedReader(text, _BUFFER)


def n_lines(text: bytes) -> int:
    """Return how many lines end in the text: ``bytes.count`` takes four times as long."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE))


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say what is wrong with a gzip file in words that name it."""
    try:
        yield
    except EOFError:
        raise ValueError(f"{name}: the gzip data ends early: the file was cut; get it again") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{name}: the gzip data is damaged or none ({error}); get it again, or drop the .gz if it is "
            f"plain text"
        ) from None


class _Counted(io.RawIOBase):
    """Counts the bytes that are read from a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = getattr(self.file, "read1", self.file.read)  # not more than has come
        data = read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


class _Unpacked(io.RawIOBase):
    """The text of a gzip file, as bytes that are looked at on their way."""

    def __init__(self, packed: IO[bytes], name: str, max_ratio: float, *, owns: bool) -> None:
        self.packed, self.name, self.max_ratio, self.owns = _Counted(packed), name, max_ratio, owns
        self.count = 0
        self.text = gzip.GzipFile(fileobj=self.packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.text.read1(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        if self.count > _SMALL + self.max_ratio * self.packed.count:
            raise ValueError(
                f"{self.name}: unpacks to more than {self.max_ratio:g} times its size; if you know that it "
                f"is no gzip bomb, raise max_ratio or unpack it"
            )
        return len(data)

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.count

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go on, and not back: what lies between is read."""
        if whence != 0 or offset < self.count:
            raise io.UnsupportedOperation("a gzip file is read from its beginning to its end")
        while self.count < offset and self.read(min(_BUFFER, offset - self.count)):
            pass
        return self.count

    def close(self) -> None:
        if self.owns and not self.closed:
            self.packed.file.close()
        super().close()
