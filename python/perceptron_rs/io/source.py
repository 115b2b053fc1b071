"""Sources: examples that are read batch by batch, and can be passed through again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import has_magic
from itertools import accumulate, pairwise
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import (
    ArrayLike,
    MatrixLike,
    has_columns,
    has_rows_by_place,
    has_shape,
    n_dimensions,
)
from perceptron_rs.arrays.scalars import check_among, number, whole_number
from perceptron_rs.errors import naming, refuse_no_name
from perceptron_rs.io.arrays import load_npy, read_npz
from perceptron_rs.io.batches import Batch, example_arrays, joined, parts_of
from perceptron_rs.io.text.lines import name_of_file
from perceptron_rs.io.text.opening import decompressed
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.rows.real_numbers import check_lengths
from perceptron_rs.rows.sparse import CsrArrays, csr_view, is_sparse

#: Path, size and time of last change in nanoseconds of the files of a source.
Files: TypeAlias = list[tuple[str, int, int]]


#: Given a number of parts, or None, callables that each read one, in any process.
Cut: TypeAlias = Callable[[int | None], list[Callable[[], Batch]]]

#: Bytes of batches that are joined, and kept from pass to pass.
SMALL = 2**26

#: Of examples and columns: more take more bytes than can be counted.
_LARGEST = 2**48


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source:
    """Examples that are read batch by batch.

    The functions ``open_...`` make one of files and arrays. To make your own, give ``batches`` alone.

    Parameters
    ----------
    batches : callable
        Returns an iterator over tuples ``(X, y)``, ``(X, y, sample_weight)`` or `Batch`. It is called once
        for each pass that reads, and must give the same examples each time.
    between : callable, default=None
        Returns examples ``first`` to ``last - 1`` as a `Batch`, if that takes no reading of other examples.
    advise : callable, default=None
        Is called with ``first``, ``last`` and whether these examples will be needed soon, if ``between``
        maps them into memory.
    check : callable, default=None
        Raises if the files that ``between`` maps were cut. It is called before each block is learnt.
    cut : callable, default=None
        Makes the parts for `partitions`.
    n_rows : int, default=None
        Number of examples, or of sequences. It must be given with ``between``.
    n_in_batch : int, default=None
        Number of examples in the blocks that ``between`` gives without a copy.
    n_features : int, default=None
        Number of columns. If None, the widest batch tells it.
    feature_names : tuple of str, default=None
        Names of the columns.
    labels : tuple, default=None
        What the columns of y stand for, sorted, if y is a matrix. None: their numbers.
    is_shifted : bool or None, default=False
        Whether the columns are counted from 1. None: they are if column 0 never occurs.
    files : tuple of Path, default=()
        Files whose size and time of last change tell whether the examples are still the same.
    again : bool, default=True
        Whether it can be passed through more than once.
    at_hand : bool, default=False
        Whether ``between`` finds the examples in memory, so that nothing is gained by having them read while
        others are learnt.
    reading : str, default=""
        How the files are read. A cache that was made by another ``reading`` is refused.
    name : str, default="the source"
        What errors call it.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import Source
    >>> def batches():
    ...     random = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = random.normal(size=(100, 3))
    ...         yield X, X[:, 0] > 0
    >>> Perceptron().fit_stream(Source(batches=batches), classes=[False, True]).n_features_in_
    3
    """

    batches: Callable[[], Iterator[Any]]
    between: Callable[[int, int], Batch] | None = None
    advise: Callable[[int, int, bool], None] | None = None
    check: Callable[[], None] | None = None
    cut: Cut | None = None
    n_rows: int | None = None
    n_in_batch: int | None = None
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None
    is_shifted: bool | None = False
    files: tuple[Path, ...] = ()
    again: bool = True
    at_hand: bool = False
    reading: str = ""
    name: str = "the source"

    def __post_init__(self) -> None:
        for name in ("batches", "between", "advise", "check", "cut"):
            function = getattr(self, name)
            if not callable(function) and (function is not None or name == "batches"):
                raise TypeError(f"{name} must be a function, got {function!r:.80}")
        for name, least in (("n_rows", 0), ("n_in_batch", 1), ("n_features", 0)):
            if (value := getattr(self, name)) is not None:
                whole_number(name, value, least, _LARGEST)
        check_among("is_shifted", self.is_shifted, True, False, None)
        for name in ("again", "at_hand"):
            check_among(name, getattr(self, name), True, False)
        for name, kind, of in (("feature_names", str, "strings"), ("files", Path, "paths")):
            values = getattr(self, name)
            if name == "feature_names" and values is None:
                continue
            if not isinstance(values, tuple | list) or not all(isinstance(value, kind) for value in values):
                raise TypeError(f"{name} must be a tuple of {of}, got {values!r:.80}")
        if self.between is not None and self.n_rows is None:
            raise ValueError("n_rows must be given with between: the number of examples, got None")

    def partitions(self, n: int | None = None) -> list[Callable[[], Batch]]:
        """Cut the examples into parts, each to be read where it is needed, such as on a worker of a cluster.

        Parameters
        ----------
        n : int, default=None
            Number of parts, at least 1. Parquet files are cut between row groups, svmlight files between
            lines, tagged sentences between sentences, arrays between rows. None: each row group is a part.
            Of more parts than there are lines, sentences or rows, some have no examples.

        Returns
        -------
        list of callables
            Each returns its examples as a `Batch`, without reading others.

        Raises
        ------
        ValueError
            If n is out of range, or if the source cannot be cut: compressed text, a source of your own.

        Examples
        --------
        >>> import numpy as np
        >>> from perceptron_rs.io import open_arrays
        >>> parts = open_arrays(np.eye(5), np.arange(5)).partitions(2)
        >>> [part().y.tolist() for part in parts]
        [[0, 1], [2, 3, 4]]
        """
        if n is not None and (number(n, whole=True) or 0) < 1:
            raise ValueError(f"n must be a whole number of at least 1 or None, got {n!r:.80}")
        if self.cut is None:
            raise ValueError(
                f"{self.name} cannot be cut into partitions; give Parquet files, svmlight files, tagged "
                f"sentences or arrays, or a callable for each partition"
            )
        return self.cut(n)

    def assert_whole(self) -> None:
        """Raise ValueError if a file that is mapped into memory was cut.

        A process that reads what is gone is ended by the system (SIGBUS). This is asked before each block is
        learnt; between that and the reading nothing can help.
        """
        if self.check is not None:
            self.check()

    def mapped(self, change: Callable[[Batch], Batch], n_features: int) -> Source:
        """Return a source of the batches after a change.

        Parameters
        ----------
        change : callable
            Takes a batch and returns one, whose columns have no names and are counted from 0.
        n_features : int
            Columns of what it returns.

        Returns
        -------
        Source
            The same source, whose batches are changed when they are read.
        """
        return replace(
            self,
            batches=lambda: (change(Batch(*batch)) for batch in self.batches()),
            between=None,
            check=None,
            cut=None,
            n_features=n_features,
            feature_names=None,
            is_shifted=False,
        )


def as_source(source: object) -> Source:
    """Return a `Source`; or make one of a tuple (X, y, ...) of arrays, or of what can be iterated over."""
    if isinstance(source, Source):
        return source
    if isinstance(source, tuple) and 2 <= len(source) <= 4:
        return open_arrays(*source)
    if isinstance(source, Iterator):
        return Source(batches=lambda: source, again=False, name="an iterator")
    if isinstance(source, list) and _is_small_table(source):
        return replace(open_arrays(*joined([Batch(*batch) for batch in source])), name="the source")
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)) and n_dimensions(source) != 0:
        return Source(batches=lambda: iter(source))
    raise TypeError(
        f"source must give batches (X, y), got {source!r:.80}; open a file with perceptron_rs.io, "
        f"for instance by open_svmlight"
    )


def _is_small_table(batches: list[Any]) -> bool:
    """Whether these are arrays of one table: to join them once takes less than to read them in each pass."""
    if len(forms := set(map(form_of_arrays, batches))) != 1 or None in forms:
        return False
    return sum(part.nbytes for batch in batches for part in example_arrays(Batch(*batch))) <= SMALL


def form_of_arrays(batch: Any) -> tuple[object, ...] | None:
    """Return what batches have in common whose arrays can be joined as they are; None of any others."""
    if not (isinstance(batch, tuple) and 2 <= len(batch) <= 4) or any(x is not None for x in batch[3:]):
        return None
    X, by_row = batch[0], [part for part in batch[1:] if part is not None]
    is_dense = type(X) is np.ndarray
    if batch[1] is None or not (is_dense or (is_sparse(X) and X.format == "csr")):
        return None
    for array in (*parts_of(X), *by_row):
        if type(array) is not np.ndarray or array.dtype.kind in "OT":
            return None
    n = X.shape[0] if len(X.shape) == 2 else -1
    if not all(array.ndim and len(array) == n for array in by_row):
        return None
    return is_dense, X.dtype, X.shape[1], *[(array.ndim, array.dtype.kind) for array in by_row]


def open_arrays(
    X: MatrixLike, y: ArrayLike = None, sample_weight: ArrayLike = None, lengths: ArrayLike = None
) -> Source:
    """Read examples from arrays, or from ``.npy`` files, which are mapped into memory and not read.

    Each argument is one array or one file, and not several, a folder or a pattern, as of other readers: a
    list of names would be labels as y, and nothing says which file of X goes with which file of y. The second
    example shows a source of several pairs.

    Parameters
    ----------
    X : array-like, sparse matrix, path, or tuple (data, indices, indptr, n_features) of arrays or paths
        The examples; or the three arrays of a CSR matrix, and its number of columns. A ``.npz`` file is read:
        one of `scipy.sparse.save_npz`, or with an array X, or with ``data``, ``indices``, ``indptr`` and
        ``shape``.
    y : array-like or path, default=None
        Class labels. None: the array y of a ``.npz`` file.
    sample_weight : array-like or path, default=None
        Weights of the examples.
    lengths : array-like or path, default=None
        Number of rows of each sequence, for a sequence learner.

    Returns
    -------
    Source
        The examples. Any part of them can be had without reading the others, so
        ``fit_stream(shuffle="block")`` needs no cache.

    Raises
    ------
    ValueError
        If a file is not an ``.npy`` file of numbers, if an argument has an invalid shape, or if X and y have
        different numbers of examples.
    TypeError
        If X does not contain numbers.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_arrays
    >>> X, y = np.eye(4), np.array([0, 1, 0, 1])
    >>> Perceptron(max_iter=5).fit_stream(open_arrays(X, y)).predict(X)
    array([0, 1, 0, 1])

    Several pairs of files, which are mapped one after another:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs.io import Source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in 0, 1:
    ...         np.save(f"{folder}/X-{part}.npy", X)
    ...         np.save(f"{folder}/y-{part}.npy", y)
    ...     pairs = list(zip(sorted(Path(folder).glob("X-*")), sorted(Path(folder).glob("y-*"))))
    ...     def batches():
    ...         for files in pairs:
    ...             yield tuple(np.load(file, mmap_mode="r") for file in files)
    ...     Perceptron(max_iter=5).fit_stream(Source(batches=batches)).predict(X)
    array([0, 1, 0, 1])
    """
    files: list[Path] = []
    _refuse_several(X)
    if isinstance(X, str | os.PathLike) and Path(X).suffix.lower() == ".npz":
        refuse_pipe(X, "arrays are read")
        files.append(Path(X))
        X, own = read_npz(os.fspath(X))
        y = own if y is None else y
    arguments = X, y, sample_weight, lengths
    if isinstance(X, tuple) and len(X) == 4:
        *parts, n_features = X
        data, indices, indptr = (_mapped(part, files, "X") for part in parts)
        X = _csr_as_it_is(data, indices, indptr, int(n_features))
    else:
        from perceptron_rs.rows.examples import check_matrix  # imports scikit-learn

        with naming("X"):
            X = check_matrix(_mapped(X, files, "X"))
    if is_sparse(X):
        X = X.tocsr()
    elif not has_shape(X) or n_dimensions(X) is None:  # tables of Arrow and polars have the one alone
        X = np.asarray(X)
    if y is None:
        raise ValueError("y must hold class labels, got None")
    if isinstance(y, list | tuple):
        from perceptron_rs.targets.label_sets import is_indicator
        from perceptron_rs.targets.labels import label_array  # imports scikit-learn

        y = np.asarray(y) if is_indicator(y) else label_array(None, y, None)
    elif is_sparse(y):
        y = y.tocsr()
    y = _column(y, files, "y")
    sample_weight, lengths = (
        _column(part, files, name) for name, part in (("sample_weight", sample_weight), ("lengths", lengths))
    )
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, examples and features, got shape {X.shape}")
    if X.shape[1] == 0:
        raise ValueError(f"X must have at least one feature, got shape {X.shape}")
    for name, part in (("y", y), ("sample_weight", sample_weight)):
        if part is not None and part.shape[:1] != X.shape[:1]:
            raise ValueError(
                f"inconsistent numbers of samples: X has {X.shape[0]} rows, "
                f"but {name} has {part.shape[0] if part.shape else 'no'} entries"
            )
    if lengths is not None:
        lengths = check_lengths(lengths, X.shape[0])
        lengths = lengths[lengths > 0]  # of no tokens there is nothing to learn
    ends = None if lengths is None else np.concatenate([[0], np.cumsum(lengths)])

    held = (*parts_of(X), y, sample_weight, lengths)
    maps = [part for part in held if isinstance(part, np.memmap)]

    def check() -> None:
        for array in maps:
            refuse_cut(str(array.filename), array._mmap.size(), array.offset + array.nbytes)  # type: ignore[attr-defined]

    def between(first: int, last: int) -> Batch:
        check()
        a, b = (first, last) if ends is None else (int(ends[first]), int(ends[last]))
        weights = None if sample_weight is None else _some_rows(sample_weight, a, b)
        some = None if lengths is None else _some_rows(lengths, first, last)
        return Batch(_some_rows(X, a, b), _as_scipy(_some_rows(y, a, b)), weights, some)

    n_rows = X.shape[0] if lengths is None else len(lengths)
    in_files = all(
        part is None or isinstance(part, (str, os.PathLike, int))
        for part in (*(arguments[0] if isinstance(arguments[0], tuple) else arguments[:1]), *arguments[1:])
    )

    def cut(n: int | None) -> list[Callable[[], Batch]]:
        if n is None:
            raise ValueError("n must be given: arrays have no parts of their own; give n=2 or more")
        again = partial(open_arrays, *arguments)
        return [
            partial(read_anew, again, a, b) if in_files else partial(Batch, *_of_scipy(between(a, b)))
            for a, b in evenly(n_rows, n)
        ]

    names = None
    if has_columns(X):
        from sklearn.utils.validation import _get_feature_names

        names = _get_feature_names(X)
    return Source(
        batches=lambda: iter([_of_scipy(between(0, n_rows))]),
        between=between,
        check=check if maps else None,
        cut=cut,
        n_rows=n_rows,
        n_features=X.shape[1],
        feature_names=None if names is None else tuple(names),
        files=tuple(files),
        at_hand=all(part is None or type(part) is np.ndarray for part in held),
        name=str(files[0]) if files else "the arrays",
    )


def _refuse_several(X: MatrixLike) -> None:
    """Raise ValueError for files that are not one."""
    is_path = isinstance(X, str | os.PathLike)
    several = isinstance(X, list) and X and all(isinstance(item, str | os.PathLike) for item in X)
    if several or (is_path and (Path(X).is_dir() or (has_magic(os.fspath(X)) and not Path(X).exists()))):
        raise ValueError(
            f"X must be one .npy file, got {X!r:.80}; give a perceptron_rs.io.Source whose batches are the "
            f"pairs of files, as the documentation of open_arrays shows"
        )


def refuse_cut(name: str, size: int, n_bytes: int) -> None:
    """Raise if a file has fewer bytes now than are mapped of it."""
    if size < n_bytes:
        raise ValueError(
            f"{name} was cut to {size} bytes while it was in use, and {n_bytes} are mapped; start "
            f"again when nobody writes to it"
        )


def _column(part: object, files: list[Path], name: str) -> MatrixLike:
    """Return what is given for each example; what can be cut already, as it is."""
    part = _mapped(part, files, name)
    with naming(name):
        return part if part is None or has_shape(part) else np.asarray(part)


def read_anew(again: Callable[[], Source], first: int, last: int) -> Batch:
    """Return examples of a source that is opened where this is called, in whatever process that is."""
    between = again().between
    assert between is not None
    return _of_scipy(between(first, last))


def evenly(total: int, n: int) -> list[tuple[int, int]]:
    """Cut a range into n of about the same length."""
    return list(pairwise(np.linspace(0, total, n + 1).astype(np.int64).tolist()))


def can_be_read_again(*files: object) -> bool:
    """Whether all are names of regular files, which open at their beginning; OSError if one is missing."""
    modes = [Path(file).stat().st_mode if isinstance(file, str | os.PathLike) else 0 for file in files]
    return all(map(S_ISREG, modes))


def refuse_pipe(file: PathLike, what: str) -> None:
    """Raise unless a file can be opened again and again; opening a pipe would wait, deaf to Ctrl-C."""
    if not can_be_read_again(file) and not Path(file).is_dir():
        raise ValueError(
            f"{os.fspath(file)!s}: is no regular file, and can be read only once, but {what} more than once; "
            f"write it to a file"
        )


def byte_ranges(files: Sequence[Any], n: int | None) -> list[list[tuple[str, int, int]]]:
    """Cut files of text into n ranges of about as many bytes: what files, from where, to where.

    None of them is empty: where there are fewer bytes than ranges, some are of no file.
    """
    if n is None:
        raise ValueError("n must be given: text has no parts of its own; give n=2 or more")
    for file in files:
        if not isinstance(file, str) or not Path(file).is_file() or _is_packed(file):
            raise ValueError(
                f"{name_of_file(file)}: can only be read from its beginning; give plain text files"
            )
    begins = [0, *accumulate(Path(file).stat().st_size for file in files)]
    return [
        [
            (file, max(a - begin, 0), min(b, end) - begin)
            for file, (begin, end) in zip(files, pairwise(begins), strict=True)
            if max(a, begin) < min(b, end)
        ]
        for a, b in evenly(begins[-1], n)
    ]


def _is_packed(file: str) -> bool:
    with decompressed(file) as opened:
        return opened.packing is not None


def _mapped(part: object, files: list[Path], name: str) -> Any:
    """Return the array of a .npy file, mapped; anything else as it is."""
    if not isinstance(part, (str, os.PathLike)):
        return part
    refuse_no_name(os.fspath(part), name)
    path = Path(part)
    refuse_pipe(path, "arrays are mapped into memory, and read")
    files.append(path)
    try:
        array = load_npy(path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: {error}; write it with numpy.save") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: is an archive, not a .npy file; give it as X alone")
    return array


def _csr_as_it_is(
    data: NDArray[np.generic], indices: NDArray[np.generic], indptr: NDArray[np.generic], n_features: int
) -> Any:
    """Return a CSR matrix of these very arrays: SciPy would read all of them, to check them."""
    if len(indptr) == 0 or len(data) != len(indices) or indptr[-1] > len(data):
        raise ValueError(
            f"indptr must end with the number of entries, {len(data)}, of which indices has {len(indices)}"
        )
    from scipy.sparse import csr_matrix

    X = csr_matrix((len(indptr) - 1, n_features), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


def _some_rows(X: MatrixLike, first: int, last: int) -> MatrixLike:
    """Return some rows, without a copy of their entries."""
    if not is_sparse(X):
        return X.iloc[first:last] if has_rows_by_place(X) else X[first:last]
    return csr_view(X, first, last)


def _as_scipy(X: MatrixLike) -> MatrixLike:
    """Return a sparse matrix as callers have it: of SciPy, which takes longer than to cut its arrays."""
    return _csr_as_it_is(X.data, X.indices, X.indptr, X.shape[1]) if isinstance(X, CsrArrays) else X


def _of_scipy(batch: Batch) -> Batch:
    return batch._replace(X=_as_scipy(batch.X))


def stamps(files: Iterable[Path]) -> Files:
    """Return the size and time of each file: a file that is written to changes them."""
    stats = ((path, path.stat()) for path in files)
    return [(os.fspath(path.resolve()), stat.st_size, stat.st_mtime_ns) for path, stat in stats]


def changed_file(before: Sequence[Any], now: Sequence[Any]) -> str | None:
    """Return the first file that is not what it was."""
    names = [new[0] for old, new in zip(before, now, strict=False) if old != new]
    return names[0] if names else None if len(before) == len(now) else "their number"


def borders(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut so many rows into blocks of a size; the last one may be smaller."""
    return pairwise([*range(0, n_rows, size), n_rows])
