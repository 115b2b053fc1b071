"""Lines of raw text, of fastText, of JSON and of Vowpal Wabbit as examples whose columns are hashed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.features.dictionaries import WITHIN, divided, finite, flattened, is_unicode
from perceptron_rs.io.examples import NOT_WHOLE, Examples
from perceptron_rs.io.reading import LabelKind, Reading, meant_by
from perceptron_rs.io.svmlight.lines import as_matrix
from perceptron_rs.io.text.lines import refuse_names
from perceptron_rs.io.text.opening import line_text

#: What labels of fastText begin with.
_PREFIX = "__label__"
#: Words that begin so; a pattern that begins with letters is looked for by them.
_LABEL = re.compile(rf"{_PREFIX}(?<!\S{_PREFIX})(\S*)")
#: How lines of Vowpal Wabbit begin.
_VW = re.compile(r"[^|]{0,40}\|\S* ")
_INTEGER = re.compile("0|-?[1-9][0-9]*")


class RawText:
    """Makes examples of whole lines of a file.

    Where nothing says whether lines have labels, a line has one if it is a class of the model, and has none
    without a tab; anything else is refused, as it might be text.

    Parameters
    ----------
    name : str
        What errors call the file.
    reading : Reading
        How it is read, with a number of bits.
    """

    def __init__(self, name: str, reading: Reading) -> None:
        assert reading.hash_bits is not None
        self._name, self._reading, self._hasher = name, reading, reading.hasher("lines")
        beside = reading.labels is not None
        self._is_labelled = not beside if reading.with_labels or beside else reading.labelled
        self._are_labelled: bool | None = None

    def part(self, first: int, text: bytes) -> Examples:
        """Return the examples in whole lines, the first of which has this number."""
        lists, texts = self._cut_lines(first, text)
        is_wanted = self._reading.with_labels and self._is_labelled is not False
        y = labels_of(lists, self._reading) if is_wanted else None
        return Examples(self._hasher.rows({"": texts}), y)

    def lists(self, first: int, text: bytes) -> list[tuple[str, ...]]:
        """Return the labels of each example, as they are written."""
        return self._cut_lines(first, text)[0]

    def _cut_lines(self, first: int, text: bytes) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the labels and the texts of whole lines."""
        lists, texts = [], []
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            labels, words = self._cut(number, line_text(line, self._name, number))
            if self._reading.with_labels and len(labels) > 1 and not self._reading.multilabel:
                raise several_labels(f"{self._name}: line {number} ")
            lists.append(labels)
            texts.append(words)
        return lists, texts

    def _cut(self, number: int, line: str) -> tuple[tuple[str, ...], str]:
        """Return the labels of a line, and its text."""
        label, tab, words = line.partition("\t")
        has_label = self._is_labelled
        if has_label is None:
            has_label = self._has_label(number, label, tab)
        if not has_label:
            return (), line
        if not tab:
            raise ArgumentError(
                f"line {number} has no tab",
                "write each line as a label, a tab and the text" + _other_format(line),
                place=f"{self._name}: ",
            )
        if not label and not self._reading.multilabel:
            raise ValueError(f"{self._name}: line {number} has nothing before its tab, where the label is")
        if number == 1:
            refuse_names((label, words), f"{self._name}: line 1", 1)
        return self._labels(label), words

    def _labels(self, label: str) -> tuple[str, ...]:
        """Return the labels before a tab: one, or a list of them."""
        if not self._reading.multilabel:
            return (label,)
        return tuple(part.strip() for part in label.split(",")) if label.strip() else ()

    def _has_label(self, number: int, label: str, tab: str) -> bool:
        """Return whether a line of unknown kind has a label; all lines must be alike."""
        known = self._reading.classes
        labels = self._labels(label)
        has_label = bool(tab) and known is not None and all(_is_class(own, known) for own in labels)
        if tab and not has_label:
            raise ArgumentError(
                "line {number} has a tab, and {label!r:.40} before it is none of the model's classes",
                "say {labelled=True} if it is a label, or {labelled=False} if all of the line is text",
                place=f"{self._name}: ",
                number=number,
                label=label,
            )
        if self._are_labelled not in (None, has_label):
            raise ArgumentError(
                f"line {number} has {'a' if has_label else 'no'} label, unlike the lines before",
                "say {labelled=True} or {labelled=False}",
                place=f"{self._name}: ",
            )
        self._are_labelled = has_label
        return has_label


class FastText(RawText):
    """Makes examples of lines as fastText reads them: words, of which those are labels that begin so."""

    def _cut(self, number: int, line: str) -> tuple[tuple[str, ...], str]:
        parts = _LABEL.split(line)  # one by one, words would take longer than their hashes
        labels, text = tuple(parts[1::2]), "".join(parts[::2])
        if self._is_labelled and not labels and not self._reading.multilabel:
            raise ValueError(f"{self._name}: line {number} has no label; write {_PREFIX}NAME before the text")
        if not all(labels):
            raise ValueError(f"{self._name}: line {number} has {_PREFIX} without a name behind it")
        # Blanks are parts of n-grams of characters alone.
        return labels, text.strip() if self._reading.analyzer == "word" else " ".join(text.split())


def _other_format(line: str) -> str:
    """Return a further remedy for a line that may be of another format."""
    if line.startswith(_PREFIX):
        return ", or say {format='fasttext'} of lines such as fastText's"
    return ", or say {format='vw'} of lines such as Vowpal Wabbit's" if _VW.match(line) else ""


def several_labels(place: str) -> ArgumentError:
    """Return the error for an example that has several labels where one is wanted."""
    remedy = "learn all of them ({multilabel=True}), or keep one"
    return ArgumentError("has several labels", remedy, place=place)


def labels_of(lists: Sequence[tuple[str, ...]], reading: Reading) -> NDArray[Any]:
    """Return labels as they are written as y: of one each, or of lists, whose matrix needs to know all."""
    if not reading.multilabel:
        return _labels([labels[0] for labels in lists], reading.label_kind)
    if reading.list_labels is not None:
        return as_matrix(lists, list(map(str, reading.list_labels)), "the data")
    return as_objects(lists)


def as_objects(lists: Sequence[tuple[Any, ...]]) -> NDArray[Any]:
    """Return lists of labels as an array of objects."""
    y = np.empty(len(lists), dtype=object)
    for number, labels in enumerate(lists):
        y[number] = labels
    return y


def _is_class(text: str, classes: NDArray[np.generic]) -> bool:
    label = text if classes.dtype.kind in "OU" else _label_number(text)
    return label in classes.tolist()


def kind_of_labels(labels: Iterable[str]) -> LabelKind:
    """Return what labels are, as of a table: text, unless all are integers of 64 bits; 01 is text."""
    return "i" if all(map(_is_integer, labels)) else "U"


def _is_integer(label: str) -> bool:
    is_short = len(label) < 19
    return _INTEGER.fullmatch(label) is not None and (is_short or -(2**63) <= int(label) < 2**63)


def _label_number(label: str) -> int | float | None:
    """Return a label as a number, to the last digit; None if it is none."""
    if _is_integer(label):
        return int(label)
    from perceptron_rs.io.tables.cells import is_number

    value = float(label) if is_number(label) else math.inf
    return value if abs(value) < 2.0**53 else None


def _labels(texts: list[str], kind: LabelKind | None) -> NDArray[np.generic]:
    """Return the labels as numbers; as strings if one is no number, so that no class of numbers matches."""
    if (odd := next((text for text in texts if text.endswith("\0")), None)) is not None:
        raise ValueError(f"the label {odd!r:.60} ends with NUL, which NumPy drops; leave that out")
    if (kind or kind_of_labels(texts)) == "U":
        return np.array(texts)
    numbers = list(map(_label_number, texts))
    return np.array(texts if None in numbers else numbers)


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
