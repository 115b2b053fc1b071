"""What the loop is told, where it stands, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.rows.noise import Noise
from perceptron_rs.reference.rows.pending import Pending

__all__ = ["Cursor", "Mistake", "Visit", "is_mistake"]


@dataclass(frozen=True)
class Visit:
    """What one plane, or a joint decision of all planes, sees in an epoch, and what it does there."""

    plane: int
    order: NDArray[Any]  # numbers of the rows, in the order of the visits
    labels: NDArray[np.uint32]  # (n,): the class of each row
    y: NDArray[np.float64]  # (n,): -1.0 or 1.0 for a plane
    c: NDArray[np.float64]  # (n,): what a mistake adds to the weights is c times the row
    tie: str
    fit_intercept: bool
    margin: float
    joint: str | None  # how a joint decision spreads the downward part of an update
    noise: Noise
    activations: NDArray[np.float64]  # (n, planes): those of the last visit of each row, put down here
    pending: Pending | None  # penalties to be applied when a row reads a weight


@dataclass
class Cursor:
    """Where a pass stands; with the state, all that is needed to go on."""

    pos: int  # visits made in this epoch
    t: int  # examples seen since the last cold start
    loss: float  # sum of max(0, -y a) in this epoch


class Mistake(NamedTuple):
    """An entry of the log: row ``row``, the ``t``-th example seen by ``plane``, moved it by ``c x``."""

    row: int
    plane: int
    t: int
    c: float


def is_mistake(y: NDArray[np.float64], a: NDArray[np.float64], tie: str, margin: float) -> NDArray[np.bool_]:
    """Tell which activations do not pass the margin; not a number never does."""
    m = y * a
    if tie == "mistake":
        return ~(m > margin)
    return np.where(y > 0, ~(m >= margin), ~(m > margin))  # "positive": sign(0) = +1
