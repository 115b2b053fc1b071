"""The plane: half-spaces, one update, the lines of many orders, a film of the updates."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, column_names, has_columns
from perceptron_rs.arrays.scalars import checked_number, whole_number
from perceptron_rs.estimator_attributes import ClassifierLike
from perceptron_rs.plots import drawing
from perceptron_rs.prediction.hyperplanes import hyperplanes
from perceptron_rs.rows.examples import recipe_of
from perceptron_rs.rows.real_numbers import finite_numbers
from perceptron_rs.targets.labels import label_array
from perceptron_rs.teaching.fit_trace import Step, Trace

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

_ROUNDING = 1e-6  # of a score: the support of a largest margin is at one distance up to its tolerance


class HyperplaneDisplay(drawing.Display):
    """What a classifier predicts in the plane, with its boundary, its margin, its support and its mistakes.

    The regions are those of `sklearn.inspection.DecisionBoundaryDisplay`.

    Parameters
    ----------
    estimator : object
        A fitted classifier of two columns: linear, kernel or multilayer.
    X : {array-like, dataframe} of shape (n_samples, 2)
        The examples.
    y : ndarray of shape (n_samples,)
        Labels of the examples.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    boundary_ : sklearn.inspection.DecisionBoundaryDisplay
        The classes that are predicted. Its ``surface_`` is the artist.
    points_ : list of artists, one a class
    lines_ : list of artists
        Of two classes, the boundary. A linear learner without a mistake has two more lines, through the
        examples nearest to it; a classifier of largest margin with a kernel has them, too.
    normal_ : artist or None
        The normal vector of a linear learner.
    support_ : artist
        White centres of the support vectors. Of a linear learner without a mistake, these are the examples
        nearest to the line. Those of a kernel perceptron are the examples that it made mistakes on.
    mistakes_ : artist
        Rings around the examples that are predicted wrong.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.plots import HyperplaneDisplay
    >>> X, y = [[2, 1], [-1, 1], [0, -1], [1, 2]], [1, 0, 0, 1]
    >>> display = HyperplaneDisplay.from_estimator(Perceptron(tol=None).fit(X, y), X, y)
    >>> display.ax_.get_xlabel()
    'x1'
    """

    def __init__(self, estimator: ClassifierLike, X: MatrixLike, y: NDArray[np.generic]) -> None:
        self.estimator, self.X, self.y = estimator, X, y

    @classmethod
    def from_estimator(
        cls, estimator: ClassifierLike, X: MatrixLike, y: ArrayLike, *, ax: Axes | None = None
    ) -> Self:
        """Draw a fitted classifier and examples.

        Parameters
        ----------
        estimator : object
            A fitted classifier of two columns: linear, kernel or multilayer.
        X : {array-like, dataframe} of shape (n_samples, 2)
            The examples. The names of the columns of a dataframe are those of the axes.
        y : array-like of shape (n_samples,)
            Labels of the examples.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        HyperplaneDisplay

        Raises
        ------
        ValueError
            If X has not two columns.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        scores = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
        drawing.check_has("estimator", estimator, "a classifier of rows", "classes_", "predict", scores)
        values = drawing.two_columns(X)
        if isinstance(estimator.classes_, list) or np.ndim(estimator.predict(X)) != 1:
            raise ValueError("estimator must predict one label for each row; fit it to a column of y")
        return cls(estimator, X if has_columns(X) else values, label_array(None, y, len(values))).plot(ax)

    def _draw(self, ax: Axes) -> None:
        X, classes = drawing.two_columns(self.X), self.estimator.classes_
        self.boundary_ = drawing.regions(ax, self.estimator, self.X)
        self.points_ = drawing.points(ax, X, self.y, classes)
        self.lines_: list[Line2D | ContourSet | None] = []
        self.normal_: Annotation | None = None
        # A model that scales its columns has its line and its examples elsewhere.
        is_plain = recipe_of(self.estimator) is None
        support: Any = getattr(self.estimator, "support_vectors_", X[:0]) if is_plain else X[:0]
        support = drawing.two_columns(support)
        planes = hyperplanes(self.estimator) if is_plain else None
        is_line = planes is not None and planes[0].shape == (1, 2)
        if planes is not None and is_line and planes[0].any():
            support = self._draw_line(ax, X, planes[0][0], float(planes[1][0]))
        elif len(classes) == 2 and not is_line and hasattr(self.estimator, "decision_function"):
            margin = getattr(self.estimator, "margin_", np.array([-1.0]))[0]
            levels = [-1.0, 0.0, 1.0] if margin > 0 else [0.0]
            self.lines_.append(drawing.score_lines(ax, self.estimator, self.X, levels).surface_)
        self.support_ = ax.scatter(*support.T, s=10, color="white", zorder=4, label="support")
        wrong = X[self.estimator.predict(self.X) != self.y]
        self.mistakes_ = drawing.rings(ax, wrong, label="wrong")
        drawing.frame(ax, X, column_names(self.X) or ("x1", "x2"))

    def _draw_line(
        self, ax: Axes, X: NDArray[np.float64], w: NDArray[np.float64], b: float
    ) -> NDArray[np.float64]:
        """Draw a line with its margin, if it has one; return the examples that are nearest to it."""
        self.lines_.append(drawing.line(ax, w, b, color=drawing.INK, linewidth=1.5))
        self.normal_ = drawing.normal(ax, w, b, X, lw=1.5)
        signed = (X @ w + b) * np.where(self.y == self.estimator.classes_[1], 1, -1)
        nearest = float(signed.min())
        if nearest <= 0:
            return X[:0]
        for side in (-1, 1):
            style = {"color": drawing.INK, "linewidth": 0.8, "linestyle": "--"}
            self.lines_.append(drawing.line(ax, w, b + side * nearest, **style))
        return X[signed <= nearest * (1 + _ROUNDING)]


class UpdateDisplay(drawing.Display):
    """One update: the line before and after, and the normal vector turning towards the example.

    Parameters
    ----------
    step : Step
        A step of `~perceptron_rs.trace`, of two columns.
    X : ndarray of shape (n_samples, 2)
        The examples.
    y : ndarray of shape (n_samples,)
        Labels of the examples.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    before_, after_ : artists or None
        The lines; None while the weights are zero.
    example_ : artist
        A ring around the example.
    """

    def __init__(self, step: Step, X: NDArray[np.float64], y: NDArray[np.generic]) -> None:
        self.step, self.X, self.y = step, X, y

    @classmethod
    def from_step(cls, step: Step, X: MatrixLike, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Draw a step of a trace.

        Parameters
        ----------
        step : Step
            A step of `~perceptron_rs.trace`.
        X : array-like of shape (n_samples, 2)
            The examples.
        y : array-like of shape (n_samples,)
            Labels of the examples.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        UpdateDisplay

        Raises
        ------
        ValueError
            If X has not two columns.
        """
        drawing.check_kind("step", step, Step, "trace")
        values = drawing.two_columns(X)
        drawing.check_rows("step", step.row, values)
        return cls(step, values, label_array(None, y, len(values))).plot(ax)

    def _draw(self, ax: Axes) -> None:
        step, x = self.step, self.X[self.step.row]
        drawing.points(ax, self.X, self.y, np.unique(self.y))
        self.before_ = drawing.line(
            ax, step.w_before, step.b_before, color=drawing.INK, linestyle=":", label="before"
        )
        self.after_ = drawing.line(ax, step.w, step.b, color=drawing.INK, label="after")
        self.example_ = drawing.rings(ax, x, s=200)
        drawing.normal(ax, step.w_before, step.b_before, self.X, linestyle=":")
        drawing.normal(ax, step.w, step.b, self.X)
        moved = step.step * (x @ x + (step.b != step.b_before))
        drawing.frame(ax, self.X)
        ax.set_title(
            f"example {step.row}: w . x + b = {step.activation:g}"
            + (f",\nmoved by {moved:+g}" if step.mistake else "")
        )
        drawn = [artist for artist in (self.before_, self.after_) if artist is not None]
        ax.legend(handles=drawn, loc="best")


class DistanceDisplay(drawing.Display):
    r"""Points, their projections on a line and their distances; and what other intercepts do to the line.

    Parameters
    ----------
    coef : ndarray of shape (2,)
        Weights w of the line :math:`w \cdot x + b = 0`.
    intercept : float
        Its intercept b.
    X : ndarray of shape (n_points, 2)
        Points to project.
    others : sequence of float, default=()
        Other intercepts, each of which moves the line by :math:`-b / \|w\|` along its normal vector.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : artist
    others_ : list of artists, one an intercept
    normal_ : artist
    points_ : artist
    projections_ : list of artists
        From each point to its projection.
    labels_ : list of artists
        The signed distances :math:`(w \cdot x + b) / \|w\|`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from perceptron_rs.plots import DistanceDisplay
    >>> display = DistanceDisplay.from_weights([2, 3], 6, [[2, 2]], others=[12])
    >>> display.labels_[0].get_text()  # 16 / sqrt(13)
    '4.438'
    """

    def __init__(
        self,
        coef: NDArray[np.float64],
        intercept: float,
        X: NDArray[np.float64],
        others: Sequence[float] = (),
    ) -> None:
        self.coef, self.intercept, self.X, self.others = coef, intercept, X, others

    @classmethod
    def from_weights(
        cls,
        coef: object,
        intercept: float,
        X: MatrixLike,
        *,
        others: Sequence[float] = (),
        ax: Axes | None = None,
    ) -> Self:
        """Draw a line and points.

        Parameters
        ----------
        coef : array-like of shape (2,)
            Weights of the line, not both 0.
        intercept : float
            Its intercept.
        X : array-like of shape (n_points, 2)
            Points to project.
        others : sequence of float, default=()
            Other intercepts to draw.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        DistanceDisplay

        Raises
        ------
        ValueError
            If X has not two columns, or coef not two weights of which one is not 0.
        """
        w = finite_numbers(coef, "coef")
        if w.shape != (2,) or not w.any():
            raise ValueError(f"coef must be two weights, not both 0, got {w.tolist()!r:.80}")
        b = finite_numbers(others, "others")
        if b.ndim != 1:
            raise ValueError(f"others must be a list of numbers, got {others!r:.80}")
        values = drawing.two_columns(X)
        if len(values) == 0:
            raise ValueError("X must hold at least one point, got none")
        return cls(w, float(checked_number("intercept", intercept)), values, b.tolist()).plot(ax)

    def _draw(self, ax: Axes) -> None:
        w, b, X = self.coef, self.intercept, self.X
        heights = X @ w + b
        feet = X - np.outer(heights / (w @ w), w)
        nearest = np.array(
            [-value * w / (w @ w) for value in (b, *self.others)]
        )  # of each line to the origin
        self.line_ = drawing.line(ax, w, b, color=drawing.INK, label=f"b = {b:g}")
        self.others_ = [
            drawing.line(
                ax,
                w,
                float(other),
                color=drawing.COLOURS[k % len(drawing.COLOURS)],
                linestyle="--",
                label=f"b = {other:g}",
            )
            for k, other in enumerate(self.others)
        ]
        self.normal_ = drawing.normal(ax, w, b, np.concatenate([X, feet]))
        self.points_ = ax.scatter(*X.T, color=drawing.INK, zorder=4)
        self.projections_ = [
            ax.plot(*np.stack([point, foot]).T, color=drawing.INK, linestyle=":")[0]
            for point, foot in zip(X, feet, strict=True)
        ]
        length = float(np.sqrt(w @ w))
        style = {"textcoords": "offset points", "ha": "center", "va": "center"}
        self.labels_ = [  # on the side of the point where no dotted line is
            ax.annotate(
                f"{height / length:.4g}", point, xytext=(-15 if height < 0 else 15) * w / length, **style
            )
            for point, height in zip(X, heights, strict=True)
        ]
        drawing.frame(ax, np.concatenate([X, feet, nearest]))
        rest = [f"{'-' if value < 0 else '+'} {abs(value):g}" for value in (w[1], b)]
        ax.set_title(f"{w[0]:g} x1 {rest[0]} x2 {rest[1]} = 0")
        if self.others:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


class OrdersDisplay(drawing.Display):
    """All lines that one learner finds from many orders of the same examples.

    Parameters
    ----------
    coef : ndarray of shape (n_orders, 2)
        Weights, a row for each order.
    intercept : ndarray of shape (n_orders,)
        Intercepts.
    X : ndarray of shape (n_samples, 2)
        The examples.
    y : ndarray of shape (n_samples,)
        Labels of the examples.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists
    """

    def __init__(
        self,
        coef: NDArray[np.float64],
        intercept: NDArray[np.float64],
        X: NDArray[np.float64],
        y: NDArray[np.generic],
    ) -> None:
        self.coef, self.intercept, self.X, self.y = coef, intercept, X, y

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: MatrixLike, y: ArrayLike, *, n_orders: int = 1000, ax: Axes | None = None
    ) -> Self:
        """Fit clones with the seeds 0, 1, 2, ... and draw their lines.

        Parameters
        ----------
        estimator : object
            A linear learner that shuffles.
        X : array-like of shape (n_samples, 2)
            The examples.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        n_orders : int, default=1000
            How many orders.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        OrdersDisplay

        Raises
        ------
        ValueError
            If X has not two columns, y not two classes, or the estimator predicts with more than a line.
        """
        is_learner = hasattr(type(estimator), "get_params") and is_classifier(estimator)
        if not is_learner or "random_state" not in estimator.get_params():
            raise TypeError(f"estimator must be a linear learner that shuffles, got {estimator!r:.80}")
        X, n_orders = drawing.two_columns(X), whole_number("n_orders", n_orders, 1)
        y = label_array(None, y, len(X))
        models = [clone(estimator).set_params(random_state=seed).fit(X, y) for seed in range(n_orders)]
        if len(models[0].classes_) != 2:
            raise ValueError(f"y must hold two classes, got {len(models[0].classes_)}")
        planes = [hyperplanes(model) for model in models]
        lines = [plane for plane in planes if plane is not None and len(plane[0]) == 1]
        if len(lines) < len(models):
            raise ValueError(
                f"estimator must predict with one line, and {type(estimator).__name__} does not; set another "
                "prediction, or use a linear learner"
            )
        coef = np.array([w[0] for w, _ in lines])
        return cls(coef, np.array([b[0] for _, b in lines]), X, y).plot(ax)

    def _draw(self, ax: Axes) -> None:
        style = {"color": drawing.INK, "linewidth": 0.5, "alpha": max(0.02, min(1.0, 10 / len(self.coef)))}
        lines = [
            drawing.line(ax, w, float(b), **style) for w, b in zip(self.coef, self.intercept, strict=True)
        ]
        self.lines_ = [drawn for drawn in lines if drawn is not None]
        drawing.points(ax, self.X, self.y, np.unique(self.y))
        drawing.frame(ax, self.X)
        ax.set_title(f"lines from {len(self.coef)} orders")


def updates_of(trace: Trace) -> list[Step]:
    """Return the updates of a trace of two classes and two columns; ValueError for another one."""
    drawing.check_kind("trace", trace, Trace, "trace")
    steps = [step for step in trace if step.mistake]
    if len({step.label for step in steps}) > 1:
        raise ValueError(f"trace must be of two classes, got {len(trace.estimator.classes_)}")
    return steps


def animate(trace: Trace, path: str | PathLike[str], *, seconds: float = 1.0, ax: Axes | None = None) -> Path:
    """Write a run, one picture for each update, as an animated GIF.

    Parameters
    ----------
    trace : Trace
        A run on two columns and two classes.
    path : str or path-like
        File to write.
    seconds : float, default=1.0
        How long each picture stays.
    ax : matplotlib axes, default=None
        Axes to draw on; None makes new ones.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ValueError
        If the examples have not two columns or two classes, or if the run has no update.
    """
    from matplotlib.animation import FuncAnimation, PillowWriter

    steps, seconds = updates_of(trace), float(checked_number("seconds", seconds))
    if not seconds > 0:
        raise ValueError(f"seconds must be above 0, got {seconds}")
    X, y = drawing.two_columns(trace.X), np.asarray(trace.y)
    if not steps:
        raise ValueError("trace must have at least one update to be animated")
    ax = drawing.axes(ax)

    def draw(number: int) -> list[Artist]:
        ax.clear()
        UpdateDisplay.from_step(steps[number], X, y, ax=ax)
        return list(ax.get_children())

    film = FuncAnimation(ax.figure, draw, frames=len(steps), init_func=list)
    film.save(Path(path), writer=PillowWriter(fps=1 / seconds))
    return Path(path)
