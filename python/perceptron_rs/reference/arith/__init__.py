"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .decay import decay
from .dot import dot, sparse_dot
from .environment import standard
from .lattice import extend, reach, violation
from .step import own_feature, own_weight, running_total, share, share_of, steps, total

__all__ = [
    "average",
    "axpy",
    "decay",
    "dot",
    "extend",
    "own_feature",
    "own_weight",
    "reach",
    "running_total",
    "share",
    "share_of",
    "sparse_dot",
    "standard",
    "steps",
    "timed",
    "total",
    "violation",
    "widen",
]
