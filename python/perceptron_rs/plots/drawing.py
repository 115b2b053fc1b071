"""What all pictures share: axes, colours that colour-blind people can tell apart, points and lines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, in_full
from perceptron_rs.estimator_attributes import ClassifierLike
from perceptron_rs.rows.real_numbers import finite_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from sklearn.inspection import DecisionBoundaryDisplay

#: Of Okabe and Ito (2008); classes also differ in their markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
INK = "#222222"
_MARKERS = "os^Dv*P"
_ROOM = 0.12  # around the points, of the side of their square


def axes(ax: Axes | None = None) -> Axes:
    """Return the axes to draw on: these, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    if not isinstance(ax, plt.Axes):
        raise TypeError(f"ax must be axes of matplotlib, got {ax!r:.80}; leave it out, or write plt.gca()")
    return ax


class Display:
    """A plot that can be drawn again, on other axes."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on these axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        self : object
            The display, with its artists.
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on these axes, and keep the artists."""


def check_kind(name: str, thing: object, kind: type, maker: str) -> None:
    """Raise TypeError unless an argument is of the kind that a function of the package returns."""
    if not isinstance(thing, kind):
        text = f"{name} must be a {kind.__name__}, got {thing!r:.80}; make one by perceptron_rs.{maker}"
        raise TypeError(text)


def check_named(name: str, thing: object, what: str) -> None:
    """Raise TypeError unless an argument has values by name."""
    if not isinstance(thing, Mapping) or not thing:
        raise TypeError(f"{name} must be a dict of names and {what}, got {thing!r:.80}")


def check_has(name: str, estimator: object, what: str, *attributes: str) -> None:
    """Raise TypeError unless an argument has what is drawn of it; NotFittedError if it has learnt nothing."""
    if not isinstance(estimator, type) and hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    if isinstance(estimator, type) or not all(hasattr(estimator, attribute) for attribute in attributes):
        raise TypeError(f"{name} must be {what} that is fitted, got {estimator!r:.80}; fit one")


def two_columns(X: MatrixLike) -> NDArray[np.float64]:
    """Return X as float64; ValueError unless it can be drawn in the plane."""
    values = finite_numbers(in_full(X), "X")
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn in the plane, got the shape {values.shape}")
    return values


def check_rows(name: str, rows: ArrayLike, X: NDArray[np.float64]) -> None:
    """Raise ValueError unless X has the rows that an argument is about."""
    last = np.max(np.asarray(rows), initial=-1)
    if last >= len(X):
        raise ValueError(f"X must be the examples of {name}, which is about row {last}, got {len(X)} rows")


def points(ax: Axes, X: NDArray[np.float64], y: ArrayLike, classes: ArrayLike) -> list[PathCollection]:
    """Draw the examples, each class with a colour and a marker of its own."""
    return [
        ax.scatter(
            *X[np.asarray(y) == label].T,
            c=COLOURS[k % len(COLOURS)],
            marker=_MARKERS[k % len(_MARKERS)],
            edgecolors="white",
            linewidths=0.5,
            s=45,
            zorder=3,
            label=str(label),
        )
        for k, label in enumerate(classes)
    ]


def rings(ax: Axes, X: NDArray[np.float64], **style: object) -> PathCollection:
    """Draw rings around some examples."""
    more = {"s": 160, "facecolors": "none", "edgecolors": INK, "linewidths": 1.5, "zorder": 4}
    return ax.scatter(*X.T, **(more | style))


def regions(ax: Axes, estimator: ClassifierLike, X: MatrixLike) -> DecisionBoundaryDisplay:
    """Colour each place by the class that is predicted there; return scikit-learn's display of it."""
    from matplotlib.colors import ListedColormap

    number = len(estimator.classes_)
    colours = [COLOURS[k % len(COLOURS)] for k in range(number)]
    style: dict[str, object] = {"cmap": ListedColormap(colours)}
    if number > 2 and "multiclass_colors" in signature(_boundary().from_estimator).parameters:
        style = {"multiclass_colors": colours}  # scikit-learn 1.7 and newer
    style |= {"plot_method": "pcolormesh", "vmin": 0, "vmax": number - 1, "alpha": 0.15, "rasterized": True}
    return _of_estimator(ax, estimator, X, response_method="predict", **style)


def score_lines(ax: Axes, estimator: object, X: MatrixLike, levels: list[float]) -> DecisionBoundaryDisplay:
    """Draw lines of equal score, dashed but for that of 0; return scikit-learn's display of them."""
    style: dict[str, object] = {
        "colors": INK,
        "linestyles": ["-" if level == 0 else "--" for level in levels],
    }
    style |= {"linewidths": [1.5 if level == 0 else 0.8 for level in levels], "levels": levels}
    more = {"response_method": "decision_function", "plot_method": "contour"}
    return _of_estimator(ax, estimator, X, **more, **style)


def _boundary() -> type[DecisionBoundaryDisplay]:
    from sklearn.inspection import DecisionBoundaryDisplay

    display: type[DecisionBoundaryDisplay] = DecisionBoundaryDisplay
    return display


def _of_estimator(ax: Axes, estimator: object, X: MatrixLike, **style: object) -> DecisionBoundaryDisplay:
    values = two_columns(X)
    room = float(values[:, 0].min() - window(values)[0][0])
    return _boundary().from_estimator(estimator, X, ax=ax, eps=room, grid_resolution=300, **style)


def window(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper limits of the axes around all points."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = _ROOM * np.maximum(high - low, 1e-9).max()
    return low - room, high + room


def frame(ax: Axes, X: NDArray[np.float64], names: Sequence[object] = ("x1", "x2")) -> None:
    """Show the plane around all points, at one scale, with the names of its axes."""
    low, high = window(X)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))


def normal(
    ax: Axes, w: NDArray[np.float64], b: float, X: NDArray[np.float64], **style: object
) -> Annotation | None:
    """Draw the normal vector w, not to scale, where the line passes the middle of the points."""
    if not w.any():
        return None
    middle = X.mean(axis=0)
    foot = middle - (middle @ w + b) / (w @ w) * w
    tip = foot + w / np.sqrt(w @ w) * np.ptp(X, axis=0).max() / 5
    return ax.annotate("", xy=tip, xytext=foot, arrowprops={"arrowstyle": "->", "color": INK} | style)


def line(ax: Axes, w: NDArray[np.float64], b: float, **style: object) -> Line2D | None:
    """Draw the line ``w . x + b = 0``, without an end; None for weights of zero."""
    if not w.any():
        return None
    foot = -b * w / (w @ w)  # the point of the line that is nearest to the origin
    return ax.axline(foot, foot + np.array([-w[1], w[0]]), **style)
