"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .decay import decay
from .dot import dot, sparse_dot
from .elementary import elementary
from .environment import standard
from .exp import exp, logistic
from .kernel import add, affine, grown, normalised, power, scale, squared_distance
from .log import log
from .step import own_feature, own_weight, running_total, share, share_of, steps, total
from .tanh import tanh

__all__ = [
    "add",
    "affine",
    "average",
    "axpy",
    "decay",
    "dot",
    "elementary",
    "exp",
    "grown",
    "log",
    "logistic",
    "normalised",
    "own_feature",
    "own_weight",
    "power",
    "running_total",
    "scale",
    "share",
    "share_of",
    "sparse_dot",
    "squared_distance",
    "standard",
    "steps",
    "tanh",
    "timed",
    "total",
    "widen",
]
