"""Dictionaries as columns, as scikit-learn's ``FeatureHasher`` makes them: names are hashed, with a sign."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import added_rows, murmur3
from perceptron_rs.arrays.likes import is_real, nearest_float
from perceptron_rs.errors import ArgumentError
from perceptron_rs.features.hashing import columns_of_hashes
from perceptron_rs.features.text import HashedRows, Words

#: Between the names of an object and of what it holds, as Vowpal Wabbit writes namespaces.
WITHIN = "^"


class Strings(NamedTuple):
    """A column of strings, as indices into a list of distinct ones; an index below 0 is an empty cell."""

    codes: NDArray[np.integer]
    values: list[str]


#: Of numbers; NaN where there is none.
Column: TypeAlias = NDArray[np.float64] | Strings


def is_unicode(value: object) -> bool:
    """Whether UTF-8 has all texts of a value. JSON may hold halves of pairs, and so may strings of Python."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode(errors="ignore").decode() == text


def divided(
    example: Mapping[str, object],
    target: str | None = None,
    sample_weight: str | None = None,
    drop: Collection[str] = (),
    *,
    needs_drop: bool = False,
) -> tuple[dict[str, object], Any, Any]:
    """Return the features of an example, its label and its weight; None for what is not there.

    Label and weight have these keys. Without a target, they are where Vowpal Wabbit or river have them.
    What has a key of ``drop`` is no feature; ``needs_drop`` if each of these must be there.
    """
    features = {key: value for key, value in example.items() if key not in drop}
    label = weight = None
    inner: Any = features.get("x")
    if target is not None:
        label = features.pop(target, None)
    elif isinstance(inner, Mapping) and features.keys() <= {"x", "y", "w"}:
        label, weight = features.get("y"), _taken_weight(features, "w")
        features = dict(inner)
    else:
        label = features.pop("_label", None)
        if isinstance(label, Mapping):
            if not label.keys() <= {"Label", "Weight"}:
                raise ValueError(f"_label may hold Label and Weight, got {label!r:.80}")
            inner = dict(label)
            label, weight = inner.get("Label"), _taken_weight(inner, "Weight")
        reserved = next((key for key in features if isinstance(key, str) and key.startswith("_")), None)
        if reserved is not None:
            raise ArgumentError(
                "the key {key!r} begins with _, and of these vw's _label alone is read",
                "rename it, or name the key of the label with {target}, beside which all are features",
                key=reserved,
            )
    if sample_weight is not None:
        weight = _taken_weight(features, sample_weight)
    lacking = [key for key in drop if key not in example and key not in features] if needs_drop else []
    if lacking:
        raise ArgumentError(
            "has no key {key!r} for {drop}",
            "name keys that are in each line, or write null for this one",
            key=lacking[0],
        )
    return {key: value for key, value in features.items() if key not in drop}, label, weight


def _taken_weight(record: dict[str, object], key: str) -> Any:
    """Take a weight out; None if it is not there. One that is there must be a number."""
    if record.get(key, 1) is None:
        raise ValueError("the weight must be a number of at least 0, got null")
    return record.pop(key, None)


def flattened(
    example: Mapping[str, object], texts: Collection[str] = ()
) -> tuple[dict[str, float | str], dict[str, str]]:
    """Return the features of a dictionary, and of dictionaries in it, and its texts, which have these names.

    None is no feature, and an empty text.
    """
    features: dict[str, float | str] = {}
    values = dict.fromkeys(texts)
    _flatten(example, "", features, values)
    lacking = next((name for name, text in values.items() if text is None), None)
    if lacking is not None:
        raise ArgumentError(
            "has no key {key!r} for {text_columns}",
            "name keys that are in each line, or write null where there is no text",
            key=lacking,
        )
    return features, {name: text for name, text in values.items() if text is not None}


def _flatten(
    example: Mapping[str, object], within: str, features: dict[str, float | str], texts: dict[str, str | None]
) -> None:
    for key, value in example.items():
        if not isinstance(key, str):
            raise TypeError(f"names must be strings, got {key!r:.80}")
        name = within + key
        if isinstance(value, Mapping):
            _flatten(value, name + WITHIN, features, texts)
            continue
        if name in texts:
            if not isinstance(value, str | None):
                raise TypeError(f"{name!r} must be a text, got {value!r:.80}")
            texts[name] = value or ""
            continue
        if isinstance(value, list | tuple | set | frozenset | np.ndarray):
            raise ArgumentError(
                "{name!r} is a list", 'write an object of names and numbers, such as {{"red": 1}}', name=name
            )
        if name in features:
            raise ValueError(f"the feature {name!r} is there twice")
        if value is not None:  # as a missing value of a table, no feature
            features[name] = value if isinstance(value, str) else finite(value, name)


def finite(value: Any, name: str) -> float:
    """Return a number as a finite float; TypeError or ValueError, which name it, if it is none."""
    if not is_real(type(value)):
        raise TypeError(f"{name!r} must be a string or a number, got {value!r:.80}")
    number = nearest_float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name!r} must be a finite number, got {value!r:.80}")
    return number


def hashed_dictionaries(
    examples: Sequence[Mapping[str, float | str]], n_columns: int, words: Words | None = None
) -> HashedRows:
    """Return the columns of names, and of names with their strings, with a sign; each once, in order.

    Tells ``words`` of the names. Values of one column are added in the order they come in. UnicodeEncodeError
    for what UTF-8 cannot say.
    """
    names: list[str] = []
    values: list[float] = []
    ends = np.zeros(len(examples) + 1, dtype=np.int64)
    for number, example in enumerate(examples, 1):
        for name, value in example.items():
            if isinstance(value, str):
                names.append(f"{name}={value}")
                values.append(1.0)
            elif value:
                names.append(name)
                values.append(value)
        ends[number] = len(names)
    encoded = [name.encode() for name in names]
    if words is not None:
        words.met.add(encoded, [1] * len(encoded))
    columns, is_positive = columns_of_hashes(murmur3(encoded), n_columns)
    signed = np.array(values, dtype=np.float64)
    signed[~is_positive] *= -1.0
    return HashedRows(*added_rows([(signed, columns, ends)]))


def hashed_columns(
    columns: Mapping[str, Column], n_rows: int, n_columns: int, words: Words | None = None
) -> HashedRows:
    """Return the same of rows whose names stand in columns, all in this order: each name is hashed once."""
    where = np.empty((n_rows, len(columns)), dtype=np.int32)
    values = np.zeros((n_rows, len(columns)))
    for j, (name, column) in enumerate(columns.items()):
        if isinstance(column, Strings):
            encoded = [f"{name}={value}".encode() for value in column.values]
            codes, is_there = column.codes, column.codes >= 0
            values[:, j] = is_there
            counts = np.bincount(codes[is_there], minlength=len(encoded))
        else:
            encoded, codes = [name.encode()], np.zeros(n_rows, dtype=np.intp)
            is_there = ~(np.isnan(column) | (column == 0))
            values[is_there, j] = column[is_there]
            counts = np.array([np.count_nonzero(is_there)])
        if not len(encoded):
            continue
        own, is_positive = columns_of_hashes(murmur3(encoded), n_columns)
        where[:, j] = own[codes]
        values[:, j] *= np.where(is_positive, 1.0, -1.0)[codes]
        if words is not None:
            used = np.flatnonzero(counts).tolist()
            words.met.add([encoded[i] for i in used], counts[used].tolist())
    is_entry = values != 0
    ends = np.append(0, np.cumsum(np.count_nonzero(is_entry, axis=1)))
    return HashedRows(*added_rows([(values[is_entry], where[is_entry], ends)]))
