"""The rows of a margin problem: signed, in groups, scaled by powers of two.

``u_i = y_i x_i``, with a constant coordinate for the augmented margin. With a free bias the rows form two
groups, by label, and the margin is half the distance of the two hulls; else one, and it is the
distance of its hull from the origin. ``unit`` holds a power of two for each column, so that
scaling is exact unless a value underflows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference import arith
from perceptron_rs.reference.rows import Rows, check_canonical

BIASES = ("free", "augmented", "none")
#: Scales beyond these would leave the range of floats.
LARGEST_SHIFT = 1000


class Survey:
    """What one look at all values finds: the largest absolute value, and how many are not 0."""

    def __init__(self, rows: Rows) -> None:
        check_canonical(rows)
        values = arith.widen(rows.values)
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(rows.dense(np.arange(rows.shape[0]))))[0]
            raise ValueError(
                f"rows must be finite, got NaN or infinity in row {i}, column {j}; "
                "remove the row or impute the value"
            )
        self.largest = float(np.abs(values).max(initial=0.0))
        self.nonzeros = int(np.count_nonzero(values))


def scale_of(largest: float) -> int:
    """Return the power of two that brings the largest value into [1/2, 1), within the range of floats."""
    return max(-LARGEST_SHIFT, min(LARGEST_SHIFT, -math.frexp(largest)[1])) if largest > 0.0 else 0


class MarginProblem:
    """Rows, signs and groups, in the scale in which they are computed with."""

    def __init__(
        self,
        rows: Rows,
        labels: NDArray[np.uint32],
        bias: str,
        survey: Survey | None = None,
        unit: Floats | None = None,
    ) -> None:
        survey = survey or Survey(rows)
        self.rows, self.labels, self.bias, self.survey = rows, labels, bias, survey
        self.n, self.d = rows.shape
        self.y = np.where(labels == 1, 1.0, -1.0)
        self.groups = 2 if bias == "free" else 1
        self.group = labels.astype(np.int64) if bias == "free" else np.zeros(self.n, dtype=np.int64)
        largest = max(survey.largest, 1.0) if bias == "augmented" else survey.largest
        #: Scaled values are raw ones times 2^shift; the largest is then in [1/2, 1).
        self.shift = scale_of(largest)
        constant = math.ldexp(1.0, self.shift) if unit is None else 1.0
        self.constant = constant if bias == "augmented" else 0.0
        self.unit = np.full(self.d, math.ldexp(1.0, self.shift)) if unit is None else unit
        self.size = self.d + (bias == "augmented")

    def scores(self, numbers: NDArray[Any], v: Floats) -> Floats:
        """Return ``<u_i, v>`` of the rows with these numbers."""
        out = self.rows.dots(numbers, v[: self.d] * self.unit)
        if self.bias == "augmented":
            out = out + v[self.d] * self.constant
        signed: Floats = self.y[numbers] * out
        return signed

    def read(self, numbers: NDArray[Any]) -> Floats:
        """Return the scaled rows with these numbers, without their signs."""
        x: Floats = self.rows.dense(numbers) * self.unit
        if self.bias == "augmented":
            x = np.hstack([x, np.full((len(x), 1), self.constant)])
        return x

    def squares(self, scale: float) -> Floats:
        """Return ``||x_i||^2`` of all raw rows times ``scale``."""
        x = self.rows.dense(np.arange(self.n)) * scale
        return arith.dot(x, x)

    def firsts(self) -> list[int]:
        """Return the first row of each group."""
        return [int(np.argmax(self.group == g)) for g in range(self.groups)]
