"""svmlight / libsvm text files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from perceptron_rs._core import read_svmlight

__all__ = ["load_svmlight", "load_with_base"]

_Path: TypeAlias = str | os.PathLike[str]

_INT32_MAX, _INT64_MAX = 2**31 - 1, 2**63 - 1
_MOST_THREADS = 1024


def load_svmlight(
    path: _Path | Sequence[_Path],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    query_id: Literal["ignore", "refuse"] = "ignore",
    n_jobs: int | None = None,
) -> tuple[Any, NDArray[np.float64]]:
    r"""Read files in the svmlight / libsvm format into a CSR matrix and a vector of labels.

    Each line is ``label index:value index:value ...``, with increasing indices. ``qid:...`` may precede the
    first index, and ``#`` starts a comment. Numbers are parsed to the same bits as by Python's ``float``.
    The result is that of :func:`sklearn.datasets.load_svmlight_file`, except that files without examples,
    and values that are NaN, infinite or too large for float64, are rejected.

    Parameters
    ----------
    path : str, path-like, or list of them
        File to read. Several files are read as if they were one. A file whose name ends in ".gz" is
        decompressed while it is read.
    n_features : int, default=None
        Number of features seen during ``fit``.
    zero_based : bool or "auto", default="auto"
        Whether indices start from 0 or 1. "auto" means from 0 if index 0 occurs in any of the files,
        otherwise from 1. Set it, and ``n_features``, if you read the parts of a data set one at a time.
    query_id : {"ignore", "refuse"}, default="ignore"
        Whether to ignore ``qid:...`` or to raise an error.
    n_jobs : int, default=None
        Number of threads. None means 1, unless in a :obj:`joblib.parallel_backend` context; -1 means all
        processors. The result does not depend on it.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
        The examples, including explicit zeros. Indices are sorted, and int32 where all of them, the shape
        and the number of values fit, otherwise int64.
    y : ndarray of shape (n_samples,), float64
        The labels.

    Raises
    ------
    ValueError
        If a line cannot be parsed. The message names the file, line, column and text.
    OSError
        If a file cannot be opened or read.
    MemoryError
        If the examples do not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs.io import load_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.svm")
    ...     _ = file.write_text("+1 1:0.5 3:2  # the first\n-1 2:25e-2\n")
    ...     X, y = load_svmlight(file)
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    >>> y
    array([ 1., -1.])
    """
    X, y, _ = load_with_base(
        path, n_features=n_features, zero_based=zero_based, query_id=query_id, n_jobs=n_jobs
    )
    return X, y


def load_with_base(
    path: _Path | Sequence[_Path],
    *,
    n_features: int | None,
    zero_based: bool | Literal["auto"],
    query_id: Literal["ignore", "refuse"] = "ignore",
    n_jobs: int | None = None,
) -> tuple[Any, NDArray[np.float64], bool]:
    """Return what `load_svmlight` does, and whether the lowest index of the files is 0."""
    paths = _paths(path)
    if isinstance(zero_based, np.bool_):
        zero_based = bool(zero_based)
    if not isinstance(zero_based, bool) and zero_based != "auto":
        raise ValueError(f'zero_based must be True, False or "auto", got {zero_based!r}')
    if query_id not in ("ignore", "refuse"):
        raise ValueError(f'query_id must be "ignore" or "refuse", got {query_id!r}')
    if n_features is not None:
        _check_integer("n_features", n_features)
        if not 1 <= n_features <= _INT64_MAX:
            raise ValueError(
                f"n_features must be at least 1 and at most 2**63 - 1, got {n_features}; "
                "None takes it from the file"
            )
    if n_jobs is not None:
        _check_integer("n_jobs", n_jobs)
    values, columns, starts, y, width, is_zero_based = read_svmlight(
        paths,
        zero_based=None if isinstance(zero_based, str) else zero_based,
        refuse_query_ids=query_id == "refuse",
        threads=min(max(1, int(effective_n_jobs(n_jobs))), _MOST_THREADS),
    )
    if len(y) == 0:
        named = " and ".join(paths) if len(paths) < 3 else f"any of {len(paths)} files, {paths[0]} the first"
        raise ValueError(f"no examples in {named}; check that it is the right file")
    if n_features is None:
        n_features = width
    elif n_features < width:
        row = int(np.searchsorted(starts, np.argmax(columns >= n_features), side="right")) - 1
        raise ValueError(
            f"n_features is {n_features}, but {paths[0]}{' and the others' * (len(paths) > 1)} need {width}, "
            f"for row {row} (counted from 0) on; raise n_features or leave it None"
        )
    return _csr(values, columns, starts, (len(y), int(n_features))), y, is_zero_based


def _csr(
    values: NDArray[np.float64], columns: NDArray[np.int32], starts: NDArray[np.int64], shape: tuple[int, int]
) -> Any:
    fits = max(*shape, len(values)) <= _INT32_MAX
    index = np.int32 if fits else np.int64
    X = csr_matrix(
        (values, columns.astype(index, copy=False), starts.astype(index, copy=False)), shape=shape, copy=False
    )
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return X


def _paths(path: Any) -> list[str]:
    single = isinstance(path, str | bytes | os.PathLike)
    if not single and not isinstance(path, Sequence):
        raise TypeError(f"path must be a path or a list of paths, got {path!r}; pass the name of the file")
    paths = []
    for item in [path] if single else path:
        if not isinstance(item, str | bytes | os.PathLike):
            raise TypeError(f"path must hold names of files, got {item!r}; pass str or path-like objects")
        paths.append(os.fsdecode(item))
    if not paths:
        raise ValueError("path must name at least one file, got an empty list")
    return paths


def _check_integer(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer or None, got {value!r}")
