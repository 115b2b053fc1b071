"""Which columns of a table are the labels, the weights and the features."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.errors import ArgumentError
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.reading import LabelKind, Reading, check_weight, meant_by
from perceptron_rs.io.tables.cells import as_labels, string_error
from perceptron_rs.io.tables.columns import (
    CellError,
    TextCells,
    arrow,
    column_of,
    features_of,
    hashable,
    is_lists,
    is_text,
    label_column,
    matrix,
    number_column,
    quoted_names,
    single,
)
from perceptron_rs.io.tables.delimited import HOW_TO_SAY, CsvText
from perceptron_rs.rows.storage import index_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from perceptron_rs.io.hashed.hasher import ExampleHasher
    from perceptron_rs.io.tables.columns import ArrowRows

#: What pandas calls a column whose name is empty in a CSV file.
_UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?")
#: What a column of labels is called, in lower case.
_OF_LABELS = ("label", "labels", "target", "class", "y")


class Layout:
    """Which columns of a table are what.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the table.
    name : str
        What errors call it.
    target, weight : str or None
        Columns of labels and of weights.
    columns : sequence of str or None
        Features. If None, all other columns, but not those in ``drop``, nor the index of a pandas data frame.
    drop : sequence of str
        Columns that are no features.
    text_columns : sequence of str
        Features that are texts.
    first : callable or None
        Returns some rows, from which is read how long lists are, if there may be any.
    n_features : int or None
        Number of features of sparse rows.
    """

    def __init__(
        self,
        schema: pa.Schema,
        name: str,
        *,
        target: str | None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        text_columns: Sequence[str] = (),
        first: Callable[[], ArrowRows] | None = None,
        n_features: int | None = None,
    ) -> None:
        check_weight(target, weight)
        self.target, self.weight, self.name = target, weight, name
        wanted = list(columns) if columns is not None else self._features(schema, drop)
        lists = {n: schema.field(n).type for n in ("indices", "values") if list(schema.names).count(n) == 1}
        self.is_sparse = set(wanted) == {"indices", "values"} and all(map(is_lists, lists.values()))
        #: As they are named by callers, to find them in the next file.
        self.columns = wanted
        self._check(schema, wanted)
        for option, said, column in (("target", "labels", target), ("sample_weight", "weights", weight)):
            if column is not None and column in map(column_of(schema), wanted):
                raise ArgumentError(
                    f"the column {{column!r}} holds the {said}, so it is no feature",
                    f"leave it out of {{columns}}, or name another one with {{{option}}}",
                    place=f"{name}: ",
                    column=column,
                )
        with located_cell(name):
            self.features = [] if self.is_sparse else features_of(schema, wanted, first)
        self._refuse_twice()
        #: In the order in which their features are added.
        self.text_columns = tuple(text_columns)
        for text in self.text_columns:
            if text not in wanted:
                raise ArgumentError(
                    "{text_columns} names {column!r}, which is no feature",
                    "leave it out there; the features are {names}",
                    place=f"{name}: ",
                    column=text,
                    names=quoted_names(wanted),
                )
        self.n_features = n_features if self.is_sparse else len(self.features)
        if not self.columns:
            raise ValueError(f"{name}: has no columns except the labels {target!r}")

    @property
    def used(self) -> list[str]:
        """The columns to read."""
        features = self.columns if self.is_sparse else [feature.column for feature in self.features]
        return list(dict.fromkeys([*features, *(n for n in (self.target, self.weight) if n is not None)]))

    def _features(self, schema: pa.Schema, drop: Sequence[str]) -> list[str]:
        """Return the columns that are features unless somebody names them."""
        names = list(schema.names)
        others = {self.target, self.weight, *drop, *index_columns(schema)}
        features = [name for name in names if name not in others]
        for name in features:
            refuse_unnamed(names, name, self.name)
        return features

    def _check(self, schema: pa.Schema, columns: list[str]) -> None:
        """Refuse names that two columns have."""
        names = list(schema.names)
        for wanted in (self.target, self.weight, *map(column_of(schema), columns)):
            if wanted is not None and names.count(wanted) > 1:
                raise ValueError(
                    f"{self.name}: two columns are called {wanted!r}; give each a name of its own"
                )

    def _refuse_twice(self) -> None:
        """Refuse two features of one name: one that counts twice is another model."""
        names = [feature.name for feature in self.features]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError(
                "the feature {twice!r} is there twice",
                "name it once in {columns}",
                place=f"{self.name}: ",
                twice=twice,
            )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""
        return None if self.is_sparse else tuple(feature.name for feature in self.features)

    def batch(
        self,
        table: ArrowRows,
        label_kind: LabelKind | None = None,
        *,
        hasher: ExampleHasher | None = None,
        is_labelled: bool = True,
    ) -> Batch:
        """Return the examples of a table, or of a batch of records; `CellError` if a value is none."""
        weight = None if self.weight is None else number_column(self._column(table, self.weight), self.weight)
        X = self.X(table) if hasher is None else self.hashed(table, hasher)
        return Batch(X, self.y(table, label_kind) if is_labelled else None, weight)

    def hashed(self, table: ArrowRows, hasher: ExampleHasher) -> MatrixLike:
        """Return the features hashed as scikit-learn hashes dicts, and texts.

        Of a string, its name and value are one. A missing value is no feature.
        """
        texts = {name: self._text(table, name) for name in self.text_columns}
        others = {
            feature.name: hashable(table.column(feature.column), feature)
            for feature in self.features
            if feature.name not in texts
        }
        return hasher.rows(texts, others, table.num_rows)

    def _text(self, table: ArrowRows, name: str) -> TextCells:
        column = self._column(table, name)
        kind = single(column[:0]).type
        if not (is_text(kind) or arrow("types").is_null(kind)):
            raise CellError(
                None, f"column {name!r} holds {kind}, no texts", "do not name it in {text_columns}"
            )
        return TextCells(column)

    def strings(self, schema: pa.Schema) -> tuple[str, ...]:
        """Return the features that are strings by their types, but no texts."""
        others = (feature for feature in self.features if feature.name not in self.text_columns)
        return tuple(f.name for f in others if is_text(schema.field(f.column).type))

    def refuse_strings(self, table: ArrowRows) -> None:
        """Raise `CellError` for a feature that holds strings."""
        for feature in self.features:
            column = self._column(table, feature.column)
            if is_text(column.type):
                text = f"column {feature.column!r} holds strings, not numbers"
                raise string_error(None, text, single(column), feature.column)

    def X(self, table: ArrowRows) -> MatrixLike:  # noqa: N802  as everywhere
        """Return the features."""
        if self.is_sparse:
            return self._sparse(table)
        return matrix(table, self.features)

    def y(self, table: ArrowRows, label_kind: LabelKind | None = None) -> Any:
        """Return the labels, if there are any."""
        if self.target is None:
            return None
        column = self._column(table, self.target)
        if label_kind is None:
            return label_column(column, self.target)
        return as_labels(single(column), self.target, label_kind)

    def _column(self, table: ArrowRows, name: str) -> pa.Array | pa.ChunkedArray:
        return table.column(table.schema.get_field_index(name))

    def _sparse(self, table: ArrowRows) -> MatrixLike:
        indices, values = (single(self._column(table, name)) for name in ("indices", "values"))
        types = arrow("types")
        if types.is_fixed_size_list(indices.type) or types.is_fixed_size_list(values.type):
            indices, values = (c.cast(arrow().large_list(c.type.value_type)) for c in (indices, values))
        ends = [np.asarray(column.offsets) for column in (indices, values)]
        is_missing = [np.asarray(column.is_null()) for column in (indices, values)]
        is_odd = is_missing[0] | is_missing[1] | (np.diff(ends[0]) != np.diff(ends[1]))
        if is_odd.any():
            raise CellError(
                int(np.argmax(is_odd)), "indices and values must have lists of the same lengths in each row"
            )
        parts = []
        for name, column, end in zip(("indices", "values"), (indices, values), ends, strict=True):
            try:
                parts.append(number_column(column.values[int(end[0]) : int(end[-1])], name))
            except CellError as error:
                row = (
                    None if error.row is None else int(np.searchsorted(end - end[0], error.row, "right")) - 1
                )
                raise error.in_row(row) from None
        places, entries = parts
        if places.dtype.kind not in "iu":
            raise CellError(None, f"indices must hold whole numbers, got {places.dtype}")
        if places.dtype.itemsize == 4 and places.dtype.kind == "u":
            places = places.view(np.int32)  # those above 2^31 become negative, and are refused
        width = int(places.max(initial=-1)) + 1 if self.n_features is None else self.n_features
        from scipy.sparse import csr_matrix

        X = csr_matrix((len(ends[0]) - 1, max(width, 1)), dtype=entries.dtype)
        X.data, X.indices, X.indptr = entries, places, ends[0] - ends[0][0]
        return X


def lacks(place: str, column: str, option: str, names: Sequence[str]) -> ArgumentError:
    """Return the error for a column that an option names and a table lacks."""
    return ArgumentError(
        f"has no column {{column!r}} for {{{option}}}",
        "its columns are {names}",
        place=f"{place}: ",
        column=column,
        names=quoted_names(names),
        meant=meant_by(column, names),
    )


def layout_of(
    schema: pa.Schema,
    name: str,
    reading: Reading,
    *,
    text: CsvText | None = None,
    first: Callable[[], ArrowRows] | None = None,
) -> Layout:
    """Return which columns are what: as options say, as a model knows, else the last is the target.

    ``text`` is what read the names, if they were text.
    """
    named = text is None or text.header is not False
    names, column = list(schema.names), column_of(schema)
    target = reading.target or reading.usual_target
    left_out = {*index_columns(schema), reading.sample_weight} - {target}
    others = [n for n in names if n not in left_out]
    guess = target if target is not None or not others else others[-1]
    of_model = (reading.columns if "columns" not in reading.given else None) or ()
    of_model = of_model if reading.names is None else reading.names
    lacking = [n for n in of_model if column(n) not in names]
    is_known = reading.names is not None and not lacking
    if text is not None and lacking and reading.hash_bits is not None:  # names are hashed
        raise ArgumentError(
            "lacks {count} of the model's columns, {first!r} first",
            "its first line must name them; it names {names}",
            place=f"{name}: ",
            count=len(lacking),
            first=lacking[0],
            names=quoted_names(names),
            header=text.line_of([*of_model, *[target or "label"] * (len(names) > len(of_model))]),
        )
    if text is not None and not is_known:
        text.refuse_example(guess, with_text=reading.hash_bits is not None)
    # Columns without a name, as delimiters at the ends of lines make, are left out together.
    twice = next((n for n in names if names.count(n) > 1 and (n or n not in reading.drop)), None)
    is_chosen = reading.columns is not None or (named and reading.names is not None)
    if twice is not None and not is_chosen:  # those that are chosen are looked at in `Layout`
        unsure = text is not None and text.header is None
        raise ArgumentError(
            "two columns are called {twice!r}",
            ("give each a name of its own" if twice else "leave them out ({drop})")
            + (f"; or {HOW_TO_SAY}" if unsure else ""),
            place=f"{name}: ",
            settings={"drop": [twice]},
            twice=twice,
        )
    for option, named_there in (("columns", reading.columns), ("drop", reading.drop)):
        for n in named_there or ():
            if (n if option == "drop" else column(n)) not in names:
                raise lacks(name, n, option, names)
    if lacking and named and reading.names is not None:
        raise ValueError(f"{name}: lacks {len(lacking)} of the model's columns, {lacking[0]!r} first")
    target = _target(name, others, reading, named)
    columns: Sequence[str] | None = reading.names if named else None
    if columns is None and reading.columns is not None:
        columns = reading.columns
    drop = () if columns is not None else reading.drop
    weight = reading.sample_weight
    if weight is not None and weight not in names:
        raise lacks(name, weight, "sample_weight", names)
    settings: dict[str, Any] = {
        "target": target,
        "weight": weight,
        "text_columns": reading.text_columns or (),
        "first": first,
        "n_features": reading.n_features,
    }
    layout = Layout(schema, name, columns=columns, drop=drop, **settings)
    is_other = reading.first is not None and reading.names is None and layout.names != reading.first[1]
    if is_other and (first is None or first().num_rows):  # a table without rows knows no lengths of lists
        assert reading.first is not None
        layout = Layout(schema, name, columns=_as_in_first(layout, reading.first), **settings)
    n_features = layout.n_features
    if reading.n_features is not None and reading.hash_bits is None and n_features != reading.n_features:
        whose = "{n_features} says" if "n_features" in reading.given else "the model was trained with"
        raise ArgumentError(
            f"has {n_features} features, but {whose} {reading.n_features}",
            "name the column of the labels with {target}",
            place=f"{name}: ",
        )
    return layout


def _as_in_first(layout: Layout, first: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the columns of a table in the order of the first of several; ArgumentError if it has others."""
    own, (name, names) = layout.names or ("indices", "values"), first
    if set(own) != set(names):
        raise ArgumentError(
            "its columns are {own}, but those of {first} are {names}",
            "name those to use with {columns} and {target}",
            place=f"{layout.name}: ",
            own=quoted_names(own),
            first=name,
            names=quoted_names(names),
        )
    return names


def _target(path: str, names: list[str], reading: Reading, named: bool) -> str | None:
    """Return the name of the column of labels; None if they are not in the table."""
    target, usual = reading.target, reading.usual_target if reading.labels is None else None
    if target is not None or usual is not None:
        wanted = target or usual
        if wanted in names or not reading.with_labels:
            return wanted if wanted in names else None
        if target is not None:
            raise lacks(path, target, "target", names)
        raise ArgumentError(
            "has no column {usual!r}, which held the labels in the training",
            "name another one with {target}; its columns are {names}",
            place=f"{path}: ",
            usual=usual,
            names=quoted_names(names),
        )
    if reading.labels is not None or not names:
        return None
    last = names[-1]
    if not reading.with_labels:  # of data to predict, the last column may be one of the features
        if reading.labelled is not None:
            return last if reading.labelled else None
        if reading.names is not None and named:
            return None
        is_sparse = set(names[:-1]) == {"indices", "values"}
        return last if is_sparse or len(names) - 1 == reading.n_features else None
    problem = ""
    if reading.names is not None and last in reading.names and named:
        problem = "its last column {last!r} is a feature of the model"
    elif last in reading.drop:
        problem = "{drop} leaves its last column {last!r} out"
    if problem:
        remedy = "name the column of the labels with {target}"
        raise ArgumentError(problem, remedy, place=f"{path}: ", last=last)
    called = [name for name in names if name.strip().lower() in _OF_LABELS]
    if called and last not in called:
        raise ArgumentError(
            "the labels are in its last column, {last!r}, unless {target} names another one, and "
            "{called!r} is called like labels",
            "set {target}, to either",
            place=f"{path}: ",
            settings={"target": called[0]},
            last=last,
            called=called[0],
        )
    refuse_unnamed(names, last, path)
    return last


def refuse_unnamed(names: Sequence[str], column: str, table: str) -> None:
    """Raise for a column of a table that has no name, and that no option has asked for."""
    if not column.strip() or _UNNAMED.fullmatch(column):
        shown_name = f" ({column!r})" if column else ""
        raise ArgumentError(
            "column {number} has no name{shown}, like the index of a pandas data frame that was written "
            "without index=False",
            "leave it out ({drop}), or give it a name",
            place=f"{table}: ",
            settings={"drop": [column]},
            number=names.index(column) + 1,
            shown=shown_name,
        )


@contextmanager
def located_cell(name: str, rows: Callable[[], int] = int) -> Iterator[None]:
    """Say of which file and row a bad cell is, after so many rows."""
    try:
        yield
    except CellError as error:
        raise error.of_file(name, rows()) from None
