"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .decay import decay
from .dot import dot, sparse_dot
from .environment import standard
from .kernel import add, affine, grown, normalised, power, squared_distance
from .step import own_feature, own_weight, share, share_of, steps, total

__all__ = [
    "add",
    "affine",
    "average",
    "axpy",
    "decay",
    "dot",
    "grown",
    "normalised",
    "own_feature",
    "own_weight",
    "power",
    "share",
    "share_of",
    "sparse_dot",
    "squared_distance",
    "standard",
    "steps",
    "timed",
    "total",
    "widen",
]
