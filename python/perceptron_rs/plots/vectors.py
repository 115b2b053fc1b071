"""Weights as a sum of vectors, drawn tip to tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.plots import drawing
from perceptron_rs.plots.plane import updates_of
from perceptron_rs.teaching.fit_trace import Step, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation


#: Weights and intercept of a line, and how it is drawn.
Line: TypeAlias = tuple[NDArray[np.float64], float, Mapping[str, object]]


class SumDisplay(drawing.Display):
    """Weights as a sum: the terms tip to tail from the origin, and an arrow to where they lead.

    Parameters
    ----------
    terms : ndarray of shape (n_terms, 2)
        The vectors to add.
    names : list of str
        A name for each term, and one for the sum.
    lines : list of tuple, default=()
        Weights, intercept and style of lines to draw below the arrows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    arrows_ : list of artists
        An arrow for each term, and the last one for the sum.
    lines_ : list of artists

    Examples
    --------
    The weights of a perceptron are a sum of its mistakes:

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from perceptron_rs import Perceptron, trace
    >>> from perceptron_rs.plots import SumDisplay
    >>> X, y = [[2, 1], [-1, 1], [0, -1], [1, 2]], [1, 0, 0, 1]
    >>> SumDisplay.from_trace(trace(Perceptron(shuffle=False, tol=None), X, y)).names
    ['+ x0', '- x1', '- x2', 'w']
    """

    def __init__(self, terms: NDArray[np.float64], names: list[str], lines: Sequence[Line] = ()) -> None:
        self.terms, self.names, self.lines = terms, names, lines

    @classmethod
    def from_step(cls, step: Step, X: MatrixLike, *, ax: Axes | None = None) -> Self:
        """Draw an update: the weights before, the example with its sign, and the weights after.

        The dotted line is the boundary before the update, the solid one that after it.

        Parameters
        ----------
        step : Step
            A step of `~perceptron_rs.trace`.
        X : array-like of shape (n_samples, 2)
            The examples.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SumDisplay

        Raises
        ------
        ValueError
            If X has not two columns.
        """
        drawing.check_kind("step", step, Step, "trace")
        values = drawing.two_columns(X)
        drawing.check_rows("step", step.row, values)
        x = values[step.row]
        before = step.w_before, step.b_before, {"linestyle": ":"}
        names = ["w before", _term(step.step, "x"), "w after"]
        lines = [before, (step.w, step.b, {"linestyle": "-"})]
        return cls(np.array([step.w_before, step.step * x]), names, lines).plot(ax)

    @classmethod
    def from_trace(cls, trace: Trace, *, ax: Axes | None = None) -> Self:
        """Draw the last weights of a run as the sum of its mistakes.

        Each example is one term, times the number of mistakes on it and with its sign.

        Parameters
        ----------
        trace : Trace
            A run on two columns and two classes.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SumDisplay

        Raises
        ------
        ValueError
            If the examples have not two columns or two classes, or if the run has no update.
        """
        steps = updates_of(trace)
        X = drawing.two_columns(trace.X)
        if not steps:
            raise ValueError("trace must have at least one update to be a sum")
        sums: dict[int, float] = {}
        for step in steps:
            sums[step.row] = sums.get(step.row, 0.0) + step.step
        terms = [c * X[row] for row, c in sums.items()]
        names = [_term(c, f"x{row}") for row, c in sums.items()]
        start = steps[0].w_before
        if start.any():
            terms, names = [start, *terms], ["w at the start", *names]
        return cls(np.array(terms), [*names, "w"]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        tips = np.concatenate([np.zeros((1, 2)), np.add.accumulate(self.terms)])
        self.lines_ = [
            drawn
            for w, b, style in self.lines
            if (drawn := drawing.line(ax, w, b, color=drawing.INK, linewidth=1, **style)) is not None
        ]
        self.arrows_: list[Annotation] = []
        pairs = [*pairwise(tips), (tips[0], tips[-1])]
        colours = [*(drawing.COLOURS[k % len(drawing.COLOURS)] for k in range(len(self.terms))), drawing.INK]
        for (tail, tip), colour, name in zip(pairs, colours, self.names, strict=True):
            if (tail == tip).all():
                self.arrows_.append(None)
                continue
            style = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 0, "shrinkB": 0}
            self.arrows_.append(ax.annotate("", xy=tip, xytext=tail, arrowprops=style, zorder=3))
            # Beside the middle of the arrow, on the side away from the sum.
            across = np.array([tip[1] - tail[1], tail[0] - tip[0]])
            across = 7 * across / np.sqrt(across @ across) * (-1 if name == self.names[-1] else 1)
            style = {"textcoords": "offset points", "color": colour}
            style |= {"ha": "left" if across[0] > 0 else "right", "va": "bottom" if across[1] > 0 else "top"}
            ax.annotate(name, (tail + tip) / 2, xytext=across, **style)
        ax.plot(0, 0, "o", color=drawing.INK, markersize=4, zorder=4)
        low, high = drawing.window(tips)
        room = 0.1 * float((high - low).max())
        ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
        ax.set(xlabel="x1", ylabel="x2", aspect="equal")


def _term(c: float, name: str) -> str:
    """Return a term of a sum with its sign; a factor of 1 is left out."""
    factor = "" if abs(c) == 1 else f"{abs(c):g} "
    return f"{'-' if c < 0 else '+'} {factor}{name}"
