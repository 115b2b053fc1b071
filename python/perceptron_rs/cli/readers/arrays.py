"""Examples from files of NumPy and SciPy."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.source import is_read_once, name_of, opened
from perceptron_rs.common.rows.storage import refuse_type

__all__ = ["read_npy", "read_npz"]

_PARTS = ("data", "indices", "indptr", "shape")


def read_npy(path: str) -> NDArray[Any]:
    """Return the matrix in a .npy file, mapped into memory and not read; that of standard input is read."""
    if is_read_once(path):
        X = np.load(_whole(path), allow_pickle=False)
    else:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    path = name_of(path)
    if not isinstance(X, np.ndarray):
        raise CommandError(f"{path}: is not a .npy file but an archive; rename it to .npz")
    return _matrix(X, path)


def read_npz(path: str) -> tuple[Any, NDArray[Any] | None]:
    """Return the matrix in a .npz file, and its labels if there are any."""
    place: Any = _whole(path) if is_read_once(path) else path
    archive, path = np.load(place, allow_pickle=False), name_of(path)
    if isinstance(archive, np.ndarray):
        raise CommandError(f"{path}: is a .npy file; rename it to .npy")
    with archive:
        names = set(archive.files)
        y = archive["y"] if "y" in names else None
        if y is not None and y.ndim != 1:
            raise CommandError(f"{path}: y must have one dimension, but has the shape {y.shape}")
        if "X" in names:
            return _matrix(archive["X"], path), y
        if {"format", "shape", "data"} <= names:
            if isinstance(place, io.BytesIO):
                place.seek(0)
            matrix = sp.load_npz(place)
            return (matrix if matrix.format == "csr" else matrix.tocsr()), y
        if names.issuperset(_PARTS):
            return _csr({name: archive[name] for name in _PARTS}, path), y
    found = ", ".join(sorted(names)) or "nothing"
    raise CommandError(
        f"{path}: holds {found}; it must hold X, or {', '.join(_PARTS)}, or what scipy.sparse.save_npz writes"
    )


def _whole(path: str) -> io.BytesIO:
    with opened(path) as file:
        return io.BytesIO(file.read())


def _csr(parts: dict[str, NDArray[Any]], path: str) -> Any:
    shape = parts["shape"]
    if shape.shape != (2,):
        raise CommandError(f"{path}: shape must be two numbers, got {shape.tolist()!r:.80}")
    arrays = (parts["data"], parts["indices"], parts["indptr"])
    matrix = sp.csr_matrix(arrays, shape=tuple(int(length) for length in shape))
    matrix.check_format(full_check=True)
    return matrix


def _matrix(X: NDArray[Any], path: str) -> NDArray[Any]:
    if X.ndim != 2:
        raise CommandError(f"{path}: X must have two dimensions, examples and features, got shape {X.shape}")
    refuse_type(X.dtype, "X")
    return X
