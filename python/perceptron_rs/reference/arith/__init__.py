"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .average import average, timed
from .axpy import axpy, widen
from .budget import harm, left_over, plus, shrinking, shrunk, within_span
from .decay import LEAST_FACTOR, decay, decay_factor, is_common
from .dot import dot, sparse_dot
from .elementary import elementary
from .environment import foreign, standard
from .exp import exp, logistic
from .factor import Factor, inner
from .kernel import add, affine, grown, normalised, power, scale, squared_distance
from .lattice import extend, reach, violation
from .log import log
from .sign import exact_sign
from .step import own_feature, own_weight, running_total, share, share_of, steps, total
from .tanh import tanh
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
    "LEAST_FACTOR",
    "LOST",
    "SLACK",
    "UNIT",
    "Factor",
    "Twofold",
    "add",
    "affine",
    "average",
    "axpy",
    "decay",
    "decay_factor",
    "dot",
    "down",
    "elementary",
    "exact_sign",
    "exp",
    "extend",
    "foreign",
    "gamma",
    "grown",
    "harm",
    "inner",
    "is_common",
    "left_over",
    "log",
    "logistic",
    "normalised",
    "own_feature",
    "own_weight",
    "plus",
    "power",
    "reach",
    "running_total",
    "scale",
    "share",
    "share_of",
    "shrinking",
    "shrunk",
    "sparse_dot",
    "square_root",
    "squared_distance",
    "standard",
    "steps",
    "tanh",
    "timed",
    "times_power",
    "total",
    "two_product",
    "two_sum",
    "up",
    "violation",
    "widen",
    "within_span",
]
