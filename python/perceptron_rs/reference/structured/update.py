"""What one mistake changes: the labels that were right gain, those that were chosen lose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.settings import State

__all__ = ["update"]


def update(
    w: State,
    suffix: str,
    c: float,
    rows: Any,
    numbers: NDArray[np.intp],
    truth: NDArray[np.uint32],
    path: NDArray[np.uint32],
) -> None:
    """Add ``c`` times the features of ``truth``, take ``c`` times those of ``path``, where they differ.

    Both are prefixes of the labels of the rows ``numbers``; only a whole sequence has a last label.
    ``suffix`` tells weights and sums apart.
    """
    emission, transition = w[f"emission{suffix}"], w[f"transition{suffix}"]
    for t, (right, wrong) in enumerate(zip(truth, path, strict=True)):
        if right != wrong:
            for sign, y in ((c, right), (-c, wrong)):
                rows.axpy(numbers[t], sign, emission[:, y])
                if t == 0:
                    w[f"start{suffix}"][y] += sign
                if t == len(numbers) - 1:
                    w[f"end{suffix}"][y] += sign
        if t > 0 and (truth[t - 1], right) != (path[t - 1], wrong):
            for sign, before, y in ((c, truth[t - 1], right), (-c, path[t - 1], wrong)):
                transition[before, y] += sign
                if "pair" in w:
                    plane = int(before) * len(transition) + int(y)
                    rows.axpy(numbers[t], sign, w[f"pair{suffix}"][:, plane])
