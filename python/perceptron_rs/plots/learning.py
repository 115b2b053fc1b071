"""What happens from epoch to epoch: mistakes, errors of the variants, survival, the pocket."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.choices import Bias
from perceptron_rs.margins.mistakes import mistake_bounds
from perceptron_rs.plots.drawing import COLOURS, INK, Display, check_has, check_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", "-.", ":")
#: Parameters that the bound does not know, and the value with which it holds.
_BOUNDED: dict[str, object] = {
    "penalty": None,
    "class_weight": None,
    "n_partitions": 1,
    "kernel": "linear",
    "step": "constant",
}


class MistakesDisplay(Display):
    """Mistakes in each epoch, and how many have been made in all, with the bound of the theorem.

    Parameters
    ----------
    mistakes : ndarray of shape (n_iter, n_classes)
        ``mistakes_per_epoch_`` of a learner.
    bound : float, default=inf
        Most mistakes in any number of epochs; drawn if it is finite.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    bars_ : artist
        Mistakes of each epoch, over all classes.
    line_ : artist
        Their sum so far.
    bound_ : artist or None

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.plots import MistakesDisplay
    >>> X, y = [[2, 1], [-1, 1], [0, -1], [1, 2]], [1, 0, 0, 1]
    >>> round(MistakesDisplay.from_estimator(Perceptron(tol=None).fit(X, y), X, y).bound, 6)
    6.96
    """

    def __init__(self, mistakes: NDArray[np.int64], bound: float = math.inf) -> None:
        self.mistakes, self.bound = mistakes, bound

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: MatrixLike = None, y: ArrayLike = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw the mistakes of a fitted learner.

        Parameters
        ----------
        estimator : object
            A fitted learner with ``mistakes_per_epoch_``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The examples; with them, the bound for separable classes is drawn.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        MistakesDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X is given, but the bound does not hold for a learner with these parameters.
        """
        check_has("estimator", estimator, "a learner of perceptron_rs", "mistakes_per_epoch_")
        bound = math.inf if X is None else _bound(estimator, X, y)
        mistakes = np.asarray(estimator.mistakes_per_epoch_)
        return cls(mistakes.reshape(len(mistakes), -1), bound).plot(ax)

    def _draw(self, ax: Axes) -> None:
        made = self.mistakes.sum(axis=1)
        epochs = np.arange(1, len(made) + 1)
        self.bars_ = ax.bar(epochs, made, color=COLOURS[0], label="in this epoch")
        (self.line_,) = ax.plot(epochs, made.cumsum(), color=COLOURS[1], marker="o", label="in all")
        self.bound_ = None
        if math.isfinite(self.bound):
            self.bound_ = ax.axhline(self.bound, color=INK, linestyle="--", label=f"bound {self.bound:.4g}")
        ax.set(xlabel="epoch", ylabel="mistakes")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()


def _bound(estimator: Any, X: MatrixLike, y: ArrayLike) -> float:
    """Return the most mistakes on separable classes, of a learner that starts from zero."""
    own = estimator.get_params() if hasattr(estimator, "get_params") else {}
    if "fit_intercept" not in own:
        raise ValueError(
            f"estimator must be a linear learner for a bound, got {estimator!r:.80}; leave out X"
        )
    for name, value in _BOUNDED.items():
        if np.any(own.get(name, value) != value):
            raise ValueError(f"{name} must be {value!r} for a bound, got {own[name]!r:.80}; leave out X")
    bias: Bias = "augmented" if own["fit_intercept"] else "none"
    options = {name: own[name] for name in ("margin_threshold", "added_feature", "eta0") if name in own}
    return float(mistake_bounds(X, y, bias=bias, **options).block_novikoff)


class ErrorsDisplay(Display):
    """Error rates after each epoch, of several learners on the same examples.

    Parameters
    ----------
    errors : dict of str to ndarray of shape (n_epochs,)
        Error rates of each learner, by the name to show.
    per_learner : int, default=1
        How many neighbours are of one learner, and have one colour.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of str to artist
    """

    def __init__(self, errors: dict[str, NDArray[np.float64]], per_learner: int = 1) -> None:
        self.errors, self.per_learner = errors, per_learner

    @classmethod
    def from_estimators(
        cls,
        estimators: dict[str, Any],
        X: MatrixLike,
        y: ArrayLike,
        *,
        X_test: object = None,
        y_test: object = None,
        n_epochs: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Fit clones for 1, 2, ... epochs and draw their errors.

        Parameters
        ----------
        estimators : dict of str to object
            Learners with ``max_iter``, by the name to show. They need a ``random_state``, so that the
            longer fits go through the same epochs.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples to learn from.
        y : array-like of shape (n_samples,)
            Labels of the examples.
        X_test : {array-like, sparse matrix} of shape (n_test, n_features), default=None
            Other examples to count errors on, too.
        y_test : array-like of shape (n_test,), default=None
            Labels of the examples.
        n_epochs : int, default=20
            How many epochs.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        ErrorsDisplay
        """
        check_named("estimators", estimators, "learners")
        for estimator in estimators.values():
            known = estimator.get_params() if hasattr(type(estimator), "get_params") else {}
            if not ({"max_iter", "tol"} <= known.keys() and is_classifier(estimator)):
                raise TypeError(f"estimators must be classifiers with max_iter, got {estimator!r:.80}")
        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test must be given together, got one of them; pass both or none")
        n_epochs = whole_number("n_epochs", n_epochs, 1)
        on = {"": (X, y)} if X_test is None else {", training": (X, y), ", test": (X_test, y_test)}
        errors: dict[str, NDArray[np.float64]] = {}
        for name, estimator in estimators.items():
            model = clone(estimator).set_params(tol=None)
            fits = [clone(model).set_params(max_iter=k).fit(X, y) for k in range(1, n_epochs + 1)]
            for which, examples in on.items():
                try:
                    errors[f"{name}{which}"] = np.array([1 - fit.score(*examples) for fit in fits])
                except (TypeError, ValueError) as error:
                    kind = TypeError if isinstance(error, TypeError) else ValueError
                    raise kind(f"X_test and y_test: {error}") from error  # on X and y it has been fitted
        return cls(errors, per_learner=len(on)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_ = {}
        for k, (name, errors) in enumerate(self.errors.items()):
            (self.lines_[name],) = ax.plot(
                np.arange(1, len(errors) + 1),
                errors,
                color=COLOURS[k // self.per_learner % len(COLOURS)],
                linestyle=_LINES[(k if self.per_learner == 1 else k % self.per_learner) % len(_LINES)],
                label=name,
            )
        ax.set(xlabel="epochs", ylabel="error rate")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()


class SurvivalDisplay(Display):
    """How many examples each weight vector of a voted perceptron survived: its votes.

    Parameters
    ----------
    survival : ndarray of shape (n_vectors,)
        Votes of the vectors of one class, in their order.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    bars_ : artist
    """

    def __init__(self, survival: NDArray[np.int64]) -> None:
        self.survival = survival

    @classmethod
    def from_estimator(cls, estimator: Any, *, class_index: int = 0, ax: Axes | None = None) -> Self:
        """Draw the votes of a fitted voted perceptron.

        Parameters
        ----------
        estimator : VotedPerceptron
            A fitted one.
        class_index : int, default=0
            Of several classes, the one whose vectors are shown.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SurvivalDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_has("estimator", estimator, "a VotedPerceptron", "survival_")
        index = whole_number("class_index", class_index, 0, len(estimator.survival_) - 1)
        return cls(estimator.survival_[index]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.bars_ = ax.bar(np.arange(len(self.survival)), self.survival, width=0.9, color=COLOURS[0])
        ax.set(xlabel="weight vector, in the order of the mistakes", ylabel="examples survived = votes")


class PocketDisplay(Display):
    """Training errors of the vector in the pocket, from swap to swap.

    Parameters
    ----------
    t : ndarray of shape (n_swaps,)
        After how many examples each swap was.
    errors : ndarray of shape (n_swaps,)
        Training errors of what went into the pocket.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : artist
    """

    def __init__(self, t: NDArray[np.int64], errors: NDArray[np.float64]) -> None:
        self.t, self.errors = t, errors

    @classmethod
    def from_estimator(cls, estimator: Any, *, class_index: int = 0, ax: Axes | None = None) -> Self:
        """Draw the pocket's history.

        Parameters
        ----------
        estimator : PocketPerceptron
            A fitted one.
        class_index : int, default=0
            Of several classes, the one whose pocket is shown.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        PocketDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_has("estimator", estimator, "a PocketPerceptron", "swaps_")
        index = whole_number("class_index", class_index, 0, len(estimator.classes_) - 1)
        swaps = estimator.swaps_[estimator.swaps_["class"] == index]
        return cls(swaps["t"], swaps["errors"]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        (self.line_,) = ax.step(self.t, self.errors, where="post", color=COLOURS[0], marker="o")
        ax.set(xlabel="examples seen", ylabel="training errors of the pocket")
        ax.set_ylim(bottom=0)
