"""Progressive validation: mistakes and regret of learners that predict an example before they learn it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.estimator_attributes import ClassifierLike
from perceptron_rs.plots.drawing import COLOURS, INK, Display, check_has, check_named
from perceptron_rs.targets.labels import label_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "mistakes": "mistakes so far",
    "rate": "share of mistakes so far",
    "regret": "mistakes beyond the comparator's",
}


class ProgressDisplay(Display):
    """Mistakes and regret by example, of several models that learn as examples come.

    Each example is predicted before it is learnt from, so the share of mistakes is an honest estimate at any
    time (progressive validation, or prequential evaluation). The regret is how many more mistakes a model has
    made than a comparator, which does not learn meanwhile, on the same examples: for instance the best plane
    in hindsight.

    Parameters
    ----------
    mistakes : mapping of str to array-like of shape (n_samples,)
        Whether the prediction of each example was wrong, by the name of the model.
    comparator : array-like of shape (n_samples,), default=None
        The same of the comparator.

    Attributes
    ----------
    n_samples : int
        Number of examples.
    mistakes : dict of str to ndarray of shape (n_samples,)
        Number of mistakes up to each example, that one included.
    comparator : ndarray of shape (n_samples,) or None
        The same of the comparator.
    regret : dict of str to ndarray of shape (n_samples,)
        Their differences; empty without a comparator.
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of str to artist
    comparator_ : artist or None

    See Also
    --------
    perceptron_rs.Perceptron.predict_then_learn : Predicts each example before learning from it.

    References
    ----------
    .. [1] A. Blum, A. Kalai and J. Langford (1999). Beating the hold-out: Bounds for k-fold and progressive
       cross-validation. COLT.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, PocketPerceptron
    >>> from perceptron_rs.datasets import make_noisy
    >>> from perceptron_rs.plots import ProgressDisplay
    >>> X, y = make_noisy(500, 5, seed=0)
    >>> learners = {"no margin": Perceptron(), "margin 1": Perceptron(margin_threshold=1.0)}
    >>> best = PocketPerceptron(max_iter=20, tol=None).fit(X, y)
    >>> display = ProgressDisplay.from_estimators(learners, X, y, comparator=best, kind="regret")
    >>> display.ax_.get_xlabel()
    'examples'
    >>> print(display.table([100, 500]))
    examples  model      mistakes    rate  regret
         100  no margin        26  0.2600      14
         100  margin 1         20  0.2000       8
         500  no margin       114  0.2280      65
         500  margin 1         88  0.1760      39
    """

    def __init__(self, mistakes: Mapping[str, object], comparator: ArrayLike = None) -> None:
        by_model = {name: np.asarray(wrong) for name, wrong in mistakes.items()}
        if not by_model:
            raise ValueError("mistakes must name one model or more, got none")
        self.n_samples = next(iter(by_model.values())).size
        for name, wrong in {**by_model, **({} if comparator is None else {"comparator": comparator})}.items():
            if np.shape(wrong) != (self.n_samples,) or self.n_samples == 0:
                raise ValueError(
                    f"mistakes must be one for each example, of all models alike, got the shape "
                    f"{np.shape(wrong)} of {name!r}"
                )
        self.mistakes = {name: _counts(wrong) for name, wrong in by_model.items()}
        self.comparator = None if comparator is None else _counts(np.asarray(comparator))

    @property
    def regret(self) -> dict[str, NDArray[np.int64]]:
        """The mistakes of each model less those of the comparator, up to each example."""
        if self.comparator is None:
            return {}
        return {name: made - self.comparator for name, made in self.mistakes.items()}

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, object],
        X: MatrixLike,
        y: ArrayLike,
        *,
        classes: ArrayLike = None,
        comparator: ClassifierLike | None = None,
        kind: Literal["mistakes", "rate", "regret"] = "mistakes",
        ax: Axes | None = None,
    ) -> Self:
        """Let copies of learners predict and learn the examples, one after another, and draw their mistakes.

        Parameters
        ----------
        estimators : mapping of str to object
            Learners with ``predict_then_learn``, or with ``partial_fit`` and ``predict`` as in scikit-learn,
            by the name to show. They are copied; a fitted one goes on from what it has learnt. One of
            scikit-learn that has learnt nothing cannot predict: its first prediction is the first class.
            ``predict_then_learn`` predicts with the current weights, also of an average or a vote.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, in the order in which they come.
        y : array-like of shape (n_samples,)
            Labels of the examples.
        classes : array-like of shape (n_classes,), default=None
            All classes; None: those of y.
        comparator : object, default=None
            A fitted classifier, which predicts all examples and does not learn. None: no regret is shown.
        kind : {"mistakes", "rate", "regret"}, default="mistakes"
            What is drawn, as for ``plot``.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        ProgressDisplay

        Raises
        ------
        TypeError
            If an estimator does not learn example by example.
        ValueError
            If ``kind`` is "regret" and there is no comparator.
        """
        _check_kind(kind, comparator)
        check_named("estimators", estimators, "learners")
        if comparator is not None:
            check_has("comparator", comparator, "a classifier", "predict")
        labels = label_array(None, y, None)
        known = np.unique(labels) if classes is None else np.asarray(classes)
        predictions = {name: _predicted(model, X, labels, known) for name, model in estimators.items()}
        fixed = None if comparator is None else comparator.predict(X)
        return cls.from_predictions(labels, predictions, comparator=fixed, kind=kind, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: Mapping[str, object],
        *,
        comparator: ArrayLike = None,
        kind: Literal["mistakes", "rate", "regret"] = "mistakes",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the mistakes of predictions that were made as examples came, by any library.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the examples, in the order in which they came.
        y_pred : mapping of str to array-like of shape (n_samples,)
            Predictions, by the name to show.
        comparator : array-like of shape (n_samples,), default=None
            Predictions of the comparator.
        kind : {"mistakes", "rate", "regret"}, default="mistakes"
            What is drawn, as for ``plot``.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        ProgressDisplay

        Raises
        ------
        ValueError
            If there are more or fewer predictions than labels, or if ``kind`` is "regret" and there is no
            comparator.
        """
        check_named("y_pred", y_pred, "predictions")
        labels = label_array(None, y_true, None, "y_true")
        wrong = {name: _wrong(name, labels, predicted) for name, predicted in y_pred.items()}
        fixed = None if comparator is None else _wrong("comparator", labels, comparator)
        return cls(wrong, fixed).plot(ax, kind=kind)

    def plot(
        self, ax: Axes | None = None, *, kind: Literal["mistakes", "rate", "regret"] = "mistakes"
    ) -> Self:
        """Draw on these axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.
        kind : {"mistakes", "rate", "regret"}, default="mistakes"
            What is drawn up to each example: the number of mistakes, their share, or the regret.

        Returns
        -------
        self : object
            The display, with its artists.

        Raises
        ------
        ValueError
            If ``kind`` is another one, or "regret" without a comparator.
        """
        _check_kind(kind, self.comparator)
        self._kind = kind
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        examples = np.arange(1, self.n_samples + 1)
        shown: dict[str, NDArray[np.int64] | NDArray[np.float64]] = dict(
            self.regret if self._kind == "regret" else self.mistakes
        )
        fixed: NDArray[np.int64] | NDArray[np.float64] | None = (
            None if self._kind == "regret" else self.comparator
        )
        if self._kind == "rate":
            shown = {name: made / examples for name, made in shown.items()}
            fixed = None if fixed is None else fixed / examples
        self.lines_ = {
            name: ax.plot(examples, values, color=COLOURS[k % len(COLOURS)], label=name)[0]
            for k, (name, values) in enumerate(shown.items())
        }
        self.comparator_ = None
        if fixed is not None:
            (self.comparator_,) = ax.plot(examples, fixed, color=INK, linestyle="--", label="comparator")
        ax.set(xlabel="examples", ylabel=_LABELS[self._kind])
        if self._kind != "regret":
            ax.set_ylim(bottom=0)
        ax.legend()

    def table(self, rows: ArrayLike = None) -> str:
        """Return the mistakes, their shares and the regret as a table.

        Parameters
        ----------
        rows : array-like of int, default=None
            Numbers of examples after which there is a row. None: 1, 2, 4, 8, ... and all.

        Returns
        -------
        str
            Lines of columns of one width.

        Raises
        ------
        ValueError
            If a number is not from 1 to the number of examples.

        Examples
        --------
        >>> from perceptron_rs.plots import ProgressDisplay
        >>> wrong = {"a": [1, 0, 1, 0], "b": [1, 1, 0, 0]}
        >>> print(ProgressDisplay(wrong, comparator=[0, 0, 1, 0]).table())
        examples  model  mistakes    rate  regret
               1  a             1  1.0000       1
               1  b             1  1.0000       1
               2  a             1  0.5000       1
               2  b             2  1.0000       2
               4  a             2  0.5000       1
               4  b             2  0.5000       1
        """
        if rows is None:
            rows = [*(1 << k for k in range((self.n_samples - 1).bit_length())), self.n_samples]
        numbers = [int(n) for n in rows]
        if not all(1 <= n <= self.n_samples for n in numbers):
            raise ValueError(f"rows must be numbers of examples from 1 to {self.n_samples}, got {numbers}")
        width = max(5, *map(len, self.mistakes))
        regret = self.regret
        lines = [f"examples  {'model':{width}}  mistakes    rate" + ("  regret" if regret else "")]
        for n in numbers:
            for name, made in self.mistakes.items():
                line = f"{n:8}  {name:{width}}  {made[n - 1]:8}  {made[n - 1] / n:.4f}"
                lines.append(line + (f"  {regret[name][n - 1]:6}" if regret else ""))
        return "\n".join(lines)


def _check_kind(kind: str, comparator: object) -> None:
    check_among("kind", kind, *_LABELS)
    if kind == "regret" and comparator is None:
        raise ValueError("kind='regret' needs a comparator; pass one, such as a fitted PocketPerceptron")


def _counts(wrong: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the number of mistakes up to each example."""
    return np.cumsum(wrong != 0, dtype=np.int64)


def _wrong(name: str, labels: NDArray[np.generic], answers: object) -> NDArray[np.bool_]:
    predicted = label_array(None, answers, None, "y_pred")
    if labels.ndim != 1 or predicted.shape != labels.shape:
        raise ValueError(
            f"y_pred must have a prediction for each of {labels.size} labels, got the shape "
            f"{predicted.shape} of {name!r}"
        )
    wrong: NDArray[np.bool_] = predicted != labels
    return wrong


def _predicted(
    estimator: Any, X: MatrixLike, labels: NDArray[np.generic], classes: NDArray[np.generic]
) -> NDArray[np.generic]:
    """Return what a copy of a learner predicts, of each example before it learns from it."""
    model = deepcopy(estimator)
    if hasattr(type(model), "predict_then_learn"):
        answers: NDArray[np.generic] = model.predict_then_learn(X, labels, classes=classes)[0]
        return answers
    if not hasattr(type(model), "partial_fit"):
        raise TypeError(
            f"estimators: {type(model).__name__} does not learn example by example; it must have "
            f"predict_then_learn or partial_fit"
        )
    rows = X.tocsr() if issparse(X) else np.asarray(X)
    predictions = []
    for k in range(len(labels)):
        row = rows[k : k + 1]
        predictions.append(model.predict(row)[0] if hasattr(model, "classes_") else classes[0])
        model.partial_fit(row, labels[k : k + 1], classes=classes)
    return np.asarray(predictions)
