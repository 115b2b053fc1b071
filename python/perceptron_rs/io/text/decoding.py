"""Text of files and pipes, which every reader opens here: unpacked, in UTF-8, without a byte order mark."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any

from perceptron_rs.io.text.compression import (
    MAX_RATIO,
    PACKINGS,
    Unpacked,
    decompressed,
    first_bytes,
    n_lines,
)
from perceptron_rs.io.text.paths import PathLike

_BUFFER = 1 << 17
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

    @property
    def consumed(self) -> int:
        """Number of bytes of the file itself, which may be compressed, that have been read."""
        waiting = len(self.begin) if self.source.packing is None else 0
        return self.source.consumed - waiting

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
