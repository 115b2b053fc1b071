"""The inner loop: major cycles on the working set until no row of it violates the plane by much."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.corral import Corral
from perceptron_rs.reference.margin.working import WorkingSet

#: v counts as 0 below this part of the mean square of a row.
ZERO = 1e-28
#: Rows that are added after one look at the scores of the working set.
BATCH = 15
#: Corrections in a row, and major cycles in a row that do not shorten v.
REFINEMENTS, STALLS = 4, 20


@dataclass
class Work:
    """What was done; a step is a pass, a major cycle or a sweep."""

    max_steps: int
    passes: int = 0
    rows_scored: int = 0
    majors: int = 0
    refinements: int = 0
    sweeps: int = 0

    def left(self) -> bool:
        """Whether there are steps left."""
        return self.passes + self.majors + self.sweeps < self.max_steps


def run(working: WorkingSet, corral: Corral, tau: float, work: Work) -> None:
    """Run the method on the working set to a tolerance."""
    everywhere = np.arange(len(working.numbers))
    refined, stalled, best = 0, 0, math.inf
    while work.left():
        s = working.scores(everywhere, corral.v)
        own = s[corral.places]
        level = corral.levels(own)
        violation = np.empty(len(level))
        spread = 0.0
        for g in range(len(level)):
            violation[g] = level[g] - s[working.group == g].min()
            members = own[corral.group == g]
            spread = spread + float(members.max() - members.min())
        total, square = arith.total(violation), corral.square
        if total <= tau * square or square <= ZERO * corral.sigma or not math.isfinite(square):
            break
        if spread > 0.25 * total and refined < REFINEMENTS:
            corral.refine()
            work.refinements += 1
            refined += 1
            continue
        refined = 0
        stalled = stalled + 1 if square >= best else 0
        best = min(best, square)
        excess = level[working.group] - s
        excess[corral.places] = 0.0
        group = int(np.argmax(violation))
        first = int(np.argmax(np.where(working.group == group, excess, -math.inf)))
        threshold = 0.1 * float(excess[first])
        if stalled > STALLS or not excess[first] > 0.0:
            break
        near = np.flatnonzero(excess > threshold)
        near = near[near != first]
        near = near[np.argsort(-excess[near], kind="stable")][:BATCH]
        _add(corral, first, work)
        while len(near) and work.left():
            level = corral.levels(working.scores(corral.places, corral.v))
            excess_near = level[working.group[near]] - working.scores(near, corral.v)
            excess_near[np.isin(near, corral.places)] = 0.0
            next_ = int(np.argmax(excess_near))
            if not excess_near[next_] > threshold:
                break
            _add(corral, int(near[next_]), work)
            near = np.delete(near, next_)
    corral.refine()
    work.refinements += 1


def _add(corral: Corral, place: int, work: Work) -> None:
    work.majors += 1
    if corral.major(place):
        corral.minor()
