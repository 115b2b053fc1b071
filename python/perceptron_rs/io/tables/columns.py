"""Columns of Arrow tables as arrays, and which of them are features: never those of pandas' index."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError
from perceptron_rs.features.dictionaries import Column, Strings
from perceptron_rs.io.examples import NOT_WHOLE

if TYPE_CHECKING:
    import pyarrow as pa

#: A table, or a batch of rows.
ArrowRows: TypeAlias = "pa.Table | pa.RecordBatch"

#: Of a table at a time: it becomes a matrix, beside which it stands.
PART_BYTES = 1 << 23
_PART_ROWS = 1 << 16


def arrow(name: str | None = None) -> ModuleType:
    """Return pyarrow, or a module of it."""
    try:
        return import_module("pyarrow" if name is None else f"pyarrow.{name}")
    except ImportError:
        raise ImportError("tables are read by pyarrow, which is not installed: pip install pyarrow") from None


def rows_of_part(n_bytes: int, n_rows: int) -> int:
    """Return how many rows are read at a time of so many in so many bytes."""
    return max(1, min(_PART_ROWS, PART_BYTES * n_rows // max(n_bytes, 1)))


def in_parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give large batches a part at a time, which is no copy."""
    for batch in batches:
        step = rows_of_part(batch.nbytes, batch.num_rows)
        yield from (batch.slice(begin, step) for begin in range(0, max(batch.num_rows, 1), step))


class CellError(ArgumentError):
    """What is wrong with a cell, and in which row of the part that was read, from 0; None: in any."""

    def __init__(
        self, row: int | None, text: str, remedy: str = "", settings: Mapping[str, object] | None = None
    ) -> None:
        super().__init__("{text}", remedy, settings=settings, text=text)
        self.row = row

    def of_file(self, name: str, before: int) -> ArgumentError:
        """Return the error for the reader of a file, of which so many rows came before."""
        place = f"{name}: " if self.row is None else f"{name}: row {before + self.row + 1}: "
        return ArgumentError(self.problem, self.remedy, place=place, settings=self.settings, **self.facts)

    def in_row(self, row: int | None) -> Self:
        """Return the same error of another row."""
        error = self.at("")
        error.row = row
        return error


class Feature(NamedTuple):
    """A feature: a column, or a place in the lists of a column, of so many numbers."""

    name: str
    column: str
    place: int | None = None
    width: int = 0


def first_row(mask: object) -> int | None:
    """Return the first row of which something is true; None if there is none."""
    row = int(arrow("compute").index(mask, True).as_py())
    return None if row < 0 else row


def quoted_names(names: Sequence[str], most: int = 10) -> str:
    """Return names for an error, in quotes: none is taken for a word of the sentence, and blanks show."""
    return ", ".join([*map(repr, names[:most]), *(["..."] if len(names) > most else [])])


def is_lists(kind: Any) -> bool:
    """Whether a column holds lists, perhaps as codes of a dictionary."""
    types = arrow("types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    is_fixed = types.is_fixed_size_list(kind)
    return bool(types.is_list(kind) or types.is_large_list(kind) or is_fixed or _is_list_view(kind))


def _is_list_view(kind: Any) -> bool:
    """Whether a column holds views of lists, which older versions of pyarrow do not know."""
    return str(kind).startswith(("list_view<", "large_list_view<"))


def column_of(schema: pa.Schema) -> Callable[[str], str]:
    """Return what finds the column of a name: "name[0]" is a number in the lists of a column "name"."""
    names = set(schema.names)

    def column(name: str) -> str:
        match = None if name in names else re.fullmatch(r"(.*)\[\d+\]", name, re.DOTALL)
        is_place = match is not None and match[1] in names and is_lists(schema.field(match[1]).type)
        return match[1] if match is not None and is_place else name

    return column


def features_of(
    schema: pa.Schema, names: Sequence[str], first: Callable[[], ArrowRows] | None
) -> list[Feature]:
    """Return the features of these names; ``first`` gives a part with rows that tells how long lists are."""
    features: list[Feature] = []
    places: dict[str, dict[str, Feature]] = {}
    of_name = column_of(schema)
    part: ArrowRows | None = None
    for name in names:
        column = of_name(name)
        kind = schema.field(column).type
        if not is_lists(kind):
            features.append(Feature(name, name))
            continue
        if column not in places:
            if arrow("types").is_fixed_size_list(kind):
                width = kind.list_size
            else:
                part = first() if part is None and first is not None else part
                assert part is not None  # text has no lists
                lists = single(part.column(part.schema.get_field_index(column)))
                width = len(lists[0]) if len(lists) and lists[0].is_valid else 0
                if len(lists) and not width:
                    raise CellError(0, f"column {column!r} has no list of numbers; fill it in, or drop it")
            each = (Feature(f"{column}[{i}]", column, i, width) for i in range(width))
            places[column] = {feature.name: feature for feature in each}
        if column == name:
            features += places[column].values()
        elif name in places[column]:
            features.append(places[column][name])
        else:
            raise CellError(
                None, f"column {column!r} has lists of {len(places[column])} numbers, not {name!r}"
            )
    return features


def single(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, of the values themselves where they are codes of a dictionary, or views.

    Many of Arrow's functions do not know views, which polars writes.
    """
    if hasattr(column, "chunks"):
        parts = [single(part) for part in column.chunks] or [single(arrow().array([], column.type))]
        return parts[0] if len(parts) == 1 else arrow().concat_arrays(parts)
    if isinstance(column, arrow().ExtensionArray):
        return single(column.storage)
    if arrow("types").is_dictionary(column.type):
        return single(column.dictionary).take(column.indices)
    if str(column.type).startswith("run_end_encoded"):
        return single(arrow("compute").run_end_decode(column))
    if str(column.type) == "string_view":
        return column.cast(arrow().large_string())
    return _as_lists(column) if _is_list_view(column.type) else column


def _as_lists(views: pa.Array) -> pa.Array:
    """Return views of lists as lists, one after another; Arrow's own cast goes wrong where they overlap."""
    pc = arrow("compute")
    lengths = pc.fill_null(pc.list_value_length(views), 0).to_numpy(zero_copy_only=False)
    ends = arrow().array(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    return arrow().LargeListArray.from_arrays(ends, views.flatten(), mask=pc.is_null(views))


def matrix(table: ArrowRows, features: Sequence[Feature]) -> NDArray[np.generic]:
    """Return features side by side, in the one type that holds all of them.

    Raises
    ------
    CellError
        If a value is missing, or is not a number.
    """
    columns: dict[str, NDArray[np.generic]] = {}
    for feature in features:
        name = feature.column
        if name in columns:
            continue
        column = single(table.column(table.schema.get_field_index(name)))
        if feature.place is None:
            columns[name] = number_column(column, name)
        else:
            columns[name] = _lists(column, feature)
    # Neighbouring places of a list are taken together; one column of lists alone is not copied.
    parts: list[NDArray[np.generic]] = []
    for run in _runs(features):
        column, place = columns[run[0].column], run[0].place
        parts.append(column[:, np.newaxis] if place is None else column[:, place : place + len(run)])
    if len(parts) == 1:
        return parts[0]
    X = np.empty((table.num_rows, len(features)), dtype=np.result_type(*{part.dtype for part in parts}))
    end = 0
    for part in parts:
        X[:, end : (end := end + part.shape[1])] = part
    return X


def _runs(features: Sequence[Feature]) -> Iterator[list[Feature]]:
    """Give the features in runs of places that follow each other in the lists of one column."""
    run: list[Feature] = []
    for feature in features:
        follows = bool(run) and feature.place is not None and run[-1].place == feature.place - 1
        if run and not (follows and run[0].column == feature.column):
            yield run
            run = []
        run.append(feature)
    if run:
        yield run


def _lists(column: pa.Array, feature: Feature) -> NDArray[np.generic]:
    """Return lists of equal lengths as a matrix."""
    pc, name, width = arrow("compute"), feature.column, feature.width
    row = first_row(pc.is_null(column))
    if row is not None:
        raise CellError(row, f"column {name!r} has no list; fill it in, or drop the row")
    _check_lengths(column, feature)
    try:
        flat = number_column(column.flatten(), name)
    except CellError as error:
        raise error.in_row(None if error.row is None else error.row // width) from None
    return flat.reshape(-1, width)


def _check_lengths(column: pa.Array, feature: Feature) -> None:
    """Raise `CellError` for a list of another length than the feature's."""
    pc, width = arrow("compute"), feature.width
    lengths = pc.fill_null(pc.list_value_length(column), width).to_numpy(zero_copy_only=False)
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise CellError(
            row,
            f"column {feature.column!r} has a list of {lengths[row]} numbers where others have {width}; "
            f"lists that are features must have one length",
        )


class TextCells:
    """A column of texts, of which some are made strings at a time; a missing one is empty."""

    def __init__(self, column: pa.Array | pa.ChunkedArray) -> None:
        self._column = column

    def __getitem__(self, rows: slice) -> list[str]:
        return [text or "" for text in single(self._column[rows]).to_pylist()]


def hashable(column: pa.Array, feature: Feature) -> Column:
    """Return the cells of a feature, to be hashed; raise `CellError` unless they are numbers or text."""
    column, types, pc = single(column), arrow("types"), arrow("compute")
    if feature.place is not None:
        _check_lengths(column, feature)
        column = pc.list_element(column, feature.place)
    kind = column.type
    if is_text(kind):
        coded = column.dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Strings(codes, coded.dictionary.to_pylist())
    known = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if not any(is_known(kind) for is_known in known):
        raise CellError(
            None,
            f"column {feature.column!r} holds {kind}, neither numbers nor strings",
            "encode it, or leave it out ({drop})",
            {"drop": [feature.column]},
        )
    if types.is_decimal(kind):
        column = column.cast(arrow().string()).cast(arrow().float64())  # as in `number_column`
    elif types.is_boolean(kind):
        column = column.cast(arrow().int8())
    numbers: NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def number_column(column: pa.Array, name: str) -> NDArray[np.generic]:
    """Return a column of numbers; raise `CellError` for one that is missing, or if it holds none."""
    types, column = arrow("types"), single(column)
    row = first_row(arrow("compute").is_null(column, nan_is_null=True))
    if row is not None:
        raise CellError(row, f"column {name!r} has a missing value; fill it in, or drop the row")
    if types.is_decimal(column.type):
        # Arrow's own conversion is not always the nearest number; that of text is.
        column = column.cast(arrow().string()).cast(arrow().float64())
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        raise CellError(
            None,
            f"column {name!r} holds {_in_words(column.type)}, not numbers",
            "encode it, or leave it out ({drop})",
            {"drop": [name]},
        )
    values: NDArray[np.generic] = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f" and not (is_finite := np.isfinite(values)).all():
        raise CellError(int(np.argmin(is_finite)), f"column {name!r} holds an infinity; leave the row out")
    return values


def refuse_missing_label(is_missing: Any, name: str) -> None:
    """Raise `CellError` for the first label of a column that is missing."""
    row = first_row(is_missing)
    if row is not None:
        raise CellError(row, f"the label in column {name!r} is missing; drop this row, or fill the label in")


def text_labels(column: pa.Array, name: str) -> NDArray[np.str_]:
    """Return labels as strings; `CellError` for one whose end NumPy would drop: two classes would be one."""
    texts = column.to_pylist()
    for row, text in enumerate(texts):
        if text.endswith("\0"):
            raise CellError(
                row, f"the label in column {name!r} is {text!r:.60}; leave out the NUL at its end"
            )
    return np.array(texts, dtype=str)


def label_column(column: pa.Array, name: str) -> NDArray[np.generic]:
    """Return a column of labels that has a type: numbers, booleans or strings."""
    types, column = arrow("types"), single(column)
    refuse_missing_label(arrow("compute").is_null(column, nan_is_null=True), name)
    kind = column.type
    if is_text(kind):
        return text_labels(column, name)
    if types.is_decimal(kind) or types.is_floating(kind):
        return _whole_labels_of(column.to_pylist(), name)
    if not (types.is_integer(kind) or types.is_boolean(kind)):
        raise CellError(
            None, f"the labels in column {name!r} are {_in_words(kind)}; they must be numbers or strings"
        )
    values: NDArray[np.generic] = column.to_numpy(zero_copy_only=False)
    return values


def _whole_labels_of(values: list[Any], name: str) -> NDArray[np.int64]:
    """Return labels that are whole, as integers."""
    for row, value in enumerate(values):
        if not (math.isfinite(value) and value == int(value)):
            raise CellError(row, f"the label in column {name!r} is {value}; {NOT_WHOLE}")
    try:
        return np.array([int(value) for value in values], dtype=np.int64)
    except OverflowError:
        raise CellError(
            None, f"column {name!r} has labels beyond integers of 64 bits; store them as strings"
        ) from None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds strings, perhaps as codes of a dictionary."""
    types = arrow("types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    is_view = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def _in_words(kind: object) -> str:
    return "strings" if is_text(kind) else str(kind)
