"""What a training says of its data and its learner: the columns there were, and trial fits on nine tenths."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import weights_of
from perceptron_rs.features.hashing import hashed
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import RAW, TABLES
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.models.summary import label_text
from perceptron_rs.recipe.scale import Scale, ScaleFit
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


#: Parts of the examples, of which one is held out.
_PARTS = 10
#: Fewer examples tell nothing; of fewer than these, each part is held out in turn.
_LEAST, _FEW = 20, 1000
#: Of numbers, those that are scaled to see whether that helps, and weights that are learnt for each part.
_MOST, _WEIGHTS = 1 << 24, 1 << 21
#: How much the spreads of two columns differ where a scale may help.
_SPREAD = 2


class Trial(NamedTuple):
    """What came of it; ``usual`` counts the errors of who always says the most frequent class."""

    n_learnt: int
    n: int
    errors: int
    usual: int | None
    #: Errors of the same learner on columns of one scale; None: nobody tried.
    scaled: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        result = {"n_samples": self.n, "errors": self.errors, "accuracy": 1 - self.errors / self.n}
        others = {"most_frequent": self.usual, "scaled": self.scaled}
        return result | {name: 1 - value / self.n for name, value in others.items() if value is not None}

    @property
    def is_useless(self) -> bool:
        """Whether who always says the most frequent class is wrong no more often."""
        return self.usual is not None and self.errors >= self.usual > 0

    def in_words(self) -> str:
        """Return it for people."""
        most = None if self.usual is None else 1 - self.usual / self.n
        beside = "" if most is None else f"; always the most frequent class: {most:.4f}"
        by = f"every tenth, by a model that learnt from the other {self.n_learnt}"
        by = by if self.n < self.n_learnt else "each tenth, by a model that learnt from the others"
        accuracy = 1 - self.errors / self.n
        return f"accuracy {accuracy:.4f}, {self.errors} errors of {self.n} examples: {by}{beside}"


def n_errors(model: Any, data: Examples) -> int:
    """Return how many examples a model is wrong about, in at least one of their labels."""
    wrong = (model.predict(data.rows) != data.labels).reshape(len(data), -1)
    return int(np.count_nonzero(wrong.any(axis=1)))


def trial(model: Any, files: TrainingFiles, data: Examples) -> Trial | None:
    """Train copies of a model on nine tenths of the examples, and ask them for the others.

    Of few examples each tenth is held out once. None if there are too few, or of one class.
    """
    multilabel = files.reading.multilabel
    part = np.arange(len(data)) % _PARTS
    if not multilabel:  # of each class, too: files may repeat their classes in turn
        part[np.argsort(distinct(data.labels)[1], kind="stable")] = np.arange(len(data)) % _PARTS
    is_few = len(data) < _FEW and model.coef_.size <= _WEIGHTS
    parts = [(data.chosen(part != k), data.chosen(part == k)) for k in range(0 if is_few else 9, _PARTS)]
    if len(data) < _LEAST or (not multilabel and any(len(distinct(x.labels)[0]) < 2 for x, _ in parts)):
        return None
    n, usual, scaled = sum(len(asked) for _, asked in parts), None, None
    if not multilabel:
        labels = np.concatenate([asked.labels for _, asked in parts])
        usual = n - int(np.bincount(places(labels, distinct(labels)[0])).max())
    errors = sum(_tried(model, files, known, asked) for known, asked in parts)
    is_text = files.form in RAW or files.reading.text_columns
    if errors and not is_text and files.reading.scale is None and _differ(data.X):
        scaled = sum(_tried(model, files, *_scaled(known, asked)) for known, asked in parts)
    return Trial(len(parts[0][0]), n, errors, usual, scaled)


def _scaled(known: Examples, asked: Examples) -> tuple[Examples, Examples]:
    """Return both on the scale of the first one's columns."""
    fit = ScaleFit("standard")
    fit.add(known.X)
    scale = fit.scale()
    first, second = (Examples(scale.applied(x.X), x.y, x.weights) for x in (known, asked))
    return first, second


def _tried(model: Any, files: TrainingFiles, known: Examples, asked: Examples) -> int:
    copy = type(model)(**model.get_params()).set_params(audit=False, audit_key=None, callback=None)
    copy.set_params(warm_start=False, keep_on_interrupt=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model's own fit has said it
        copy.fit(known.X, files.target(known), **weights_of(known))
    return n_errors(copy, asked)


def _differ(X: Any) -> bool:
    """Whether the columns have so different spreads that a scale may help."""
    if X.size > _MOST:
        return False
    spread = _spreads(X)
    spread = spread[spread > 0]
    return len(spread) > 1 and bool(spread.max() > _SPREAD * spread.min())


def _spreads(X: Any) -> NDArray[np.float64]:
    if isinstance(X, np.ndarray):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    X = X.astype(np.float64)
    squares = np.asarray(X.power(2).mean(axis=0) - np.square(X.mean(axis=0))).ravel()
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))  # which rounding may have made less
