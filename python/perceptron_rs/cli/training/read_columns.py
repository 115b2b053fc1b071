"""What was read of DATA, for people: which columns there were, what each holds, and which were left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.features.hashing import hashed
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import RAW, TABLES
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.models.summary import label_text
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.targets.distinct import distinct, places

#: Of a table, the columns that have a line each; of more, some are named.
_LINES, _NAMED = 12, 3
#: Larger numbers leave little to texts, whose length is 1.
_DROWNS = 10
#: Classes whose examples are counted.
_CLASSES = 10


def classes_in_words(data: Examples) -> str:
    """Return the classes, and how many examples each has."""
    classes = distinct(data.labels)[0]
    counts = np.bincount(places(data.labels, classes), minlength=len(classes))
    order = np.argsort(-counts, kind="stable")[:_CLASSES]
    shown = ", ".join(f"{label_text(classes[i])} {counts[i]}" for i in order)
    return shown + (f" and {len(classes) - _CLASSES} others" if len(classes) > _CLASSES else "")


def columns_in_words(files: TrainingFiles, data: Examples) -> list[str]:
    """Return lines about the columns: name, kind, and the range of numbers."""
    reading, form = files.reading, files.form
    if form in RAW or reading.hash_bits is not None:
        width = f"hashed to 2^{reading.hash_bits} columns"
        if form not in TABLES and not reading.text_columns:
            return [f"{'words' if form in RAW else 'names and values'}, {width}"]
        columns, strings = data.hashed or ((), ())
        kinds = dict.fromkeys(columns, "numbers") | dict.fromkeys(strings, "categories")
        kinds |= reading.notes.kinds if reading.notes is not None else {}  # of JSON lines
        kinds |= dict.fromkeys(reading.text_columns or (), "words")
        lines = _by_kind(kinds, f", {width}")
        numbers = [name for name, kind in kinds.items() if kind == "numbers"]
        if reading.text_columns and reading.norm and numbers and not isinstance(reading.scale, Scale):
            lines += _drowning(data, numbers, " in place of --tf-idf" if reading.scale is not None else "")
        return lines
    if data.names is None:
        kind = "numbers" if isinstance(data.rows, np.ndarray) else "sparse numbers"
        return [f"{data.shape[1]} columns of {kind}"]
    counting = counting_columns(data)
    if len(data.names) > _LINES:
        return _by_kind(dict.fromkeys(data.names, "numbers"), "")
    wide = max(map(len, data.names))
    X: Any = data.rows
    lines = []
    for place, name in enumerate(data.names):
        values = X[:, place]
        text = f"{name:{wide}}  numbers from {values.min():.6g} to {values.max():.6g}"
        lines.append(text + ("; it counts the rows" if name in counting else ""))
    return lines


def _drowning(data: Examples, numbers: list[str], more: str) -> list[str]:
    """Return a line about the largest number beside texts, if it is far longer than these."""
    X: Any = data.X
    sizes = abs(X[:, hashed(numbers, X.shape[1])[0]]).max(axis=0).toarray()[0]
    size, name = max(zip(sizes.tolist(), numbers, strict=True))
    said = f"{name} reaches {size:.6g}, where a text has the length 1: see --scale maxabs{more}"
    return [said] if size > _DROWNS else []


def _by_kind(kinds: dict[str, str], more: str) -> list[str]:
    """Return a line for each kind of columns."""
    lines = []
    for kind in dict.fromkeys(kinds.values()):
        names = [name for name in kinds if kinds[name] == kind]
        shown = ", ".join(names if len(names) <= _LINES else [*names[:_NAMED], "...", names[-1]])
        lines.append(f"{kind} of {shown}" + (f" ({len(names)})" if len(names) > 1 else "") + more)
    return lines


def first_of_classes(data: Examples) -> str | None:
    """Return the first of the last columns, if one of them holds 1 in each row and the others 0; else None.

    The labels are the last of them.
    """
    X: Any = data.rows
    rest = np.asarray(data.labels)
    if data.names is None or not isinstance(X, np.ndarray) or not np.isin(rest, (0, 1)).all():
        return None
    for place in range(len(data.names) - 1, -1, -1):
        rest = rest + X[:, place]
        if not np.isin(rest, (0, 1)).all():
            return None
        if rest.all() and X[:, place].any():
            return data.names[place]
    return None


def counting_columns(data: Examples) -> tuple[str, ...]:
    """Return the columns of a table that number its rows: they say nothing of other examples."""
    X: Any = data.rows
    if data.names is None or not isinstance(X, np.ndarray) or len(X) < _LINES:
        return ()
    steps = X[1:, :] - X[:-1, :] if X.dtype.kind == "f" else np.diff(X.astype(np.float64), axis=0)
    return tuple(name for name, counts in zip(data.names, (steps == 1).all(axis=0), strict=True) if counts)


def left_out_in_words(files: TrainingFiles, data: Examples) -> str | None:
    """Return what was not learnt from, and why; None if all was."""
    parts = []
    if data.weights is not None and (n := int(np.count_nonzero(data.weights == 0))):
        parts.append(f"{n} examples of weight 0")
    if files.reading.drop and "drop" in files.reading.given:
        parts.append(f"columns that --drop names: {', '.join(files.reading.drop)}")
    return "; ".join(parts) or None
