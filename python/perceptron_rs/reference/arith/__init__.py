"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .decay import decay
from .dot import dot, sparse_dot
from .environment import standard
from .factor import Factor, inner
from .lattice import extend, reach, violation
from .sign import exact_sign
from .step import own_feature, own_weight, running_total, share, share_of, steps, total
from .twofold import (
    LOST,
    SLACK,
    UNIT,
    Twofold,
    down,
    gamma,
    square_root,
    times_power,
    two_product,
    two_sum,
    up,
)

__all__ = [
    "LOST",
    "SLACK",
    "UNIT",
    "Factor",
    "Twofold",
    "average",
    "axpy",
    "decay",
    "dot",
    "down",
    "exact_sign",
    "extend",
    "gamma",
    "inner",
    "own_feature",
    "own_weight",
    "reach",
    "running_total",
    "share",
    "share_of",
    "sparse_dot",
    "square_root",
    "standard",
    "steps",
    "timed",
    "times_power",
    "total",
    "two_product",
    "two_sum",
    "up",
    "violation",
    "widen",
]
