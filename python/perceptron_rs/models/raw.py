"""From raw examples, as files had them when a model was trained, to its columns: texts, and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perceptron_rs.array_likes import MatrixLike, is_missing, records_of, shape_of, values_of
from perceptron_rs.common.rows.sparse import CsrArrays
from perceptron_rs.common.rows.storage import without_index
from perceptron_rs.errors import located
from perceptron_rs.features.dictionaries import divided, flattened, hashed_dictionaries
from perceptron_rs.features.idf import Idf
from perceptron_rs.features.text import hashed_rows, normalized

if TYPE_CHECKING:
    from perceptron_rs.models.input import Input

__all__ = ["columns_of"]


def columns_of(how: Input, X: object) -> MatrixLike:
    """Return the columns of texts or dictionaries that are hashed; X itself, if it is none of these."""
    if isinstance(X, str | bytes | Mapping):
        kind = "dictionary" if isinstance(X, Mapping) else "text"
        raise TypeError(f"X must be a list of examples, got one {kind}; write [{kind}]")
    if how.text is None and how.hash_bits is None:
        return X
    examples = _records(X)
    if examples is None:
        return X
    bits = how.hash_bits
    assert bits is not None  # texts are hashed, too
    try:
        if how.text is None:
            rows = hashed_dictionaries(
                [_dictionary_features(how, x, i) for i, x in enumerate(examples)], 1 << bits
            )
            return CsrArrays.of(*rows, 1 << bits)
        return _weighed(how, _checked_texts(examples), 1 << bits)
    except UnicodeEncodeError as error:
        raise ValueError(f"X holds a text that is not valid Unicode: {error}") from None


def _records(X: object) -> list[Any] | None:
    """Return X as a list of texts or dictionaries; None if it is a matrix of numbers."""
    X = without_index(X)
    records = records_of(X)
    if records is not None:
        return records
    if (values := values_of(X)) is not None:
        return values
    if isinstance(X, list | tuple):
        return list(X) if any(isinstance(x, str | bytes | Mapping) for x in X) else None
    to_list = getattr(X, "tolist", None) or getattr(X, "to_list", None)  # of NumPy and pandas; of Polars
    if to_list is not None and len(shape_of(X) or ()) == 1:
        found = to_list()
        return found if any(isinstance(x, str | bytes | Mapping) for x in found) else None
    return None


def _checked_texts(examples: list[Any]) -> list[str]:
    for number, text in enumerate(examples):
        if not isinstance(text, str):
            raise TypeError(
                f"X must hold texts, for the model was trained on texts; example {number} is {text!r:.80}"
            )
    return examples


def _weighed(how: Input, texts: list[str], n_columns: int) -> CsrArrays:
    options, scale = how.text, how.scale
    assert options is not None
    rows = hashed_rows(texts, options, n_columns)
    if not isinstance(scale, Idf):  # a scaler takes the columns, whoever has made them
        return CsrArrays.of(*normalized(rows, options.norm), n_columns)
    weighed: CsrArrays = scale.applied(CsrArrays.of(*rows, n_columns))
    return weighed


def _dictionary_features(how: Input, example: object, number: int) -> dict[str, float | str]:
    """Return the features of a dictionary: of JSON as it lies, of a table those of its columns."""
    if not isinstance(example, Mapping):
        raise TypeError(
            f"X must hold dictionaries of names and values, as the model was trained on; "
            f"example {number} is {example!r:.80}"
        )
    try:
        if how.columns is None:
            return flattened(divided(example, how.target, how.sample_weight, how.drop)[0])
        lacking = next((name for name in how.columns if name not in example), None)
        if lacking is not None:
            raise ValueError(f"it lacks the column {lacking!r}; give it None where its value is missing")
        known = {name: example[name] for name in how.columns}
        found = flattened({name: value for name, value in known.items() if not is_missing(value)})
        for name, value in found.items():
            was_text = name in (how.texts or ())
            if isinstance(value, str) != was_text:
                raise TypeError(
                    f"{name!r} held {'text' if was_text else 'numbers'} in the training, got {value!r:.80}; "
                    f"convert it by {'str' if was_text else 'float'}"
                )
        return found
    except (TypeError, ValueError) as error:
        raise located(error, f"example {number} of X: ") from None
