"""Files that are written whole or not at all, and read no further than they are long."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.errors import refuse_no_name

if TYPE_CHECKING:
    from pathlib import Path

_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM, errno.ENOSYS)


def path_of(path: object, argument: str = "path") -> Path:
    """Return an argument as a Path; TypeError for anything that is none, ValueError for no file's name."""
    from pathlib import Path

    return Path(_name_of(path, argument))


def _name_of(path: object, argument: str = "path") -> str:
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str):
        raise TypeError(
            f"{argument} must be a str or a path object, got {type(path).__name__}; give a file's name"
        )
    refuse_no_name(name, argument)
    return name


#: What is read: a file by its path, one that is open in binary mode, or what one holds.
ModelSource: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO"
#: What is written: bytes, or a function that gives them piece by piece, from the start each time.
Written: TypeAlias = bytes | Callable[[], Iterable[bytes | memoryview]]


def write_whole(path: str | os.PathLike[str], data: Written, *, lasting: bool = True) -> None:
    """Put ``data`` in the place of the file ``path``, at once.

    It goes to a new file in the same folder first, which is flushed to the disk and then takes the file's
    name; with ``lasting=False`` it is not flushed, and its reader must notice what a power cut lost. After
    an error no new file is left, and what ``path`` was before it still is. A symbolic link stays one, and a
    file that is replaced passes its permissions on. Only a process that is killed cannot tidy up: it leaves
    a file ``.perceptrons-*.tmp``.
    """
    import secrets  # it takes long to import, and who only reads needs none

    target = path_of(os.path.realpath(_name_of(path)))
    before = _regular_or_none(target, path)
    name = target.with_name(f".perceptrons-{secrets.token_hex(8)}.tmp")
    try:
        try:
            with name.open("xb") as file:
                if before is not None and hasattr(os, "fchmod"):
                    with suppress(PermissionError):
                        os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
                for part in data() if callable(data) else (data,):
                    octets = memoryview(part).cast("B")
                    for piece in pieces(len(octets)):
                        file.write(octets[piece])
                if lasting:
                    file.flush()
                    os.fsync(file.fileno())
            name.replace(target)
        except BaseException:
            with suppress(OSError):
                name.unlink()
            raise
    except OSError as error:
        reason = f"{error.strerror or error}; nothing was saved, and what was there is unchanged"
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error
    if lasting:
        _sync_folder(target.parent)


def write_to_open(file: BinaryIO, data: bytes) -> None:
    """Write all of it to an open file, through its buffer; a file without one takes what it can."""
    if isinstance(file, io.TextIOBase):
        raise TypeError("path must be a file that is open in binary mode, got one of text; open it with 'wb'")
    taken = file.write(data)
    while isinstance(file, io.RawIOBase) and taken != len(data):
        if not taken or not 0 < taken < len(data):
            reason = "takes no more, so what is in it is no model; open a file with a buffer"
            raise BlockingIOError(errno.EAGAIN, reason, file_name(file))
        data = data[taken:]
        taken = file.write(data)
    if hasattr(file, "flush"):
        file.flush()  # or a full disk would be told of when the file is closed


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise OSError if `write_whole` could not write there: before the work, and without a trace."""
    import tempfile

    target = path_of(os.path.realpath(_name_of(path)))
    _regular_or_none(target, path)
    try:
        with tempfile.TemporaryFile(dir=target.parent):  # without a name where the system can
            pass
    except OSError as error:
        reason = f"cannot write to the folder {target.parent}: {(error.strerror or str(error)).lower()}"
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error


def _regular_or_none(target: Path, path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    _refuse_other(status, path)
    if not os.access(target, os.W_OK):  # else it would be replaced all the same
        raise PermissionError(errno.EACCES, "may not be written to; save under another name", os.fspath(path))
    return status


def _refuse_other(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory; name a file in it", os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is a device or a pipe; name a regular file", os.fspath(path))


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the new name outlasts a crash; some systems cannot."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            reason = f"{error.strerror}; the file is written, but a power failure may undo that"
            raise OSError(error.errno or errno.EIO, reason, os.fspath(folder)) from error


def file_name(source: ModelSource) -> str:
    """Return what errors call a file: its path, or what it is."""
    if isinstance(source, bytes | bytearray | memoryview):
        return f"{len(source)} bytes"
    if isinstance(source, str | os.PathLike):
        return repr(os.fspath(source))
    name = getattr(source, "name", None)
    return repr(name) if isinstance(name, str) else "an open file"


def open_regular(path: ModelSource) -> tuple[BinaryIO, int]:
    """Open a regular file to be read, and return it with its size; so bytes, and the rest of an open file."""
    if not isinstance(path, str | os.PathLike):
        if isinstance(path, io.TextIOBase):
            raise TypeError(
                "path must be a file that is open in binary mode, got one of text; open it with 'rb'"
            )
        data = path.read() if hasattr(path, "read") else path
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"path must be a str, a path object, bytes or a file that is open in binary mode, got "
                f"{type(path).__name__}"
            )
        return io.BytesIO(data), memoryview(data).nbytes
    name = _name_of(path)
    _refuse_other(os.stat(name), path)  # noqa: PTH116  before it is opened: opening a pipe waits for a writer
    file = open(name, "rb")  # noqa: PTH123, SIM115  pathlib takes long to import
    try:
        status = os.fstat(file.fileno())
        _refuse_other(status, path)
    except BaseException:
        file.close()
        raise
    return file, status.st_size
