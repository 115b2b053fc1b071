"""A run as a moving picture."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.arrays.scalars import checked_number
from perceptron_rs.plots.drawing import axes, two_columns
from perceptron_rs.plots.plane import UpdateDisplay, updates_of
from perceptron_rs.teaching.fit_trace import Trace

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


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
    X, y = two_columns(trace.X), np.asarray(trace.y)
    if not steps:
        raise ValueError("trace must have at least one update to be animated")
    ax = axes(ax)

    def draw(number: int) -> list[Artist]:
        ax.clear()
        UpdateDisplay.from_step(steps[number], X, y, ax=ax)
        return list(ax.get_children())

    film = FuncAnimation(ax.figure, draw, frames=len(steps), init_func=list)
    film.save(Path(path), writer=PillowWriter(fps=1 / seconds))
    return Path(path)
