"""Trial fits on nine tenths of the examples, to tell how a learner does on the rest."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import weights_of
from perceptron_rs.io.examples import Examples, is_held_out
from perceptron_rs.io.reading import RAW
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.recipe.scale import ScaleFit
from perceptron_rs.targets.distinct import distinct, places

#: Every tenth example is held out.
_SHARE = 0.1
#: A tenth of fewer examples says nothing.
_LEAST = 20
#: Of numbers, those that are scaled to see whether that helps.
_MOST = 1 << 24
#: How much the spreads of two columns differ where a scale may help.
_SPREAD = 5


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
        return (
            f"accuracy {1 - self.errors / self.n:.4f}, {self.errors} errors of {self.n} examples: every "
            f"tenth, by a model that learnt from the other {self.n_learnt}{beside}"
        )


def n_errors(model: Any, data: Examples) -> int:
    """Return how many examples a model is wrong about, in at least one of their labels."""
    wrong = (model.predict(data.X) != data.labels).reshape(len(data), -1)
    return int(np.count_nonzero(wrong.any(axis=1)))


def trial(model: Any, files: TrainingFiles, data: Examples) -> Trial | None:
    """Train a copy of a model on nine tenths of the examples, and ask it for the others.

    None if there are too few, or if a class has examples among the held out ones alone.
    """
    held = is_held_out(0, len(data), _SHARE)
    if len(data) < _LEAST:
        return None
    known, asked = data.chosen(~held), data.chosen(held)
    usual = None
    if not files.reading.multilabel:
        classes = distinct(known.labels)[0]
        if len(classes) < len(distinct(data.labels)[0]):
            return None
        usual = len(asked) - int(np.bincount(places(asked.labels, classes)).max())
    errors = _tried(model, files, known, asked)
    scaled = None
    is_text = files.form in RAW or files.reading.text_columns
    if errors and not is_text and files.reading.scale is None and _differ(known.X):
        fit = ScaleFit("standard")
        fit.add(known.X)
        scale = fit.scale()
        parts = (Examples(scale.applied(part.X), part.y, part.weights) for part in (known, asked))
        scaled = _tried(model, files, *parts)
    return Trial(len(known), len(asked), errors, usual, scaled)


def _tried(model: Any, files: TrainingFiles, known: Examples, asked: Examples) -> int:
    from sklearn import clone

    copy = clone(model).set_params(audit=False, audit_key=None, callback=None, warm_start=False)
    copy.set_params(keep_on_interrupt=False)
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
    return np.asarray(np.sqrt(X.power(2).mean(axis=0) - np.square(X.mean(axis=0)))).ravel()
