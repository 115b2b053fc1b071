"""Lines as Vowpal Wabbit reads them: a label, a bar, and names with values, in namespaces."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from perceptron_rs.features.dictionaries import WITHIN
from perceptron_rs.io.examples import NOT_WHOLE
from perceptron_rs.io.hashed.json_lines import Example, JsonLines
from perceptron_rs.io.hashed.raw_text import labels_of, several_labels


class VwLines(JsonLines):
    """Makes examples of whole lines: ``label weight 'tag|namespace:value name:value name ...``.

    A name without a value has 1. Values are multiplied by those of their namespaces; those of one name are
    added. ``name`` of a namespace is the feature ``namespace^name``, as in JSON lines.
    """

    def _example(self, line: bytes) -> Example:
        head, bar, rest = line.decode().partition("|")
        if not bar:
            raise ValueError("has no |, which stands before the features")
        words = head.split()
        if words and (words[-1].startswith("'") or not head[-1].isspace()):
            tag = words.pop()
            if self._with_labels and not words:
                raise ValueError(f"has no label, but a tag: {tag!r:.40} touches the |; write a blank between")
        if words and ":" in words[0]:
            raise ValueError(f"has costs, {words[0]!r:.40}, where a label is to be; write the label alone")
        if len(words) > 2:
            raise ValueError(f"has {len(words)} words before the |; write a label, and perhaps a weight")
        weight = None if len(words) < 2 else _number(words[1], "the weight")
        if weight is not None and weight < 0:
            raise ValueError(f"the weight must be at least 0, got {words[1]}")
        features: dict[str, float] = {}
        for part in rest.split("|"):
            _add(part, features)
        return Example({**features}, {}, self._labels_of(words[:1]) if self._with_labels else None, weight)

    def _labels_of(self, words: list[str]) -> tuple[str, ...]:
        labels = tuple(map(_tidy, words[0].split(","))) if words else ()
        if self._reading.multilabel:
            return labels
        if not labels:
            raise ValueError("has no label before the |")
        if len(labels) > 1:
            raise several_labels("")
        return labels

    def _y(self, labels: list[tuple[str, ...]]) -> NDArray[Any]:
        return labels_of(labels, self._reading)


def _tidy(label: str) -> str:
    """Return a label that is a whole number without its sign and its decimal point."""
    try:
        number = float(label)
    except ValueError:
        return label
    if not number.is_integer():
        raise ValueError(f"the label is {label}; {NOT_WHOLE}")
    return str(int(number))


def _add(part: str, features: dict[str, float]) -> None:
    """Add the features of a namespace, which has a name if none stands before its first blank."""
    words, within, factor = part.split(), "", 1.0
    if part and not part[0].isspace():
        namespace, colon, value = words.pop(0).partition(":")
        within, factor = f"{namespace}{WITHIN}", _number(value, namespace) if colon else 1.0
    for word in words:
        name, colon, value = word.rpartition(":")
        name, number = (name, _number(value, name)) if colon else (word, 1.0)
        if not name:
            raise ValueError(f"{word!r:.40} has no name before its colon")
        features[within + name] = features.get(within + name, 0.0) + number * factor


def _number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name!r:.40} must have a finite number, got {text!r:.40}")
    return number
