"""CSV, Parquet and Arrow: tables with a column of labels, read by pyarrow a part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.io.source import Batch, PathLike, Source, evenly, joined, paths_of
from perceptron_rs.packed import MAX_RATIO, check_ratio
from perceptron_rs.text import open_text

__all__ = ["open_arrow", "open_csv", "open_parquet"]


def open_csv(
    path: PathLike | Sequence[PathLike],
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    delimiter: str = ",",
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read CSV files with a header in parts, for ``fit_stream``. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files, read as if they were one; patterns such as ``"part-*.csv.gz"`` and folders name several.
        gzip, bzip2 or xz may have compressed them.
    target : str
        Name of the column of labels.
    sample_weight : str, default=None
        Name of the column of weights of examples, if there is one.
    columns : list of str, default=None
        Names of the features, in their order. If None, all other columns of the first file.
    delimiter : str, default=","
        Character between two cells.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The examples; the names of the columns become ``feature_names_in_``.

    Raises
    ------
    ValueError
        If a column is missing, or, when it is read, holds missing values or something other than numbers.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mail.csv")
    ...     _ = file.write_text("length,links,label\n3.5,1,spam\n0.5,0,ham\n")
    ...     model = Perceptron().fit_stream(open_csv(file, target="label"))
    >>> model.feature_names_in_
    array(['length', 'links'], dtype=object)
    """
    csv, double = _module("csv"), _module().float64()
    parse, max_ratio = csv.ParseOptions(delimiter=delimiter), check_ratio(max_ratio)

    def opened(file: str, **options: Any) -> Any:
        return csv.open_csv(open_text(file, max_ratio), parse_options=parse, **options)

    def batches(file: str) -> Any:
        # Else the first part of a file would decide whether a column holds whole numbers.
        names = opened(file).schema.names
        if columns is not None or target not in names:
            names = columns or []
        types = {name: double for name in names if name != target}
        return opened(file, convert_options=csv.ConvertOptions(column_types=types))

    how = f"csv, delimiter={delimiter!r}"
    return _of_files(paths_of(path), batches, target, sample_weight, columns, how)


def open_parquet(
    path: PathLike | Sequence[PathLike],
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
) -> Source:
    """Read Parquet files in parts, for ``fit_stream``. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files, read as if they were one; patterns such as ``"part-*.parquet"`` name several.
    target : str
        Name of the column of labels.
    sample_weight : str, default=None
        Name of the column of weights of examples, if there is one.
    columns : list of str, default=None
        Names of the features, in their order. If None, all other columns of the first file.

    Returns
    -------
    Source
        The examples; the names of the columns become ``feature_names_in_``. Two columns ``indices`` and
        ``values`` that hold lists are the rows of a sparse matrix, as for `open_arrow`.

    Raises
    ------
    ValueError
        If a column is missing, or, when it is read, holds missing values or something other than numbers.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow
    >>> from pyarrow import parquet
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mail.parquet")
    ...     parquet.write_table(pyarrow.table({"length": [3.5, 0.5], "label": ["spam", "ham"]}), file)
    ...     model = Perceptron().fit_stream(open_parquet(file, target="label"))
    >>> model.classes_.tolist()
    ['ham', 'spam']
    """
    parquet = _module("parquet")

    class Reader:
        def __init__(self, file: str) -> None:
            self.file = parquet.ParquetFile(file)
            self.schema = self.file.schema_arrow

        def __iter__(self) -> Iterator[Any]:
            return iter(self.file.iter_batches())

    files = paths_of(path)
    source = _of_files(files, Reader, target, sample_weight, columns, "parquet")

    def cut(n: int | None) -> list[Callable[[], Batch]]:
        groups = [(file, g) for file in files for g in range(Reader(file).file.num_row_groups)]
        if n is not None and n > len(groups):
            raise ValueError(
                f"n must be at most the number of row groups, {len(groups)}, got {n}; write the files "
                f"with smaller ones"
            )
        return [
            partial(_read_row_groups, groups[a:b], target, sample_weight, columns)
            for a, b in evenly(len(groups), len(groups) if n is None else n)
        ]

    return replace(source, cut=cut)


def _read_row_groups(
    groups: list[tuple[str, int]], target: str, weight: str | None, columns: Sequence[str] | None
) -> Batch:
    parquet = _module("parquet")
    batches: list[Batch] = []
    for file, g in groups:
        with parquet.ParquetFile(file) as opened:
            table = _Table(opened.schema_arrow, target, weight, columns, file, None)
            names = [*table.columns, target, *([] if weight is None else [weight])]
            group = opened.read_row_group(g, columns=names, use_threads=False).combine_chunks()
        batches += map(table.batch, group.to_batches() or [_no_rows(group.schema)])
    return joined(batches)


def _no_rows(schema: Any) -> Any:
    return _module().RecordBatch.from_pylist([], schema=schema)


def open_arrow(
    data: Any,
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    n_features: int | None = None,
) -> Source:
    """Read Arrow data, for ``fit_stream``. Needs pyarrow.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        Files in Arrow's IPC format (also known as Feather), or a table of polars, pyarrow, duckdb or pandas.
        A ``pyarrow.RecordBatchReader`` can be passed through only once.
    target : str
        Name of the column of labels.
    sample_weight : str, default=None
        Name of the column of weights of examples, if there is one.
    columns : list of str, default=None
        Names of the features, in their order. If None, all other columns. They hold numbers; or there are
        two, ``indices`` and ``values``, that hold lists: the columns and values of the entries of a sparse
        row. These are read without a copy.
    n_features : int, default=None
        Number of features of sparse rows. If None, a first pass counts them.

    Returns
    -------
    Source
        The examples; the names of the columns become ``feature_names_in_``.

    Raises
    ------
    ValueError
        If a column is missing, or, when it is read, holds missing values or something other than numbers.
    TypeError
        If ``data`` is neither a file nor Arrow data.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import pyarrow
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_arrow
    >>> table = pyarrow.table({"indices": [[0, 3], [1]], "values": [[1.0, 2.0], [0.5]], "label": [1, 0]})
    >>> Perceptron().fit_stream(open_arrow(table, target="label")).coef_
    array([[ 1. , -0.5,  0. ,  2. ]])
    """
    pyarrow = _module()
    if hasattr(data, "__arrow_c_stream__"):
        once = isinstance(data, pyarrow.RecordBatchReader)
        reader = pyarrow.RecordBatchReader.from_stream(data)
        table = _Table(reader.schema, target, sample_weight, columns, "the table", n_features)
        found = [reader]

        def batches() -> Iterator[Batch]:
            stream = found.pop() if found else pyarrow.RecordBatchReader.from_stream(data)
            return map(table.batch, stream)

        return table.source(batches, again=not once)

    class Reader:
        def __init__(self, file: str) -> None:
            self.file = pyarrow.ipc.open_file(pyarrow.memory_map(file))
            self.schema = self.file.schema

        def __iter__(self) -> Iterator[Any]:
            return map(self.file.get_batch, range(self.file.num_record_batches))

    return _of_files(paths_of(data), Reader, target, sample_weight, columns, "arrow", n_features)


def _module(name: str | None = None) -> Any:
    """Return pyarrow, or a module of it."""
    try:
        from importlib import import_module

        return import_module("pyarrow" if name is None else f"pyarrow.{name}")
    except ImportError:
        raise ImportError("tables are read by pyarrow, which is not installed: pip install pyarrow") from None


def _of_files(
    files: list[str],
    opened: Callable[[str], Any],
    target: str,
    weight: str | None,
    columns: Sequence[str] | None,
    reading: str,
    n_features: int | None = None,
) -> Source:
    """Return files as one source; each is opened as something with a schema that gives record batches."""
    arrow = _module()

    def open_one(file: str) -> Any:
        Path(file).stat()  # its error names the file
        try:
            return opened(file)
        except arrow.ArrowInvalid as error:
            raise ValueError(f"{file}: {error}") from None

    table = _Table(open_one(files[0]).schema, target, weight, columns, files[0], n_features)

    def batches() -> Iterator[Batch]:
        for file in files:
            of_file = _Table(open_one(file).schema, target, weight, table.columns, file, n_features)
            try:
                for batch in open_one(file):
                    yield of_file.batch(batch)
            except arrow.ArrowInvalid as error:
                raise ValueError(f"{file}: {error}") from None

    reading = f"{reading}, target={target!r}, sample_weight={weight!r}, columns={table.columns}"
    return table.source(batches, files=tuple(map(Path, files)), reading=reading)


class _Table:
    """Which columns of a table are what."""

    def __init__(
        self,
        schema: Any,
        target: str,
        weight: str | None,
        columns: Sequence[str] | None,
        name: str,
        n_features: int | None,
    ) -> None:
        names = list(schema.names)
        self.target, self.weight, self.name = target, weight, name
        self.columns = [n for n in names if n not in (target, weight)] if columns is None else list(columns)
        for wanted in (target, *([] if weight is None else [weight]), *self.columns):
            if names.count(wanted) != 1:
                raise ValueError(
                    f"{name}: has {names.count(wanted)} columns {wanted!r}; its columns are {names!r:.300}"
                )
        types = _module("types")
        self.is_sparse = set(self.columns) == {"indices", "values"} and all(
            types.is_list(schema.field(n).type) or types.is_large_list(schema.field(n).type)
            for n in self.columns
        )
        self.n_features = n_features if self.is_sparse else len(self.columns)
        if not self.columns:
            raise ValueError(f"{name}: has no columns but the labels {target!r}")

    def source(self, batches: Callable[[], Iterator[Batch]], **options: Any) -> Source:
        """Return the examples as a source."""
        names = None if self.is_sparse else tuple(self.columns)
        return Source(
            batches=batches, n_features=self.n_features, feature_names=names, name=self.name, **options
        )

    def batch(self, given: Any) -> Batch:
        """Return the examples of a record batch."""
        X = self._sparse(given) if self.is_sparse else self._dense(given)
        y = self._numbers(given, self.target, text=True)
        return Batch(X, y, None if self.weight is None else self._numbers(given, self.weight))

    def _dense(self, given: Any) -> NDArray[Any]:
        columns = [self._numbers(given, name) for name in self.columns]
        X = np.empty((given.num_rows, len(columns)), dtype=np.result_type(*columns))
        for index, column in enumerate(columns):
            X[:, index] = column
        return X

    def _sparse(self, given: Any) -> Any:
        indices, values = (given.column(given.schema.get_field_index(n)) for n in ("indices", "values"))
        ends = [np.asarray(column.offsets) for column in (indices, values)]
        if indices.null_count or values.null_count or not np.array_equal(np.diff(ends[0]), np.diff(ends[1])):
            raise ValueError(
                f"{self.name}: indices and values must have lists of the same lengths in each row"
            )
        parts = []
        for name, column, end in zip(("indices", "values"), (indices, values), ends, strict=True):
            numbers = self._as_numbers(column.values, name)
            parts.append(numbers[end[0] : end[-1]])
        places, numbers = parts
        if places.dtype.kind not in "iu":
            raise ValueError(f"{self.name}: indices must hold whole numbers, got {places.dtype}")
        if places.dtype.itemsize == 4 and places.dtype.kind == "u":
            places = places.view(np.int32)  # those above 2^31 become negative, and are refused
        width = int(places.max(initial=-1)) + 1 if self.n_features is None else self.n_features
        from scipy.sparse import csr_matrix

        X = csr_matrix((len(ends[0]) - 1, max(width, 1)), dtype=numbers.dtype)
        X.data, X.indices, X.indptr = numbers, places, ends[0] - ends[0][0]
        return X

    def _numbers(self, given: Any, name: str, *, text: bool = False) -> NDArray[Any]:
        return self._as_numbers(given.column(given.schema.get_field_index(name)), name, text=text)

    def _as_numbers(self, column: Any, name: str, *, text: bool = False) -> NDArray[Any]:
        """Return a column as an array of numbers; or, of labels, of strings."""
        if column.null_count:
            raise ValueError(f"{self.name}: column {name!r} has missing values; fill them or drop these rows")
        array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        if array.dtype.kind in "biuf":
            return array
        if text and all(isinstance(value, str) for value in array.tolist()):
            return array.astype(str)
        raise ValueError(
            f"{self.name}: column {name!r} holds {column.type}, not numbers; encode it, or leave it out"
        )
