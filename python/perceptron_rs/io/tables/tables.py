"""CSV, Parquet and Arrow: tables with a column of labels, read by pyarrow a part at a time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.errors import about
from perceptron_rs.io.batches import Batch, joined
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, checked_options
from perceptron_rs.io.source import PathLike, Source, evenly, paths_of, refuse_cut, refuse_pipe
from perceptron_rs.io.tables.cells import CellKinds, LabelKind
from perceptron_rs.io.tables.columns import arrow, room_for_arrow
from perceptron_rs.io.tables.delimited import CsvText
from perceptron_rs.io.tables.layout import Layout, layout_of, located
from perceptron_rs.io.text.compression import MAX_RATIO
from perceptron_rs.io.threads import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from perceptron_rs.io.tables.columns import ArrowRows

__all__ = [
    "CsvLines",
    "ParquetFile",
    "kinds_of",
    "open_arrow",
    "open_csv",
    "open_parquet",
    "table_file",
    "whole_table",
]


#: How files in Arrow's IPC format begin.
_IPC = b"ARROW1"


def open_csv(
    path: PathLike | Sequence[PathLike],
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str = ",",
    header: bool | None = None,
    missing: Sequence[str] = (),
    hash_bits: int | None = None,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read CSV files in parts, for ``fit_stream``. Needs pyarrow.

    What the cells stand for is said in :doc:`/guide/files`. A first pass finds whether the labels are
    integers.

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
    drop : list of str, default=()
        Names of columns that are no features.
    delimiter : str, default=","
        Character between two cells.
    header : bool, default=None
        Whether the first line of each file holds the names of the columns. If None, it does, and a line that
        looks like an example is refused. If False, the columns are called "f0", "f1", ..., and the features
        have no names.
    missing : list of str, default=()
        Cells that stand for a missing value, such as "NA". An empty cell always does.
    hash_bits : int, default=None
        Hash the features to ``2 ** hash_bits`` columns, as scikit-learn's ``FeatureHasher`` does: of text the
        name and the value of a cell, of numbers the name. A missing value is no feature. A first pass finds
        which columns hold text.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The examples; the names of the columns become ``feature_names_in_``.

    Raises
    ------
    ValueError
        If a column is missing or has no name, if the first line looks like an example; or, when it is read,
        if a record has too few or too many cells, or a cell holds neither a number nor a label.
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
    arrow()  # its absence is said here
    options = checked_options(
        target=target,
        sample_weight=sample_weight,
        columns=columns,
        drop=drop,
        delimiter=delimiter,
        header=header,
        missing=missing,
        hash_bits=hash_bits,
        max_ratio=max_ratio,
    )
    return _opened(_checked_files(path), Reading(format="csv", **options))


def _opened(files: list[str], reading: Reading) -> Source:
    from perceptron_rs.io.files import ExampleFiles  # which reads by this module

    return ExampleFiles(files, reading).opened()


class CsvLines:
    """Makes examples of whole records of a file, which begin with its first line.

    If nothing says what labels are, or which columns to hash hold text, a part must be all of the file.

    Parameters
    ----------
    name : str
        What errors call the file.
    form : {"csv", "tsv"}
    reading : Reading
        How it is read.
    """

    def __init__(self, name: str, form: str, reading: Reading) -> None:
        self.text = CsvText(name, reading.separator(form), header=reading.header, missing=reading.missing)
        self.reading, self.texts, self.records = reading, reading.texts, self.text.records
        self.layout: Layout | None = None
        self._rows = 0

    def after_header(self, text: bytes) -> bytes | None:
        """Return a part without the header, and know the columns; None as long as no line was there."""
        if not self.text.names:
            text = self.text.begin(text)
            if not self.text.names:
                return None
            self.layout = layout_of(self.text.schema, self.text.name, self.reading, text=self.text)
        return text

    def part(self, _first: int, text: bytes) -> Examples:
        """Return the examples in whole records; none if no line was there."""
        return self._examples(map(self.table, self._rest([text])))

    def whole(self, parts: Iterable[bytes]) -> Examples:
        """Return the examples of all parts together."""
        return self._examples(in_order(self.table, self._rest(parts)))

    def _rest(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        return (text for text in map(self.after_header, parts) if text is not None)

    def _examples(self, tables: Iterable[Any]) -> Examples:
        before, rows, parts = self._rows, 0, []
        with located(self.text.name, lambda: before + rows):
            for table in tables:
                rows += table.num_rows
                parts.append(table)
            self._rows, rows, layout = before + rows, 0, self.layout
            if layout is None:
                return Examples(np.zeros((0, self.reading.n_features or 0)))
            X, y, weights, _ = self._batch(arrow().concat_tables(parts) if len(parts) > 1 else parts[0])
        if self.reading.hash_bits is None:
            return Examples(X, y, weights, None if self.text.header is False else layout.names)
        names = tuple(feature.name for feature in layout.features)
        return Examples(X, y, weights, hashed=(names, self.texts or ()))

    def table(self, text: bytes) -> pa.Table:
        """Return the columns that are needed, as numbers where it is known that they hold them."""
        layout = self.layout
        assert layout is not None
        numbers = set(layout.used) - {layout.target}
        if self.reading.hash_bits is not None:
            numbers -= set(layout.columns) if self.texts is None else set(self.texts)
        used = [name for name in layout.used if self.reading.with_labels or name != layout.target]
        return self.text.table(text, used, numbers)

    def _batch(self, table: ArrowRows) -> Batch:
        layout = self.layout
        assert layout is not None
        if self.reading.hash_bits is not None and self.texts is None:
            kinds = {name: CellKinds(name) for name in layout.columns}
            for name, kind in kinds.items():
                kind.add(table.column(name))
            self.texts = tuple(name for name, kind in kinds.items() if kind.is_text())
            table = self.text.converted(table, [name for name in kinds if name not in self.texts])
        if layout.target is None or not self.reading.with_labels:
            return layout.batch(table, hash_bits=self.reading.hash_bits, is_labelled=False)
        label_kind = self.reading.label_kind
        if label_kind is None:
            found = CellKinds(layout.target)
            found.add(table.column(layout.target))
            label_kind = self.label_kind(found)
        return layout.batch(table, label_kind, hash_bits=self.reading.hash_bits)

    def look(self, parts: Iterable[bytes], kinds: dict[str, CellKinds]) -> None:
        """Look at the cells of a file of whose columns the kinds are to be found."""
        rows = 0
        with located(self.text.name, lambda: rows):
            for text in map(self.after_header, parts):
                layout = self.layout
                if text is None or layout is None:
                    continue
                features = layout.columns if self.reading.hash_bits is not None and self.texts is None else []
                names = [*features, *([] if layout.target is None else [layout.target])]
                table = self.text.table(text, names or layout.used, ())
                rows += table.num_rows
                for name in names:
                    kinds.setdefault(name, CellKinds(name)).add(table.column(name))

    def label_kind(self, kinds: CellKinds) -> LabelKind:
        """Return what labels are; raise an error if the first line looks like an example."""
        assert self.layout is not None
        if kinds.holds_name and self.reading.names is None:
            texts = self.texts or ()
            self.text.refuse_label(kinds.name, [n for n in self.layout.columns if n not in texts])
        return kinds.label_kind()


def kinds_of(
    every: Sequence[CsvLines], records: Callable[[str, CsvLines], Iterable[bytes]], files: Sequence[str]
) -> tuple[LabelKind | None, tuple[str, ...] | None]:
    """Return what the labels of files are, and which columns to hash hold text: all cells tell it."""
    kinds: dict[str, CellKinds] = {}
    for file, lines in zip(files, every, strict=True):
        lines.look(records(file, lines), kinds)
    last = next((lines for lines in reversed(every) if lines.layout is not None), every[-1])
    with located(every[0].text.name):
        target = None if last.layout is None else last.layout.target
        if last.reading.hash_bits is not None and last.texts is None:
            last.texts = tuple(name for name in kinds if name != target and kinds[name].is_text())
        kind = last.reading.label_kind
        if kind is None and target in kinds:
            kind = last.label_kind(kinds[target])
    return kind, last.texts


def _checked_files(path: PathLike | Sequence[PathLike]) -> list[str]:
    """Return files that can be read twice; the errors for missing ones name them."""
    files = paths_of(path)
    for file in files:
        refuse_pipe(file, "tables are read")
    return files


def open_parquet(
    path: PathLike | Sequence[PathLike],
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
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
        Names of the features, in their order. If None, all other columns of the first file, without those
        that are the index of a pandas data frame. A column of lists of one length, such as embeddings, is
        as many features: "name[0]", "name[1]", ...
    drop : list of str, default=()
        Names of columns that are no features.

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
    arrow()
    files = _checked_files(path)
    options = checked_options(target=target, sample_weight=sample_weight, columns=columns, drop=drop)
    reading = Reading(format="parquet", **options)
    source = _opened(files, reading)

    def cut(n: int | None) -> list[Callable[[], Batch]]:
        groups = [(file, g) for file in files for g in range(ParquetFile(file).file.num_row_groups)]
        if n is not None and n > len(groups):
            raise ValueError(
                f"n must be at most the number of row groups, {len(groups)}, got {n}; write the files "
                f"with smaller ones"
            )
        return [
            partial(_read_row_groups, groups[a:b], reading)
            for a, b in evenly(len(groups), len(groups) if n is None else n)
        ]

    return replace(source, cut=cut)


class ParquetFile:
    """A Parquet file, of which some rows are read at a time."""

    def __init__(self, file: str | bytes) -> None:
        self.file = arrow("parquet").ParquetFile(_readable(file))
        self.schema = self.file.schema_arrow

    def layout(self, name: str, reading: Reading) -> Layout:
        """Return which columns are what."""
        return layout_of(self.schema, name, reading, first=self.first)

    def parts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give these columns of some rows after others."""
        return iter(self.file.iter_batches(columns=columns))

    def first(self) -> ArrowRows:
        """Return the first row, if there is any."""
        return next(self.file.iter_batches(batch_size=1), self.schema.empty_table())

    def whole(self) -> Any:
        """Return all rows as a table, and close the file."""
        with self.file:
            return self.file.read()


def _readable(file: str | bytes) -> Any:
    """Return a file, or what one holds, as Arrow reads it."""
    return arrow().BufferReader(file) if isinstance(file, bytes) else file


def _refuse_cut(sizes: dict[str, int]) -> None:
    """Raise if a file that is mapped is shorter than it was."""
    for file, size in sizes.items():
        refuse_cut(file, Path(file).stat().st_size, size)


class IpcFile(ParquetFile):
    """A file in Arrow's IPC format, mapped."""

    def __init__(self, file: str | bytes) -> None:
        mapped = arrow().memory_map(file) if isinstance(file, str) else _readable(file)
        self.file = arrow("ipc").open_file(mapped)
        self.schema = self.file.schema

    def parts(self, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  nothing is read of the others
        """Give some rows after others."""
        return map(self.file.get_batch, range(self.file.num_record_batches))

    def first(self) -> ArrowRows:
        """Return some rows, if there are any."""
        return next(self.parts(), self.schema.empty_table())

    def whole(self) -> Any:
        """Return all rows as a table."""
        return self.file.read_all()


def table_file(file: str | bytes) -> ParquetFile:
    """Open a Parquet file, or one in Arrow's IPC format, by its first bytes; from its path or content."""
    return IpcFile(file) if _is_ipc(file) else ParquetFile(file)


def _is_ipc(file: str | bytes) -> bool:
    """Whether a file, from its path or content, is in Arrow's IPC format."""
    with io.BytesIO(file) if isinstance(file, bytes) else Path(file).open("rb") as opened:
        return opened.read(len(_IPC)) == _IPC


def whole_table(file: str | bytes) -> Any:
    """Return a file of Parquet, or one in Arrow's IPC format, or what one holds, as a table of Arrow."""
    with room_for_arrow(file):
        return table_file(file).whole()


def _read_row_groups(groups: list[tuple[str, int]], reading: Reading) -> Batch:
    batches: list[Batch] = []
    for file, g in groups:
        opened = ParquetFile(file)
        with opened.file:
            layout = opened.layout(file, reading)
            before = sum(opened.file.metadata.row_group(i).num_rows for i in range(g))
            group = opened.file.read_row_group(g, columns=layout.used, use_threads=False).combine_chunks()
            batches += layout.batches(group.to_batches() or [_no_rows(group.schema)], before=before)
    return joined(batches)


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return arrow().RecordBatch.from_pylist([], schema=schema)


def open_arrow(
    data: Any,
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
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
        Names of the features, in their order. If None, all other columns, without those that are the index of
        a pandas data frame. They hold numbers, or lists of one length, as for `open_parquet`; or there are
        two, ``indices`` and ``values``, that hold lists: the columns and values of the entries of a sparse
        row. These are read without a copy.
    drop : list of str, default=()
        Names of columns that are no features.
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
    pyarrow = arrow()
    options = checked_options(target=target, sample_weight=sample_weight, columns=columns, drop=drop)
    if not hasattr(data, "__arrow_c_stream__"):
        files = _checked_files(data)
        for file in files:
            with about(file):
                if not _is_ipc(file):
                    raise ValueError(
                        "is no file in Arrow's IPC format; if it is in its stream format, pass "
                        "pyarrow.ipc.open_stream(path), and for Parquet use open_parquet"
                    )
                IpcFile(file)
        sizes = {file: Path(file).stat().st_size for file in files}
        reading = Reading(format="parquet", **options, n_features=n_features, as_written=True)
        return replace(_opened(files, reading), check=partial(_refuse_cut, sizes))
    once = isinstance(data, pyarrow.RecordBatchReader)

    def stream() -> pa.RecordBatchReader:
        return pyarrow.RecordBatchReader.from_stream(data)

    def first() -> ArrowRows:
        if once:
            raise ValueError(
                "the table: a stream that is read once must have its lists in columns of fixed-size lists; "
                "cast them, or give a table"
            )
        return next(iter(stream()), None) or stream().schema.empty_table()

    found = [stream()]
    layout = Layout(
        found[0].schema,
        "the table",
        target=target,
        weight=sample_weight,
        columns=columns,
        drop=drop,
        first=first,
        n_features=n_features,
    )

    def batches() -> Iterator[Batch]:
        return layout.batches(found.pop() if found else stream())

    return layout.source(batches, again=not once)
