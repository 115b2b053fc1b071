"""The inner loop: run over examples, make the plain update at each mistake, log the mistakes.

Between two mistakes the weights do not change, so the activations of a stretch of examples are
computed at once and thrown away behind the first mistake. The results are those of one example
at a time.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference.rows.visit import Cursor, Mistake, Visit, is_mistake

__all__ = ["Rows", "get_ready", "learn"]

SHORTEST_STRETCH, LONGEST_STRETCH = 8, 256


class Rows(Protocol):
    """What the loop needs of stored examples."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dot products of the rows with these numbers."""

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Add ``c`` times one row to ``w``."""

    def read(self, number: int) -> NDArray[Any]:
        """Columns in which a row is not 0."""


def get_ready(
    rows: Rows, visit: Visit, at: Cursor, W: NDArray[np.float64], stretch: int
) -> tuple[int, float]:
    """Return how many examples to take at once and, under a penalty, the factor of the weights there."""
    if visit.pending is None:
        return stretch, 1.0
    factor = visit.pending.factor(W, rows.read(int(visit.order[at.pos])))
    visit.pending.tick()
    return 1, factor


def learn(rows: Rows, visit: Visit, at: Cursor, state: State, end: int) -> list[Mistake]:
    """Visit examples until position ``end``; update ``coef``, ``intercept`` and ``at`` in place.

    Raises
    ------
    FloatingPointError
        If the activation of a visited example, or the step of a mistake, is not finite.
    """
    w, b, k = state["coef"][visit.plane], state["intercept"], visit.plane
    log = []
    stretch = SHORTEST_STRETCH
    while at.pos < end:
        stretch, factor = get_ready(rows, visit, at, state["coef"][k : k + 1], stretch)
        ahead = visit.order[at.pos : min(at.pos + stretch, end)]
        y = visit.y[ahead]
        a = rows.dots(ahead, w) * factor + b[k]
        visit.activations[ahead, 0] = a  # those behind a mistake are put down again
        a = visit.noise.activation(a, ahead)
        stops = is_mistake(y, a, visit.tie, visit.margin) | ~np.isfinite(a)
        first = int(stops.argmax())
        if not stops[first]:
            at.pos += len(ahead)
            at.t += len(ahead)
            stretch = min(2 * stretch, LONGEST_STRETCH)
            continue

        if not np.isfinite(a[first]):
            raise FloatingPointError
        row = int(ahead[first])
        at.pos += first + 1
        at.t += first + 1
        at.loss += max(0.0, -float(y[first] * a[first]))  # what is no mistake loses nothing
        stretch = SHORTEST_STRETCH
        if visit.noise.is_used_up(row):
            continue
        c = float(visit.c[row])
        rows.axpy(row, c / factor, w)
        if visit.fit_intercept:
            b[k] += c
        visit.noise.update(row, c)
        log.append(Mistake(row, visit.plane, at.t, c))
    return log
