"""The corral: affinely independent rows, their convex weights, and the nearest point of their hull.

- Problem: the point of the convex hull of the working set (of two hulls: their difference) nearest to 0.
- Update rule: a major cycle adds a row and, if it depends on the others, drops one; minor cycles move
  towards the nearest point of the affine hull and drop the rows whose weights reach 0. Every step
  is a Newton increment from the residual: v is corrected, and never built again from the weights.
- Given: the working set, the first row of each group.
- Result: ``places`` in the working set, weights ``a``, the point ``v``.
- Paper: Wolfe 1976, Finding the nearest point in a polytope; Björck 1987 for the corrected
  semi-normal equations.
"""

from __future__ import annotations

import numpy as np

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.margin.working import WorkingSet

#: Below this part of its square, what is new of a row is computed once more.
NEARLY_DEPENDENT = 1e-2
#: A row is dependent if the root of that part is below this, times 8 + k.
DEPENDENT = 4e-15


class Corral:
    """Wolfe's corral on a working set."""

    def __init__(self, working: WorkingSet, places: list[int], weights: Floats) -> None:
        self.working = working
        groups = working.problem.groups
        squares = arith.dot(working.u, working.u)
        mean = arith.total(squares) / len(squares)
        #: Weight of the row of ones that makes the factor regular.
        self.sigma = mean if mean > 0.0 else 1.0
        self.factor = arith.Factor(groups)
        self.places = np.zeros(0, dtype=np.int64)
        self.group = np.zeros(0, dtype=np.int64)
        self.a = np.zeros(0)
        self.v = np.zeros(working.problem.size)
        for place, weight in zip(places, weights, strict=True):
            self.major(place, float(weight))
        # What was dropped with its weight is made up for.
        for g in range(groups):
            self.a[self.group == g] = self.a[self.group == g] / arith.total(self.a[self.group == g])
        self._move(self.a)

    @property
    def square(self) -> float:
        """``||v||^2``."""
        return arith.inner(self.v, self.v)

    def levels(self, s: Floats) -> Floats:
        """Return for each group the mean of the scores of its members, by their weights."""
        return np.array(
            [arith.total(self.a[self.group == g] * s[self.group == g]) for g in range(len(self.factor.f))]
        )

    def major(self, place: int, weight: float = 0.0) -> bool:
        """Add a row, dropping one if it depends on the others; return False if that is not possible."""
        group = int(self.working.group[place])
        while True:
            r, rho2, x, own = self._new_part(place)
            if x is None or rho2 > (DEPENDENT * (8 + len(self.a))) * (DEPENDENT * (8 + len(self.a))) * own:
                self.factor.append(r, arith.square_root(rho2), group)
                self.places = np.append(self.places, place)
                self.group = np.append(self.group, group)
                self.a = np.append(self.a, weight)
                return True
            drop, theta = -1, 0.0
            for i in range(len(self.a)):
                if x[i] > 0.0 and (self.group[i] == group or self._members(int(self.group[i])) > 1):
                    t = float(self.a[i] / x[i])
                    if drop < 0 or t < theta:
                        drop, theta = i, t
            if drop < 0:
                return False
            self.a = self.a - theta * x
            self.a[self.a < 0.0] = 0.0
            weight = weight + theta
            self._drop(drop)

    def _new_part(self, place: int) -> tuple[Floats, float, Floats | None, float]:
        """Return the new column of the factor, the square of its end, and the row's affine weights."""
        u, group = self.working.u[place], self.working.group[place]
        same = (self.group == group).astype(np.float64)
        r = self.factor.forward(self.working.scores(self.places, u) + self.sigma * same)
        own = arith.inner(u, u) + self.sigma
        rho2 = own - arith.inner(r, r)
        if rho2 > NEARLY_DEPENDENT * own:
            return r, rho2, None, own
        x = self.factor.back(r)
        e, h = self._residual(place, x)
        c = self.working.scores(self.places, e)
        c = c + self.sigma * h[self.group]
        dr = self.factor.forward(c)
        r = r + dr
        x = x + self.factor.back(dr)
        e, h = self._residual(place, x)
        rho2 = arith.inner(e, e)
        for part in h:
            rho2 = rho2 + self.sigma * (part * part)
        return r, float(rho2), x, own

    def _residual(self, place: int, x: Floats) -> tuple[Floats, Floats]:
        """Return what a combination of the members lacks of a row, and of its group's sum of 1."""
        e = self.working.u[place].copy()
        h = np.zeros(len(self.factor.f))
        h[self.working.group[place]] = 1.0
        for i, member in enumerate(self.places):
            e = arith.axpy(-float(x[i]), self.working.u[member], e)
            h[self.group[i]] = h[self.group[i]] - x[i]
        return e, h

    def minor(self) -> None:
        """Move to the nearest point of the hull of the members, dropping those that reach weight 0."""
        while True:
            d = self._step()
            theta, p = 1.0, -1
            for i in np.flatnonzero((d < 0.0) & (self.a + d <= 0.0)):
                t = float(self.a[i] / -d[i])
                if p < 0 or t < theta:
                    theta, p = min(t, 1.0), int(i)
            self.a = self.a + theta * d
            self.a[self.a < 0.0] = 0.0
            self._move(theta * d)
            if p < 0 or self._members(int(self.group[p])) == 1:
                return
            self._drop(p)

    def refine(self) -> None:
        """Correct v, and the weights if they stay positive."""
        d = self._step()
        if (self.a + d > 0.0).all():
            self.a = self.a + d
        self._move(d)

    def _step(self) -> Floats:
        s = self.working.scores(self.places, self.v)
        return self.factor.step(self.levels(s)[self.group] - s)

    def _move(self, d: Floats) -> None:
        for i, place in enumerate(self.places):
            self.v = arith.axpy(float(d[i]), self.working.u[place], self.v)

    def _members(self, group: int) -> int:
        return int(np.count_nonzero(self.group == group))

    def _drop(self, p: int) -> None:
        self.factor.remove(p)
        self.places = np.delete(self.places, p)
        self.group = np.delete(self.group, p)
        self.a = np.delete(self.a, p)
