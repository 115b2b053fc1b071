"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .decay import decay
from .dot import dot, sparse_dot
from .elementary import elementary
from .environment import standard
from .exp import exp, logistic
from .log import log
from .step import own_feature, own_weight, running_total, share, share_of, steps, total
from .tanh import tanh

__all__ = [
    "average",
    "axpy",
    "decay",
    "dot",
    "elementary",
    "exp",
    "log",
    "logistic",
    "own_feature",
    "own_weight",
    "running_total",
    "share",
    "share_of",
    "sparse_dot",
    "standard",
    "steps",
    "tanh",
    "timed",
    "total",
    "widen",
]
