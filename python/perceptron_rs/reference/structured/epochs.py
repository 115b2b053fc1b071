"""One sequence of an epoch: search, compare, learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.structured.lattice import Lattice
from perceptron_rs.reference.structured.prefix import compare
from perceptron_rs.reference.structured.update import update as change
from perceptron_rs.reference.structured.weights import emissions, pairs
from perceptron_rs.settings import State

__all__ = ["visit"]


def visit(
    state: State,
    rows: Any,
    numbers: NDArray[np.intp],
    truth: NDArray[np.uint32],
    eta0: float,
    beam: int | None,
    update: str,
) -> int:
    """Look for the labels of one sequence and learn from them; return how many differ."""
    state["seen"] += 1
    e, pair = emissions(rows, numbers, state), pairs(rows, numbers, state)
    lattice = Lattice.fill(e, pair, beam=beam)
    path = compare(lattice, update, truth, e, pair)
    if len(path) == 0:
        return 0
    truth = truth[: len(path)]
    tc = int(state["seen"][0]) * eta0
    if not math.isfinite(tc):
        raise FloatingPointError
    change(state, "", eta0, rows, numbers, truth, path)
    change(state, "_u", tc, rows, numbers, truth, path)
    return int(np.count_nonzero(truth != path))
