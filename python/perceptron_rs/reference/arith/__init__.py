"""The arithmetic contract. No other folder adds or multiplies vectors of learned numbers."""

from .axpy import axpy, widen
from .budget import harm, shrinking, within_span
from .decay import LEAST_FACTOR, decay, decay_factor, is_common
from .dot import dot, row_dot, row_square, sparse_dot
from .elementary import elementary
from .exp import exp, logistic
from .factor import Factor, inner
from .kernel import grown, normalised, power, scale, squared_distance
from .log import SMALLEST_NORMAL, log
from .sign import exact_sign
from .tanh import tanh
from .tau import tau
from .total import running_total, total
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
