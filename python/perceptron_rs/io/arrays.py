"""Arrays of examples in files of NumPy and SciPy: .npy files are mapped, archives are read."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.io.text.lines import is_pipe, name_of_file
from perceptron_rs.io.text.opening import decompressed
from perceptron_rs.rows.storage import refuse_type

_PARTS = ("data", "indices", "indptr", "shape")


@contextmanager
def _of_plain_types() -> Iterator[None]:
    """Raise with a remedy where NumPy would have to unpickle objects, which could run code."""
    try:
        yield
    except ValueError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise
        raise ValueError(
            "holds Python objects, which are not read because they could run code; save numbers or strings, "
            "for instance by numpy.save(path, array.astype(str))"
        ) from None


def read_npy(file: object) -> NDArray[np.generic]:
    """Return the matrix in a .npy file, mapped into memory and not read; that of a pipe is read."""
    name = name_of_file(file)
    X = load_npy(_whole_file(file) if is_pipe(file) else file)
    if not isinstance(X, np.ndarray):
        raise ValueError(f"{name}: is not a .npy file but an archive; name it so, or say the format npz")
    return matrix_of_file(X, name)


@_of_plain_types()
def load_npy(file: Any) -> MatrixLike:
    """Load a file by NumPy. A .npy file on disk is mapped; archives and files in memory are read."""
    mode: Any = "r" if isinstance(file, str | os.PathLike) else None
    try:
        return np.load(file, mmap_mode=mode, allow_pickle=False)
    except SystemError:
        # Python before 3.11.8 and 3.12.2: NumPy parses the header, and if a collection of garbage lets
        # another thread parse meanwhile, both may fail (python/cpython#106905).
        return np.load(file, mmap_mode=mode, allow_pickle=False)


@_of_plain_types()
def read_npz(file: Any) -> tuple[Any, NDArray[np.generic] | None]:
    """Return the matrix in a .npz file, and its labels if there are any."""
    name, place = name_of_file(file), _whole_file(file) if is_pipe(file) else file
    archive = np.load(place, allow_pickle=False)
    if isinstance(archive, np.ndarray):
        raise ValueError(f"{name}: is a .npy file; name it so, or say the format npy")
    with archive:
        names = set(archive.files)
        y = archive["y"] if "y" in names else None
        if y is not None and y.ndim != 1:
            raise ValueError(f"{name}: y must have one dimension, but has the shape {y.shape}")
        if "X" in names:
            return matrix_of_file(archive["X"], name), y
        if {"format", "shape", "data"} <= names:
            if isinstance(place, io.BytesIO):
                place.seek(0)
            from scipy.sparse import load_npz

            matrix = load_npz(place)
            return (matrix if matrix.format == "csr" else matrix.tocsr()), y
        if names.issuperset(_PARTS):
            return _csr_of_file({part: archive[part] for part in _PARTS}, name), y
    held = ", ".join(sorted(names)) or "nothing"
    raise ValueError(
        f"{name}: holds {held}; it must hold X, or {', '.join(_PARTS)}, or what scipy.sparse.save_npz writes"
    )


def _whole_file(file: Any) -> io.BytesIO:
    """Return what a pipe holds, unpacked."""
    with io.BufferedReader(decompressed(file, name=name_of_file(file))) as unpacked:
        return io.BytesIO(unpacked.read())


def _csr_of_file(parts: dict[str, NDArray[np.generic]], path: str) -> MatrixLike:
    shape = parts["shape"]
    if shape.shape != (2,):
        raise ValueError(f"{path}: shape must be two numbers, got {shape.tolist()!r:.80}")
    from scipy.sparse import csr_matrix

    arrays = (parts["data"], parts["indices"], parts["indptr"])
    matrix = csr_matrix(arrays, shape=tuple(int(length) for length in shape))
    matrix.check_format(full_check=True)
    return matrix


def matrix_of_file(X: NDArray[np.generic], path: str) -> NDArray[np.generic]:
    """Return an array of examples; raise an error that names the file, unless it is a matrix of numbers."""
    if X.ndim != 2:
        raise ValueError(f"{path}: X must have two dimensions, examples and features, got shape {X.shape}")
    refuse_type(X.dtype, "X")
    return X
