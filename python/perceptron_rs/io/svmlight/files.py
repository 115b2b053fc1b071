"""svmlight / libsvm text files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import read_svmlight, read_svmlight_part
from perceptron_rs.arrays.likes import as_users_have
from perceptron_rs.arrays.scalars import check_among, number
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.batches import Batch, joined
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, wrong_width
from perceptron_rs.io.source import byte_ranges
from perceptron_rs.io.svmlight.lines import CutLists, explained
from perceptron_rs.io.text.lines import BLOCK, name_of_file, names_of, whole_lines
from perceptron_rs.io.text.opening import MAX_RATIO, n_lines, open_text
from perceptron_rs.io.text.paths import PathLike, paths_of
from perceptron_rs.io.text.threads import in_order
from perceptron_rs.parameters.kinds import RATIO
from perceptron_rs.parameters.ranges import check_value
from perceptron_rs.parameters.threads import thread_count
from perceptron_rs.rows.sparse import CsrArrays

#: Values, columns, row starts, labels, the least number of columns, and whether they are counted from 0.
SvmlightParts: TypeAlias = tuple[
    NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[Any], int, bool
]

_INT64_MAX = 2**63 - 1
_CHUNK = BLOCK


def load_svmlight(
    path: PathLike | BinaryIO | Sequence[PathLike | BinaryIO],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    query_id: Literal["ignore", "refuse"] = "ignore",
    offset: int = 0,
    length: int = -1,
    max_ratio: float = MAX_RATIO,
    n_jobs: int | None = None,
    multilabel: bool = False,
) -> tuple[Any, Any]:
    r"""Read files in the svmlight / libsvm format into a CSR matrix and a vector of labels.

    Each line is ``label index:value index:value ...``, with increasing indices. ``qid:...`` may precede the
    first index, and ``#`` starts a comment. Numbers are parsed to the same bits as by Python's ``float``.
    The result is that of :func:`sklearn.datasets.load_svmlight_file`, except that files without examples,
    and values that are NaN, infinite or too large for float64, are rejected.

    Parameters
    ----------
    path : str, path-like or binary file, or list of them
        File to read. Several files are read as if they were one, and so are those of a folder or of a
        pattern such as ``"part-*.svm"``. What gzip, bzip2 or xz has compressed is decompressed while it
        is read. A file that is already open is read from where it stands, and left open.
    n_features : int, default=None
        Number of features seen during ``fit``.
    zero_based : bool or "auto", default="auto"
        Whether indices start from 0 or 1. "auto" means from 0 if index 0 occurs in any of the files,
        otherwise from 1. Set it, and ``n_features``, if you read the parts of a data set one at a time.
    query_id : {"ignore", "refuse"}, default="ignore"
        Whether to ignore ``qid:...`` or to raise an error.
    offset : int, default=0
        Skip so many bytes, and then the rest of the line that they end in.
    length : int, default=-1
        If above 0, read the lines that begin at most so many bytes after ``offset``. Calls whose offsets
        are a ``length`` apart read each line once, and some may read none. With either of the two,
        ``path`` must be one file.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to, in (1, inf]. One that does so is more likely
        an accident or an attack than data.
    n_jobs : int, default=None
        Number of threads for whole files; open files and ranges are read on two. None means 1, unless in a
        :obj:`joblib.parallel_backend` context; -1 means all processors. The result does not depend on it.
    multilabel : bool, default=False
        Whether a line has a list of labels, such as ``1,3 2:0.5``, which may be missing.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
        The examples, including explicit zeros. Indices are sorted, and int32 where all of them, the shape
        and the number of values fit, otherwise int64.
    y : ndarray of shape (n_samples,), float64; or list of n_samples tuples
        The labels; with ``multilabel``, those of each example, sorted, of which
        `sklearn.preprocessing.MultiLabelBinarizer` makes a matrix.

    Raises
    ------
    ValueError
        If a line cannot be parsed, or a compressed file is damaged or unpacks to too much. The message names
        the file, line, column and text.
    OSError
        If a file cannot be opened or read.
    MemoryError
        If the examples do not fit into memory. `open_svmlight` reads them in parts.

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
    options: dict[str, Any] = {name: value for name, value in locals().items() if name != "path"}
    X, y, _ = load_with_base(path, **options)
    return as_users_have(X.canonical_matrix()), y.tolist() if multilabel else y


def load_with_base(
    path: object,
    *,
    n_features: int | None,
    zero_based: bool | Literal["auto"],
    query_id: Literal["ignore", "refuse"] = "ignore",
    offset: int = 0,
    length: int = -1,
    max_ratio: float = MAX_RATIO,
    n_jobs: int | None = None,
    multilabel: bool = False,
) -> tuple[Any, NDArray[np.generic], bool]:
    """Return what `load_svmlight` does, and whether the lowest index of the files is 0.

    Lists of labels are objects in an array.
    """
    files = files_of(path)
    base = check_options(n_features, zero_based, query_id)
    check_among("multilabel", multilabel, True, False)
    for name, value in (("n_jobs", 0 if n_jobs is None else n_jobs), ("offset", offset), ("length", length)):
        _check_integer(name, value)
    if offset < 0:
        raise ValueError(f"offset must be at least 0, got {offset}")
    if (offset > 0 or length > 0) and len(files) > 1:
        raise ValueError(f"offset and length are places in one file, got {len(files)} files")
    threads = thread_count(n_jobs)
    check_value("max_ratio", RATIO, max_ratio)
    refuses = query_id == "refuse"
    names = [name_of_file(file) for file in files]
    if offset == 0 and length <= 0 and not multilabel and all(map(_is_of_core, files)):
        values, columns, starts, y, width, is_zero_based = read_svmlight(
            files, threads=threads, zero_based=base, refuse_query_ids=refuses, max_ratio=max_ratio
        )
    else:
        parse = partial(
            _parsed_parts,
            offset=offset,
            length=length,
            zero_based=True if base is None else base,  # as written, until all is read
            refuse_query_ids=refuses,
            max_ratio=max_ratio,
            multilabel=multilabel,
        )
        parts = [part for file in files for part in parse(file)]
        values, columns, starts, y, width, is_zero_based = _joined_parts(parts, base)
    if len(y) == 0 and offset == 0 and length <= 0:
        named = " and ".join(names) if len(names) < 3 else f"any of {len(names)} files, {names[0]} the first"
        raise ValueError(f"no examples in {named}; check that it is the right file")
    if n_features is None:
        n_features = width
    elif n_features < width:
        row = int(np.searchsorted(starts, np.argmax(columns >= n_features), side="right")) - 1
        raise ArgumentError(
            f"{{n_features}} is {n_features}, but {{names}} need {width}, for row {row} (counted from 0) on",
            "raise {n_features} or leave it out",
            cause="too wide",
            names=f"{names[0]}{' and the others' * (len(names) > 1)}",
        )
    return CsrArrays.of(values, columns, starts, int(n_features)), y, is_zero_based


def read_examples(files: Sequence[object], reading: Reading) -> Examples:
    """Return the examples of whole files of svmlight text, on several threads."""

    def load(features: int | None) -> tuple[Any, NDArray[np.generic], bool]:
        return load_with_base(
            list(files),
            n_features=features,
            zero_based=reading.zero_based,
            max_ratio=reading.max_ratio or MAX_RATIO,
            n_jobs=reading.threads,
            multilabel=reading.multilabel,
        )

    try:
        X, y, zero_based = load(reading.n_features)
    except ValueError as error:
        if isinstance(error, ArgumentError) and error.cause == "too wide":
            X, _, zero_based = load(None)
            raise wrong_width(names_of(files), X.shape[1], reading, zero_based) from error
        raise explained(error, names_of(files), reading) from error
    return Examples(X, y, zero_based=zero_based)


def cut_lines(files: Sequence[object], n: int | None, **options: object) -> list[Callable[[], Batch]]:
    """Cut files into n ranges of lines."""
    ranges = byte_ranges(files, n)
    if None in options.values():
        raise ValueError(
            "n_features and zero_based must be given to cut files into partitions, none of which sees the "
            "columns of the others"
        )
    return [partial(_read_line_ranges, part, options) for part in ranges]


def _read_line_ranges(ranges: list[tuple[str, int, int]], options: dict[str, Any]) -> Batch:
    if not ranges:
        values, columns, starts, y, *_ = _joined_parts([], True)
        return Batch(CsrArrays.of(values, columns, starts, options["n_features"]).canonical_matrix(), y)
    return joined(
        [
            Batch(*load_svmlight(file, offset=begin, length=end - begin, **options))
            for file, begin, end in ranges
        ]
    )


def _parsed_parts(
    file: object, offset: int = 0, length: int = -1, *, max_ratio: float, multilabel: bool, **options: Any
) -> Iterator[SvmlightParts]:
    """Give the examples of a file, some lines at a time."""
    name = name_of_file(file)

    def numbered() -> Iterator[tuple[int, bytes]]:
        lines = 0
        for text in _text_pieces(file, offset, length, max_ratio):
            yield lines, text
            lines += n_lines(text)

    def part(piece: tuple[int, bytes]) -> SvmlightParts:
        lines, text = piece
        if not multilabel:
            return read_svmlight_part(text, path=name, lines_before=lines, **options)
        cut = CutLists(text, name, lines)
        try:
            parsed = read_svmlight_part(cut.text, path=name, lines_before=lines, **options)
        except ValueError as error:
            raise cut.placed(error) from None
        lists = np.empty(len(cut.lists), dtype=object)
        lists[:] = cut.lists
        return *parsed[:3], lists, *parsed[4:]

    yield from in_order(part, numbered())


def _text_pieces(file: Any, offset: int, length: int, max_ratio: float) -> Iterator[bytes]:
    """Give the text of a file in pieces that end with a line."""
    # The parser looks at every byte, and a comment may hold any.
    with open_text(file, max_ratio, name=name_of_file(file), is_checked=False) as text:
        if offset > 0:
            text.seek(offset)
            text.readline()
        yield from whole_lines(
            text, _CHUNK, n_bytes=offset + length + 1 - text.tell() if length > 0 else None
        )


def _is_of_core(file: object) -> bool:
    """Whether the core reads a file by itself: a regular one, plain, or of gzip by its name, too."""
    if not isinstance(file, str) or not Path(file).is_file():
        return isinstance(file, str) and not Path(file).exists()  # the core then raises FileNotFoundError
    with open_text(file, math.inf, is_checked=False) as text:
        raw: Any = text.raw
        packing = raw.source.packing
    return packing is None or (packing.name == "gzip" and file.endswith(".gz"))


def _joined_parts(parts: list[SvmlightParts], base: bool | None) -> SvmlightParts:
    """Return the examples of all parts, whose columns are as written if the base is to be found."""
    none = np.zeros(0, dtype=np.int64)
    values = np.concatenate([np.zeros(0), *(part[0] for part in parts)])
    columns = np.concatenate([np.zeros(0, dtype=np.int32), *(part[1] for part in parts)])
    lengths = np.concatenate([none, *(np.diff(part[2]) for part in parts)])
    y = np.concatenate([np.zeros(0), *(part[3] for part in parts)])
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    width = max((part[4] for part in parts), default=1)
    is_zero_based = bool(base)
    if base is None:
        is_zero_based = bool(len(columns)) and int(columns.min()) == 0
        if not is_zero_based and len(columns):
            columns, width = columns - np.int32(1), width - 1
    return values, columns, starts, y, width, is_zero_based


def files_of(path: Any) -> list[Any]:
    """Return names of files, and files that are open."""
    items = path if isinstance(path, Sequence) and not isinstance(path, str | bytes) else [path]
    files: list[Any] = []
    for item in items:
        if hasattr(item, "read") and not isinstance(item, os.PathLike):
            if isinstance(item.read(0), str):
                raise TypeError(f"path must be opened in binary mode, got {item!r:.80}; open it with 'rb'")
            files.append(item)
        else:
            files += paths_of(path if item is path else [item])
    return files if files else paths_of(path)


def check_options(n_features: Any, zero_based: Any, query_id: Any) -> bool | None:
    """Return whether columns are counted from 0; None: that is to be found out."""
    if isinstance(zero_based, np.bool_):
        zero_based = bool(zero_based)
    check_among("zero_based", zero_based, True, False, "auto")
    check_among("query_id", query_id, "ignore", "refuse")
    if n_features is not None:
        _check_integer("n_features", n_features)
        if not 1 <= n_features <= _INT64_MAX:
            raise ValueError(
                f"n_features must be at least 1 and at most 2**63 - 1, got {n_features}; "
                "None takes it from the file"
            )
    return None if isinstance(zero_based, str) else zero_based


def _check_integer(name: str, value: object) -> None:
    if number(value, whole=True) is None:
        raise TypeError(f"{name} must be an integer or None, got {value!r}")
