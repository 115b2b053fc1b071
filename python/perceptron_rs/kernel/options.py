"""The parameters of `kernel` learners: what each may be, for validation and for the command line.

Nothing that takes time may be imported here.
"""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option
from perceptron_rs.common.options.ranges import Words
from perceptron_rs.common.options.shared import (
    ADDED_FEATURE,
    JOINT,
    NOISE,
    PREDICTION,
    STOPPING,
    UPDATES,
    epochs,
    intercept,
    kernels,
)

__all__ = ["BUDGET", "KERNEL", "OPTIONS", "VECTORS"]

KERNEL = kernels("rbf", "linear", "poly", "rbf", "sigmoid", "precomputed")
_ALL = (
    *epochs(10, "none", 5),
    *STOPPING,
    *UPDATES,
    *JOINT,
    *NOISE,
    *KERNEL,
)
VECTORS = (
    Option("prediction", "how the weight vectors of a run predict (vote)", Words(PREDICTION)),
    Option("normalize", "divide each score by the norm of its weight vector", SWITCH),
    Option("cache_size", "size of the kernel cache in MB (200)", kinds.RATE),
)
BUDGET = (
    Option(
        "budget",
        "maximum number of mistakes to keep (100)",
        kinds.POSITIVE,
    ),
    Option(
        "budget_policy",
        "which example to discard when the budget is full (oldest)",
        Words(("oldest", "random", "forgetron", "projectron")),
    ),
    Option(
        "projection_distance",
        "project an example onto the kept ones if it is this close to their span (0)",
        kinds.AMOUNT,
        needs={"budget_policy": ("projectron",)},
    ),
)

#: By the names of the learners.
OPTIONS = {
    "kernel": (*_ALL, intercept(False), ADDED_FEATURE, *VECTORS),
    "budgeted-kernel": (*_ALL, *BUDGET),
}
