"""JSON lines: each is an object, an example as a dictionary, whose names and values are hashed to columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.features.dictionaries import divided, finite, flattened, is_unicode
from perceptron_rs.io.examples import NOT_WHOLE, Examples
from perceptron_rs.io.hashed.raw_text import as_objects, several_labels
from perceptron_rs.io.reading import Reading, meant_by
from perceptron_rs.io.svmlight.label_lists import as_matrix


class Example(NamedTuple):
    """What a line holds; None for what is not there. Of several labels a tuple."""

    features: dict[str, float | str]
    texts: dict[str, str]
    label: Any
    weight: float | None


class JsonLines:
    """Makes examples of whole lines of a file.

    All keys but those of the label and of the weight are features. Where no option names these two, they are
    where Vowpal Wabbit or river have them.

    Parameters
    ----------
    name : str
        What errors call the file.
    reading : Reading
        How it is read, with a number of bits. Labels that are not wanted are no features, either.
    """

    def __init__(self, name: str, reading: Reading) -> None:
        assert reading.hash_bits is not None
        self._name, self._reading, self._hasher = name, reading, reading.hasher("jsonl")
        self._target = reading.target or reading.usual_target
        self._weight = reading.sample_weight or reading.usual_weight
        self._with_labels = reading.with_labels and reading.labels is None

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples in whole lines, the first of which has this number; empty lines are none."""
        examples = list(self._parsed(first, text))
        rows = [example.features for example in examples]
        texts = {key: [x.texts[key] for x in examples] for key in self._reading.text_columns or ()}
        weights = [example.weight for example in examples]
        try:
            X = self._hasher.rows(texts, rows)
        except UnicodeEncodeError:
            lines = [at for at, line in enumerate(text.split(b"\n"), first) if line.strip()]
            odd = zip(lines, examples, strict=True)
            at = next(at for at, example in odd if not is_unicode([example.features, example.texts]))
            raise ValueError(
                f"{self._name}, line {at}: a name or a value is not valid Unicode; write no half of a pair, "
                "such as \\ud800"
            ) from None
        y = self._y([example.label for example in examples]) if self._with_labels else None
        is_weighted = any(weight is not None for weight in weights)
        return Examples(X, y, np.array([1.0 if w is None else w for w in weights]) if is_weighted else None)

    def lists(self, first: int, text: bytes) -> list[tuple[Any, ...]]:
        """Return the labels of each example."""
        return [example.label for example in self._parsed(first, text)]

    def _parsed(self, first: int, text: bytes) -> Iterator[Example]:
        """Give what stands in whole lines."""
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            if line.strip():
                try:
                    yield self._example(line)
                except (ValueError, RecursionError) as error:
                    raise located(_worded(error), f"{self._name}, line {number}: ") from None

    def _example(self, line: bytes) -> Example:
        """Return what a line holds."""
        known = json.loads(line, object_pairs_hook=_distinct_keys, parse_constant=_refuse_word)
        if not isinstance(known, dict):
            raise ValueError(f"must be an object such as {{...}}, one a line, got {_json_text(known)}")
        reading = self._reading
        features, label, weight = divided(
            known, self._target, self._weight, reading.drop, needs_drop="drop" in reading.given
        )
        if reading.sample_weight is not None and weight is None:
            raise ArgumentError(
                "has no weight {key!r}",
                "write one in each line, or leave {sample_weight} out",
                key=self._weight,
            )
        if label is None and self._with_labels:
            raise ArgumentError(
                "has no label" + ("" if self._target is None else " {key!r}"),
                'name its key with {target}, or write it as vw ("_label") or river ("x" and "y") do',
                key=self._target,
                column=self._target,
                meant=None if self._target is None else meant_by(self._target, known),
            )
        flat = flattened(features, reading.text_columns or ())
        y = self._label(label) if self._with_labels else None
        return Example(*flat, y, None if weight is None else _example_weight(weight))

    def _label(self, label: object) -> Any:
        """Return a label, or the tuple of a list of them."""
        if not self._reading.multilabel:
            if isinstance(label, list):
                raise several_labels("")
            return checked_label(label)
        if not isinstance(label, list):
            raise ValueError(f"the labels must be a list, which may be empty, got {_json_text(label)}")
        return tuple(map(checked_label, label))

    def _y(self, labels: list[Any]) -> NDArray[Any]:
        if self._reading.multilabel:
            known = self._reading.list_labels
            return as_objects(labels) if known is None else as_matrix(labels, known, self._name)
        kinds: tuple[Any, ...] = (bool, str, (int, float))  # a bool is an int, too
        if len({next(i for i, kind in enumerate(kinds) if isinstance(y, kind)) for y in labels}) > 1:
            raise ValueError(f"{self._name}: labels must be all strings, all numbers or all booleans")
        return np.array(labels)


def checked_label(label: object) -> bool | int | str:
    """Return a label as arrays hold it to the last digit; ValueError if none does."""
    if isinstance(label, bool):
        return label
    if isinstance(label, str):
        if "\0" in label or not is_unicode(label):
            raise ValueError(f"the label {_json_text(label)} is not valid Unicode, or holds NUL")
        return label
    if not isinstance(label, int | float):
        raise ValueError(f"the label must be a string or a number, got {_json_text(label)}")
    if label in (math.inf, -math.inf):
        raise ValueError(f"the label is {label}; labels must be finite, so drop this example")
    if int(label) != label:
        raise ValueError(f"the label is {label}; {NOT_WHOLE}")
    if not -(2**63) <= label < 2**63:
        raise ValueError(f"the label {int(label)!r:.80} does not fit into 64 bits; write it as a string")
    return int(label)


def _example_weight(weight: object) -> float:
    if not isinstance(weight, int | float) or isinstance(weight, bool) or finite(weight, "the weight") < 0:
        raise ValueError(f"the weight must be a number of at least 0, got {_json_text(weight)}")
    return float(weight)


def _distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object; ValueError for a duplicate key, of which JSON readers would take the last."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return record


def _refuse_word(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _worded(error: Exception) -> Exception:
    """Return an error of the reader of JSON in words like others."""
    if isinstance(error, json.JSONDecodeError):
        return ValueError(f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}, at column {error.colno}")
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return ValueError("holds a number of more than 4300 digits")
    return ValueError("its objects are nested too deeply") if isinstance(error, RecursionError) else error


def _json_text(value: object) -> str:
    return f"{json.dumps(value)[:80]}"
