"""How data became the columns of a model: kept with the model, to make columns of later data alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike, column_names, is_missing, records_of, shape_of, values_of
from perceptron_rs.arrays.named import OwnArrays, State
from perceptron_rs.errors import located
from perceptron_rs.features.dictionaries import divided, flattened, is_unicode
from perceptron_rs.features.idf import Idf
from perceptron_rs.features.numerals import number_of
from perceptron_rs.features.text import HashedText, KeptWords, hashed_rows, normalized
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.rows.examples import check_matrix
from perceptron_rs.rows.real_numbers import refuse_uncomputed
from perceptron_rs.rows.sparse import CsrArrays, is_sparse
from perceptron_rs.rows.storage import without_index

if TYPE_CHECKING:
    from perceptron_rs.io.hashed.hasher import ExampleHasher

#: What the names of tensors of n-grams begin with.
WORDS = "words_"
#: Parts that are left out where they say nothing.
LATER = ("text_columns", "calibration", "blocks", "decimal")


@dataclass(frozen=True)
class Recipe:
    """Description of how data became columns: of files, or by transformers of scikit-learn.

    Parameters
    ----------
    format : str
        The format of the data.
    hash_bits : int or None
        The columns are hashed to 2 ** hash_bits.
    columns : tuple of str or None
        The columns of a table that were hashed, or the name of the tensor of examples.
    texts : tuple of str or None
        Those of them that hold strings.
    scale : Scale, Idf or None
        How the columns were scaled.
    holdout : float or None
        The share of the examples that was not learnt from.
    calibration : float or None
        The share, of all, on which the scores were calibrated: a part of the one that was held out.
    missing : tuple of str
        Cells of a table that stand for a missing value.
    decimal : str or None
        What came before a fraction in a table whose numbers were written as people do.
    target : str or None
        The column of a table, or the tensor, that held the labels; None: the last column.
    delimiter : str or None
        What separated the columns; None: what its format says.
    header : bool or None
        Whether the first line held names; None: it had to.
    drop : tuple of str
        Columns that were no features, of a table whose columns have no names to keep; keys of JSON lines.
    sample_weight : str or None
        The key of the weights of examples, which is no feature of JSON lines.
    """

    format: str
    hash_bits: int | None = None
    columns: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    scale: Scale | Idf | None = None
    holdout: float | None = None
    missing: tuple[str, ...] = ()
    target: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    drop: tuple[str, ...] = ()
    sample_weight: str | None = None
    calibration: float | None = None
    #: How text was hashed.
    text: HashedText | None = None
    #: Columns of a table, or keys of JSON lines, that held texts.
    text_columns: tuple[str, ...] = ()
    decimal: str | None = None
    #: What transformers of scikit-learn made, side by side: then nothing else is said.
    blocks: tuple[ColumnBlock, ...] = ()
    #: N-grams of the columns that have weights.
    words: KeptWords | None = field(default=None, compare=False)

    def columns_of(self, X: object) -> MatrixLike:
        """Return the columns of texts or dictionaries that are hashed; X itself, if it is none of these."""
        return block_columns(self.blocks, X) if self.blocks else raw_columns(self, X)

    @property
    def makes_columns(self) -> bool:
        """Whether it makes columns of texts, names or categories, and not of numbers alone."""
        return self.text is not None or self.hash_bits is not None or bool(self.blocks)

    def hasher(self) -> ExampleHasher:
        """Return what hashes raw examples."""
        from perceptron_rs.io.hashed.hasher import ExampleHasher

        assert self.hash_bits is not None
        is_text = self.text is not None and not self.text_columns
        return ExampleHasher(
            n_columns=1 << self.hash_bits,
            n_texts=int(is_text) + len(self.text_columns),
            text=self.text,
            scale=self.scale if self.text_columns or isinstance(self.scale, Idf) else None,
        )

    def scaled(self, X: object) -> MatrixLike:
        """Return the columns of numbers as the scaler leaves them; beside texts it is applied with them."""
        return self.scale.applied(X) if isinstance(self.scale, Scale) and not self.text_columns else X

    def in_words(self) -> str:
        """Return how columns were made, for people."""
        texts, strings = self.text_columns, self.texts or ()
        numbers = [name for name in self.columns or () if self.hash_bits and name not in {*texts, *strings}]
        if self.blocks:
            return "; ".join(block.in_words() for block in self.blocks)
        lists = (("texts", texts), ("categories", strings), ("numbers", numbers))
        parts = [f"{what} {', '.join(map(repr, names))}" for what, names in lists if names]
        if self.text is not None:
            usual = HashedText()
            changed = [
                (name, value) for name, value in vars(self.text).items() if value != getattr(usual, name)
            ]
            parts += [f"{name} {value}" for name, value in changed]
        parts += [] if self.hash_bits is None else [f"hashed to 2^{self.hash_bits} columns"]
        parts += [] if self.scale is None else [f"scaled by {self.scale.kind}"]
        return "; ".join([self.format, *parts])

    def numbers(self) -> State:
        """Return the arrays that columns depend on."""
        arrays: State = {} if self.scale is None else dict(self.scale.tensors())
        for i, block in enumerate(self.blocks):
            arrays |= {f"block{i}_{name}": array for name, array in block.tensors().items()}
        return arrays

    def tensors(self) -> State:
        """Return the arrays of it."""
        words = {} if self.words is None else self.words._asdict()
        return self.numbers() | {f"{WORDS}{name}": array for name, array in words.items()}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, but for what `tensors` holds."""
        description = {part.name: as_json(getattr(self, part.name)) for part in described()}
        for name in LATER:
            if not description[name]:
                del description[name]  # as files had it before there were any
        return description


def described() -> list[Field[Any]]:
    """Return the parts that JSON has."""
    return [part for part in fields(Recipe) if part.name != "words"]


def raw_columns(recipe: Recipe, X: object) -> MatrixLike:
    """Return the columns of texts or dictionaries that are hashed; X itself, if it is none of these."""
    refuse_one(X)
    if recipe.text is None and recipe.hash_bits is None:
        return X if recipe.decimal is None else _with_numbers(X, recipe.decimal)
    examples = records_in(X)
    if examples is None:
        return X
    try:
        if recipe.text is not None and not recipe.text_columns:
            return recipe.hasher().rows({"": checked_texts(examples)})
        if column_names(X) is not None:  # in a data frame, what JSON leaves out or calls null is NaN, too
            examples = [{name: None if is_missing(x) else x for name, x in row.items()} for row in examples]
        parts = [_dictionary_features(recipe, x, i) for i, x in enumerate(examples)]
        texts = {name: [own[name] for _, own in parts] for name in recipe.text_columns}
        return recipe.hasher().rows(texts, [features for features, _ in parts])
    except UnicodeEncodeError as error:
        at = next(i for i, example in enumerate(examples) if not is_unicode(example))
        raise ValueError(f"example {at} of X holds a text that is not valid Unicode: {error}") from None


def _with_numbers(X: Any, mark: str) -> MatrixLike:
    """Return the rows of a table as dictionaries, whose strings are read; X itself, if there are none."""
    first = records_in(X[:1]) if isinstance(X, list) or column_names(X) else None
    if (
        not first
        or not isinstance(first[0], Mapping)
        or not any(isinstance(value, str) for value in first[0].values())
    ):
        return X
    return [{name: _plain(value, mark) for name, value in row.items()} for row in records_in(X) or ()]


def _plain(value: object, mark: str | None) -> Any:
    """Return the number that a string stands for; another value as it is."""
    number = number_of(value, mark) if isinstance(value, str) and mark is not None else None
    return value if number is None else number


def refuse_one(X: object) -> None:
    """Raise TypeError for an example where a list of them should be."""
    if isinstance(X, str | bytes | Mapping):
        kind = "dictionary" if isinstance(X, Mapping) else "text"
        raise TypeError(f"X must be a list of examples, got one {kind}; write [{kind}]")


def records_in(X: object) -> list[Any] | None:
    """Return X as a list of texts or dictionaries; None if it is a matrix of numbers."""
    refuse_uncomputed(X, "X")
    X = without_index(X)
    records = records_of(X)
    if records is not None:
        return records
    if (values := values_of(X)) is not None:
        return values
    if isinstance(X, list | tuple):
        return list(X) if any(_is_raw(x) for x in X) else None
    to_list = getattr(X, "tolist", None) or getattr(X, "to_list", None)  # of NumPy and pandas; of Polars
    if to_list is not None and len(shape_of(X) or ()) == 1:
        listed = to_list()
        return listed if any(isinstance(x, str | bytes | Mapping) for x in listed) else None
    return None


def _is_raw(example: object) -> bool:
    """Whether an example is, or should have been, a text or a dictionary, and no row of numbers."""
    is_row = isinstance(example, list | tuple) and not any(isinstance(x, str | bytes | None) for x in example)
    return not is_row and isinstance(example, str | bytes | Mapping | list | tuple | None)


def checked_texts(examples: list[Any]) -> list[str]:
    """Return examples, all of which must be texts."""
    for number, text in enumerate(examples):
        if not isinstance(text, str):
            raise TypeError(
                f"X must hold texts, for the model was trained on texts; example {number} is {text!r:.80}"
            )
    return examples


def _dictionary_features(
    recipe: Recipe, example: object, number: int
) -> tuple[dict[str, float | str], dict[str, str]]:
    """Return the features of a dictionary, and its texts; nested if it is JSON, a row if it is of a table."""
    if not isinstance(example, Mapping):
        raise TypeError(
            f"X must hold dictionaries of names and values, as the model was trained on; "
            f"example {number} is {example!r:.80}"
        )
    try:
        if recipe.columns is None:
            return flattened(
                divided(example, recipe.target, recipe.sample_weight, recipe.drop)[0], recipe.text_columns
            )
        lacking = next((name for name in recipe.columns if name not in example), None)
        if lacking is not None:
            raise ValueError(f"it lacks the column {lacking!r}; give it None where its value is missing")
        known = {name: example[name] for name in recipe.columns}
        own = {name: None if is_missing(value) else value for name, value in known.items()}
        flat = flattened(own, recipe.text_columns)
        for name, value in flat[0].items():
            was_text = name in (recipe.texts or ())
            if not was_text:
                value = flat[0][name] = _plain(value, recipe.decimal)
            if isinstance(value, str) != was_text:
                raise TypeError(
                    f"{name!r} held {'text' if was_text else 'numbers'} in the training, got {value!r:.80}; "
                    f"convert it by {'str' if was_text else 'float'}"
                )
        return flat
    except (TypeError, ValueError) as error:
        raise located(error, f"example {number} of X: ") from None


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
