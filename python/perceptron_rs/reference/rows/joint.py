"""The loop of a joint decision: the planes of all classes judge an example together.

Scores s; the error set E holds each r other than the true class y with ``s_r >= s_y``. A mistake if
E is not empty: row y moves up by c, the rows of E down by c in all (Crammer, Singer 2003).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.rows.learn import LONGEST_STRETCH, SHORTEST_STRETCH, Rows, get_ready
from perceptron_rs.reference.rows.visit import Cursor, Mistake, Visit

__all__ = ["learn_jointly"]


def learn_jointly(rows: Rows, visit: Visit, at: Cursor, state: State, end: int) -> list[Mistake]:
    """Visit examples until position ``end``; the counterpart of ``learn`` for all planes together.

    Raises
    ------
    FloatingPointError
        If a score of a visited example, or a step, is not finite.
    """
    W, b = state["coef"], state["intercept"]
    log: list[Mistake] = []
    stretch = SHORTEST_STRETCH
    while at.pos < end:
        stretch, factor = get_ready(rows, visit, at, W, stretch)
        ahead = visit.order[at.pos : min(at.pos + stretch, end)]
        scores = np.stack([rows.dots(ahead, w) * factor + b_k for w, b_k in zip(W, b, strict=True)], axis=1)
        visit.activations[ahead] = scores  # those behind a mistake are put down again
        truth = visit.labels[ahead]
        errors = scores >= scores[np.arange(len(ahead)), truth][:, np.newaxis]
        errors[np.arange(len(ahead)), truth] = False
        stops = errors.any(axis=1) | ~np.isfinite(scores).all(axis=1)
        first = int(stops.argmax())
        if not stops[first]:
            at.pos += len(ahead)
            at.t += len(ahead)
            stretch = min(2 * stretch, LONGEST_STRETCH)
            continue

        s, y, row = scores[first], int(truth[first]), int(ahead[first])
        if not np.isfinite(s).all():
            raise FloatingPointError
        at.pos += first + 1
        at.t += first + 1
        wrong = np.flatnonzero(errors[first])
        at.loss += max(0.0, float(s[wrong].max() - s[y]))
        stretch = SHORTEST_STRETCH
        if visit.noise.is_used_up(row):
            continue
        c = float(visit.c[row])
        for plane, step in [(y, c), *_downward(visit.joint, s, wrong, y, c)]:
            rows.axpy(row, step / factor, W[plane])
            if visit.fit_intercept:
                b[plane] += step
            log.append(Mistake(row, plane, at.t, step))
        visit.noise.update(row, c)
    return log


def _downward(
    joint: str | None, s: NDArray[np.float64], wrong: NDArray[np.intp], y: int, c: float
) -> list[tuple[int, float]]:
    """Return the classes of the error set that move down, and their steps."""
    if joint == "max":
        return [(int(wrong[s[wrong].argmax()]), -c)]  # argmax takes the lowest class of equals
    excess = s[wrong] - s[y]
    z = arith.total(excess)
    if joint == "uniform" or z == 0:
        return [(int(r), -arith.share(c, len(wrong))) for r in wrong]
    return [(int(r), -arith.share_of(c, float(e), z)) for r, e in zip(wrong, excess, strict=True)]
