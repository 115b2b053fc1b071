"""Columns as transformers of scikit-learn make them, side by side: of texts, categories and numbers.

Columns and values are those of scikit-learn, to the last bit; tests compare them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike, column_names
from perceptron_rs.arrays.named import OwnArrays, State
from perceptron_rs.errors import located
from perceptron_rs.features.idf import Idf
from perceptron_rs.features.text import HashedText, hashed_rows, normalized
from perceptron_rs.recipe.raw import checked_texts, records_in, refuse_one
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.rows.examples import check_matrix
from perceptron_rs.rows.sparse import CsrArrays, is_sparse
from perceptron_rs.rows.storage import without_index

Category = str | int | float


@dataclass(frozen=True, eq=False)
class Terms(OwnArrays):
    """A vocabulary: n-grams in UTF-8, end to end, in the order of their columns."""

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Mapping[str, int]) -> Terms:
        """Return that of a vectorizer."""
        encoded = [term.encode() for term in sorted(vocabulary, key=vocabulary.__getitem__)]
        ends = np.cumsum([len(term) for term in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    @cached_property
    def columns(self) -> dict[bytes, int]:
        """The column of each n-gram."""
        text, ends = self.text.tobytes(), self.ends.tolist()
        parts = zip([0, *ends], ends, strict=False)
        return {text[start:end]: column for column, (start, end) in enumerate(parts)}


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Columns that one transformer made.

    Parameters
    ----------
    columns : tuple of str or int
        What it takes of a table, by names or places; none: the examples are texts, and no rows.
    width : int
        How many columns it makes.
    text : HashedText or None
        How a text is taken apart.
    terms : Terms or None
        The n-grams that have columns; None: they are hashed.
    scale : Scale, Idf or None
        What weighs n-grams, or scales numbers.
    categories : tuple of tuples or None
        Of each column, the values that have a column of ones.
    refuses : bool
        Whether another category is an error; else it has no column.
    """

    columns: tuple[str | int, ...]
    width: int
    text: HashedText | None = None
    terms: Terms | None = None
    scale: Scale | Idf | None = None
    categories: tuple[tuple[Category, ...], ...] | None = None
    refuses: bool = False

    def rows(self, X: Any) -> CsrArrays:
        """Return rows of its columns."""
        if self.text is not None:
            return self._of_texts(_taken(X, self.columns[0]) if self.columns else X, self.text)
        columns = [_taken(X, name) for name in self.columns]
        if self.categories is not None:
            return self._of_categories(columns)
        dense: Any = check_matrix(np.column_stack(list(map(_array, columns))))
        dense = dense.astype(np.float64) if dense.dtype.kind == "O" else dense
        dense = dense if self.scale is None else self.scale.applied(dense)
        is_entry = dense != 0
        ends = np.append(0, np.cumsum(np.count_nonzero(is_entry, axis=1)))
        return CsrArrays.of(dense[is_entry], np.nonzero(is_entry)[1], ends, self.width)

    def _of_texts(self, texts: Any, hashing: HashedText) -> CsrArrays:
        known = None if self.terms is None else self.terms.columns
        try:
            counts = hashed_rows(checked_texts(list(texts)), hashing, self.width, known=known)
        except UnicodeEncodeError as error:
            raise ValueError(f"X holds a text that is not valid Unicode: {error}") from None
        if self.scale is not None:
            rows: CsrArrays = self.scale.applied(CsrArrays.of(*counts, self.width))
            return rows
        return CsrArrays.of(*normalized(counts, hashing.norm), self.width)

    def _of_categories(self, columns: list[Any]) -> CsrArrays:
        assert self.categories is not None
        codes, first = [], 0
        for name, values, known in zip(self.columns, columns, self.categories, strict=True):
            places = {value: first + place for place, value in enumerate(known)}
            values = values.tolist() if hasattr(values, "tolist") else list(values)
            own = np.array([places.get(value, -1) for value in values], dtype=np.int64)
            if self.refuses and (own < 0).any():
                value = values[int(np.argmin(own))]
                raise ValueError(f"X has the unknown category {value!r:.80} in column {name!r}")
            codes.append(own)
            first += len(known)
        where = np.column_stack(codes)
        ends = np.append(0, np.cumsum(np.count_nonzero(where >= 0, axis=1)))
        indices = where[where >= 0]
        return CsrArrays.of(np.ones(len(indices)), indices, ends, self.width)

    def in_words(self) -> str:
        """Return what it makes, for people."""
        of = "" if not self.columns else f" of {', '.join(map(repr, self.columns))}"
        if self.text is not None:
            places = "hashed to" if self.terms is None else "in a vocabulary of"
            weighed = "" if self.scale is None else f", scaled by {self.scale.kind}"
            return f"texts{of}, {places} {self.width} columns{weighed}"
        if self.categories is not None:
            return f"categories{of}, a column each: {self.width}"
        return f"numbers{of}" + ("" if self.scale is None else f", scaled by {self.scale.kind}")

    def tensors(self) -> State:
        """Return what a file holds beside the description."""
        arrays: State = {} if self.scale is None else dict(self.scale.tensors())
        return arrays if self.terms is None else arrays | {"terms": self.terms.text, "ends": self.terms.ends}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, but for what `tensors` holds."""
        description = {
            "columns": list(self.columns),
            "width": self.width,
            "text": as_json(self.text),
            "has_terms": self.terms is not None,
            "scale": as_json(self.scale),
            "categories": None if self.categories is None else list(map(list, self.categories)),
            "refuses": self.refuses,
        }
        return {name: part for name, part in description.items() if part is not None and part is not False}


#: Parts of how texts are hashed that are left out where they say nothing.
LATER_OF_TEXT = ("strip_accents",)


def as_json(value: Any) -> Any:
    """Return a part of a recipe as JSON."""
    if isinstance(value, Idf):
        return {"kind": value.kind, "norm": value.norm}
    if isinstance(value, Scale | HashedText):
        parts = vars(value).items()
        return {name: as_json(part) for name, part in parts if part is not None or name not in LATER_OF_TEXT}
    if isinstance(value, tuple):
        are_blocks = isinstance(next(iter(value), None), ColumnBlock)  # else they may be a million numbers
        return [block.to_json() for block in value] if are_blocks else list(value)
    return value


def block_columns(blocks: Sequence[ColumnBlock], X: Any) -> MatrixLike:
    """Return the columns of all blocks, side by side; X itself, if it is a sparse matrix: it has them."""
    refuse_one(X)
    if is_sparse(X):
        return X
    X = without_index(X)
    if len(blocks) == 1 and not blocks[0].columns:
        texts = records_in(X)
        return X if texts is None else blocks[0].rows(texts)
    from perceptron_rs.io.hashed.hasher import side_by_side

    return side_by_side([block.rows(X) for block in blocks], [block.width for block in blocks])


def _taken(X: Any, name: str | int) -> Any:
    """Return a column of a table: of a data frame, dictionaries, or an array, whose columns have places."""
    if isinstance(name, int):
        if column_names(X) is None:
            # As objects, values of lists stay as they are: NumPy would make strings of numbers.
            rows = X if hasattr(X, "shape") else np.array([list(row) for row in X], dtype=object)
            if len(rows.shape) == 2 and rows.shape[1] > name:
                return rows[:, name]
        raise TypeError(
            f"X must be an array with the columns of the training, of which it has no {name}; got "
            f"{type(X).__name__}"
        )
    names = column_names(X)
    if names is not None:
        if names.count(name) != 1:
            raise ValueError(f"X has {names.count(name)} columns called {name!r}, and the model needs one")
        return X[name]
    if not isinstance(X, list | tuple) or not all(isinstance(row, Mapping) for row in X):
        raise TypeError(
            f"X must be a data frame or a list of dictionaries, with the column {name!r}, got "
            f"{type(X).__name__}"
        )
    try:
        return [row[name] for row in X]
    except KeyError:
        number = next(i for i, row in enumerate(X) if name not in row)
        raise located(ValueError(f"it lacks the column {name!r}"), f"example {number} of X: ") from None


def _array(values: Any) -> NDArray[Any]:
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    # Beside others, pandas makes them objects, and scikit-learn float64 of these.
    return array.astype(np.float64) if array.dtype.kind == "b" else array
