"""A joint decision: the planes of all classes judge an example together.

Of the scores s[k], the error set E holds the classes k other than the true one, y, with ``s[k] >= s[y]``. If
it is not empty, plane y moves up by c, and the planes of E move down, by c in all:

    max            the lowest k with the largest s[k] in E alone, by c
    uniform        each by c / |E|
    proportional   each by its share of the sum of the excesses s[k] - s[y]; uniform if that is 0

Paper: K. Crammer, Y. Singer, "Ultraconservative online algorithms for multiclass problems", JMLR 3, 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptron_rs.reference import arith
from perceptron_rs.reference.linear.perceptron import Log, Plane, Steps

#: As the log of a plane, with t and the step of each class that moves.
JointLog = list[tuple[dict[int, int], int, dict[int, float]]]


def learn_jointly(
    x: Sequence[Any],
    y: Any,
    steps: Steps,
    theta: Any,
    planes: list[Plane],
    order: list[int],
    seen: Any,
    joint: str,
    total: float = 0.0,
) -> tuple[JointLog, float]:
    """Do for the planes of all classes together what ``learn`` does for one; y are classes."""
    log: JointLog = []
    for i in order:
        s = seen[i] = [plane.activation(x[i]) for plane in planes]
        for plane in planes:
            plane.t += 1
        others = [k for k in range(len(planes)) if k != y[i]]
        m = s[y[i]] - max(s[k] for k in others)
        loss = max(0.0, steps.goal - m)
        total += loss
        if m <= theta[i] and (c := steps.step(i, x[i], loss)) is not None:
            E = [k for k in others if s[y[i]] - s[k] <= theta[i]]
            down = shares(joint, [s[k] for k in E], s[y[i]], c)
            moved = {y[i]: c} | {k: -share for k, share in zip(E, down, strict=True) if share is not None}
            for k, step in moved.items():
                planes[k].update(step, x[i])
            log.append(({k: planes[k].t for k in moved}, i, moved))
    return log, total


def shares(joint: str, scores: list[float], truth: float, c: float) -> list[float | None]:
    """Return by how much each class of the error set moves down; None: it stays."""
    if joint == "max":
        first = scores.index(max(scores))
        return [c if k == first else None for k in range(len(scores))]
    excess = [s - truth for s in scores]
    z = arith.total(excess)
    if joint == "uniform" or z == 0:
        return [c / len(scores) for _ in scores]
    return [(c * e) / z for e in excess]


def of_class(log: JointLog, k: int) -> Log:
    """Return the log of one plane."""
    return [(t[k], i, steps[k]) for t, i, steps in log if k in steps]
