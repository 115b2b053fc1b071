"""Trial fits on nine tenths of the examples, to tell how a learner does on the rest."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import weights_of
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import RAW
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.recipe.scale import ScaleFit
from perceptron_rs.targets.distinct import distinct, places

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
