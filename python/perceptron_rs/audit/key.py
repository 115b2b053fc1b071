"""The key of digests: read from a file or given as bytes, and never written anywhere.

A key is given as a file, whose name is all that an estimator holds, or as bytes. Bytes are held in a box that
shows nothing and refuses to be pickled. Neither is written to a model file.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias

from perceptron_rs.errors import ArgumentError, naming

if TYPE_CHECKING:
    from pathlib import Path

_SIZE = 32
_HEX = re.compile(rb"\s*([0-9a-fA-F]{64})\s*")


class AuditKey:
    """The bytes of a key, which only `key_of` takes out again."""

    __slots__ = ("_bytes",)

    def __init__(self, key: bytes) -> None:
        self._bytes = key

    def __repr__(self) -> str:
        return "<a key>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an audit_key of bytes is not pickled; set audit_key to the name of a file that holds it, or None"
        )


#: What the parameter may be.
KeyGiven: TypeAlias = str | os.PathLike[str] | bytes | AuditKey | None
KEY_CONSTRAINT: list[object] = [str, os.PathLike, AuditKey, None]


class KeyParameter:
    """The attribute ``audit_key`` of an estimator: bytes are put away into an `AuditKey`."""

    def __get__(self, estimator: object, kind: object = None) -> KeyParameter | KeyGiven:
        if estimator is None:
            return self
        return vars(estimator).get("audit_key")

    def __set__(self, estimator: object, value: KeyGiven | bytearray | memoryview) -> None:
        if isinstance(value, bytes | bytearray | memoryview):
            value = AuditKey(bytes(value))
        vars(estimator)["audit_key"] = value


def key_of(source: object) -> bytes | None:
    """Return the 32 bytes of a key; ValueError if that is none."""
    if source is None:
        return None
    if isinstance(source, AuditKey):
        key = source._bytes
    elif isinstance(source, bytes | bytearray | memoryview):
        key = bytes(source)
    elif isinstance(source, str | os.PathLike):
        from pathlib import Path

        with naming("audit_key"):
            return _read(Path(source))
    else:
        raise TypeError(
            f"audit_key must be the name of a file, {_SIZE} bytes or None, got {type(source).__name__}"
        )
    if len(key) != _SIZE:
        raise ValueError(
            f"audit_key must have {_SIZE} bytes, got {len(key)}; take those of os.urandom({_SIZE})"
        )
    return key


def _read(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ArgumentError(
            "{audit_key} must be a regular file",
            "name one that holds the key",
            values={"audit_key": str(path)},
        )
    with path.open("rb") as file:
        data = file.read(4 * _SIZE)
    match = _HEX.fullmatch(data)
    if match is not None:
        return bytes.fromhex(match[1].decode())
    if len(data) != _SIZE:
        raise ArgumentError(
            f"{{audit_key}} must hold {_SIZE} bytes, or {2 * _SIZE} hexadecimal digits",
            f"make one by openssl rand -hex {_SIZE}",
            values={"audit_key": str(path)},
        )
    return data
