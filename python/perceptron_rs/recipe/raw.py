"""From raw examples, as files had them when a model was trained, to its columns: texts, and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perceptron_rs.arrays.likes import MatrixLike, column_names, is_missing, records_of, shape_of, values_of
from perceptron_rs.errors import located
from perceptron_rs.features.dictionaries import divided, flattened, is_unicode
from perceptron_rs.features.numerals import number_of
from perceptron_rs.rows.real_numbers import refuse_uncomputed
from perceptron_rs.rows.storage import without_index

if TYPE_CHECKING:
    from perceptron_rs.recipe.recipe import Recipe


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
