"""Tables as sources: CSV, Parquet, files in Arrow's format, and tables of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perceptron_rs.errors import about
from perceptron_rs.io.batches import Batch, joined
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import USUAL_BITS, Reading, checked_options
from perceptron_rs.io.source import Source, evenly, refuse_cut, refuse_pipe
from perceptron_rs.io.tables.columns import arrow, in_parts
from perceptron_rs.io.tables.tables import IpcFile, ParquetFile, TableRows, is_ipc, rows_of_file
from perceptron_rs.io.text.opening import MAX_RATIO
from perceptron_rs.io.text.paths import PathLike, paths_of
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.rows.real_numbers import refuse_lazy

if TYPE_CHECKING:
    import pyarrow as pa

    from perceptron_rs.io.tables.columns import ArrowRows


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
    decimal: Literal[".", ","] | None = None,
    text_columns: Sequence[str] | None = None,
    hash_bits: int | None = None,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read CSV files in parts, for ``fit_stream``. Needs pyarrow.

    What the cells stand for is said in :doc:`/guide/tables`. A first pass finds whether the labels are
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
        Names of the features, in their order. If None, all other columns: each file must have those of the
        first, in any order.
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
    decimal : {".", ","} or None, default=None
        What comes before a fraction, in numbers as people write them: there may be marks between thousands,
        and signs of money or percent around, which say nothing: "$1,200.50" is 1200.5, and "12%" is 12.
        None: numbers are plain.
    text_columns : list of str, default=None
        As for `open_examples`, which has more options of texts.
    hash_bits : int, default=None
        Hash the features to ``2 ** hash_bits`` columns, as scikit-learn's ``FeatureHasher`` does: of text the
        name and the value of a cell, of numbers the name. A missing value is no feature. A first pass finds
        which columns hold text. None: they are hashed only beside texts, to ``2 ** 18``.
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
    options = {name: value for name, value in locals().items() if name != "path"}
    arrow()  # its absence is said here
    reading = Reading(format="csv", **checked_options(**options))
    return TrainingFiles(_checked_files(path), reading).opened()


def open_parquet(
    path: PathLike | Sequence[PathLike],
    *,
    target: str,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    text_columns: Sequence[str] | None = None,
    hash_bits: int | None = None,
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
        Names of the features, in their order. If None, all other columns, without those that are the index of
        a pandas data frame: each file must have those of the first, in any order. A column of lists of one
        length, such as embeddings, is as many features: "name[0]", "name[1]", ...
    drop : list of str, default=()
        Names of columns that are no features.
    text_columns, hash_bits
        As for `open_csv`.

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
    options = {name: value for name, value in locals().items() if name != "path"}
    arrow()
    files = _checked_files(path)
    if text_columns is not None and hash_bits is None:
        options["hash_bits"] = USUAL_BITS
    reading = Reading(format="parquet", **checked_options(**options))
    source = TrainingFiles(files, reading).opened()
    if source.feature_names is not None:
        reading = replace(reading, first=(files[0], source.feature_names))

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
    from perceptron_rs.io.svmlight.files import check_options

    pyarrow = arrow()
    refuse_lazy(data, "data")
    check_options(n_features, "auto", "ignore")
    options = checked_options(target=target, sample_weight=sample_weight, columns=columns, drop=drop)
    given = frozenset(() if n_features is None else ["n_features"])
    reading = Reading(format="parquet", **options, n_features=n_features, as_written=True, given=given)
    if not hasattr(data, "__arrow_c_stream__"):
        files = _checked_files(data, "data")
        for file in files:
            with about(file):
                if not is_ipc(file):
                    raise ValueError(
                        "is no file in Arrow's IPC format; if it is in its stream format, pass "
                        "pyarrow.ipc.open_stream(path), and for Parquet use open_parquet"
                    )
                IpcFile(file)
        sizes = {file: Path(file).stat().st_size for file in files}
        return replace(TrainingFiles(files, reading).opened(), check=partial(_refuse_cut, sizes))
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

    opened = [stream()]
    rows = TableRows("the table", reading, opened[0].schema, first)

    def batches() -> Iterator[Batch]:
        before = 0
        for table in in_parts(opened.pop() if opened else stream()):
            yield _batch_of(rows.part(before + 1, table))
            before += table.num_rows

    return Source(
        batches=batches,
        n_features=rows.layout.n_features,
        feature_names=rows.layout.names,
        again=not once,
        name="the table",
    )


def _batch_of(data: Examples) -> Batch:
    return Batch(data.rows, data.y, data.weights)


def _checked_files(path: PathLike | Sequence[PathLike], argument: str = "path") -> list[str]:
    """Return files that can be read twice; the errors for missing ones name them."""
    files = paths_of(path, argument)
    for file in files:
        refuse_pipe(file, "tables are read")
    return files


def _read_row_groups(groups: list[tuple[str, int]], reading: Reading) -> Batch:
    batches: list[Batch] = []
    for file, g in groups:
        opened = ParquetFile(file)
        with opened.file:
            rows = rows_of_file(opened, file, reading)
            before = sum(opened.file.metadata.row_group(i).num_rows for i in range(g))
            group = opened.file.read_row_group(g, columns=rows.layout.used, use_threads=False)
            batches.append(_batch_of(rows.part(before + 1, group)))
    return joined(batches)


def _refuse_cut(sizes: dict[str, int]) -> None:
    """Raise if a file that is mapped is shorter than it was."""
    for file, size in sizes.items():
        refuse_cut(file, Path(file).stat().st_size, size)
