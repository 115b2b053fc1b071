"""Files that are written whole or not at all, and read no further than they are long."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO, TypeAlias

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["open_regular", "path_of", "write_whole"]

_CHUNK = 1 << 26  # some systems refuse to write 2 GB at once
_OLD = 3600.0  # seconds after which a file that cannot be locked is taken for one that was left
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM, errno.ENOSYS)


def path_of(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` as a Path; TypeError for anything that is none."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path must be a str or a path object, got {type(path).__name__}; give a file's name")
    return Path(path)


#: What is written: bytes, or a function that gives them piece by piece, from the start each time.
Written: TypeAlias = bytes | Callable[[], Iterable[bytes | memoryview]]


def write_whole(path: str | os.PathLike[str], data: Written, *, lasting: bool = True) -> None:
    """Put ``data`` in the place of the file ``path``, at once.

    It goes to a new file in the same folder first, which is flushed to the disk and then takes the file's
    name; with ``lasting=False`` it is not flushed, and its reader must notice what a power cut lost. After
    an error no new file is left, and what ``path`` was before it still is. A symbolic link stays one, and a
    file that is replaced passes its permissions on.

    A process that is killed cannot tidy up. Where the system has files without a name (Linux), the new file
    is one, and vanishes with the process. It is linked to ``path`` if nothing is there. No system call links
    a file over another one, so to replace one it is linked to a temporary name, and renamed by the next
    system call: only a kill between these two leaves the name. Elsewhere the new file has a temporary name
    while it is written. In either case its writer holds a lock on it, which ends with the process, and the
    next save to ``path`` removes what has such a name and no lock.
    """
    target = Path(os.path.realpath(path_of(path)))
    before = _regular_or_none(target, path)
    _remove_left(target)
    try:
        try:
            _write(target, data, before, _open_unnamed, lasting)
        except _UnnamedError:
            _write(target, data, before, _open_named, lasting)
    except OSError as error:
        reason = f"{error.strerror or error}; nothing was saved, and what was there is unchanged"
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error
    if lasting:
        _sync_folder(target.parent)


class _UnnamedError(Exception):
    """Files without a name cannot be made in this folder, or not be linked."""


def _write(
    target: Path,
    data: Written,
    before: os.stat_result | None,
    open_new: Callable[[Path], tuple[int, Path | None]],
    lasting: bool,
) -> None:
    descriptor, name = open_new(target)
    lock: int | None = None
    try:
        try:
            if fcntl is not None:
                lock = os.dup(descriptor)  # closing a file may fail, so that comes before the renaming
            if before is not None and hasattr(os, "fchmod"):
                with suppress(PermissionError):
                    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            for piece in data() if callable(data) else (data,):
                _write_all(descriptor, piece)
            if lasting:
                os.fsync(descriptor)
            if name is None:
                name = _linked(descriptor, target, replaces=before is not None)
        finally:
            os.close(descriptor)
        if name != target:
            name.replace(target)
            name = target
    finally:
        if name is not None and name != target:
            with suppress(OSError):
                name.unlink()
        if lock is not None:
            os.close(lock)


def _open_unnamed(target: Path) -> tuple[int, None]:
    """Open a new file without a name in the folder of ``target``."""
    try:
        descriptor = os.open(target.parent, os.O_WRONLY | os.O_TMPFILE, 0o666)
    except (AttributeError, OSError):  # if the folder is at fault, the other way finds the same error
        raise _UnnamedError from None
    _lock(descriptor)
    return descriptor, None


def _linked(descriptor: int, target: Path, *, replaces: bool) -> Path:
    """Give a file without a name the name ``target``, or a temporary one if it shall replace a file."""
    names = _temporary_names(target)
    for name in names if replaces else chain([target], names):
        try:
            # What src_dir_fd is means nothing to an absolute path, but with it Python calls linkat, which
            # follows the link in /proc.
            os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor, follow_symlinks=True)
        except FileExistsError:
            continue
        except OSError:  # no /proc, or a rule against links
            break
        return name
    raise _UnnamedError


def _open_named(target: Path) -> tuple[int, Path]:
    """Open a new file under a temporary name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for name in _temporary_names(target):
        try:
            descriptor = os.open(name, flags, 0o666)
        except FileExistsError:
            continue
        if _lock(descriptor, otherwise=True) and _is_named(descriptor, name):
            break
        os.close(descriptor)  # before it was locked, another save took it for one that was left
    return descriptor, name


def _temporary_names(target: Path) -> Iterator[Path]:
    """Give the temporary names beside ``target``, one for each save to it at a time."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]  # a name has no room for another one
    return (target.with_name(f".perceptrons-{digest}-{number}.tmp") for number in count())


def _remove_left(target: Path) -> None:
    """Remove what processes that were killed have left beside ``target``."""
    for name in _temporary_names(target):
        try:
            old = time.time() - name.lstat().st_mtime > _OLD
            if fcntl is None:
                if old:
                    name.unlink()
                continue
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _lock(descriptor, otherwise=old) and _is_named(descriptor, name):
                    name.unlink()
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return
        except OSError:
            continue  # it is somebody else's


def _lock(descriptor: int, *, otherwise: bool = False) -> bool:
    """Lock a file; False if somebody else has, ``otherwise`` where there are no locks."""
    if fcntl is None:
        return otherwise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return otherwise
    return True


def _is_named(descriptor: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), name.lstat())
    except FileNotFoundError:
        return False


def _regular_or_none(target: Path, path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    _refuse_other(found, path)
    if not os.access(target, os.W_OK):  # else it would be replaced all the same
        raise PermissionError(errno.EACCES, "may not be written to; save under another name", os.fspath(path))
    return found


def _refuse_other(found: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory; name a file in it", os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is a device or a pipe; name a regular file", os.fspath(path))


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest[:_CHUNK]) :]


def _sync_folder(folder: Path) -> None:
    """Make the new name last; some systems and some file systems cannot be asked to."""
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


def open_regular(path: str | os.PathLike[str]) -> tuple[BinaryIO, int]:
    """Open a regular file to be read, and return it with its size."""
    name = path_of(path)
    _refuse_other(name.stat(), path)  # before it is opened: opening a pipe waits for a writer
    file = name.open("rb")
    try:
        found = os.fstat(file.fileno())
        _refuse_other(found, path)
    except BaseException:
        file.close()
        raise
    return file, found.st_size
