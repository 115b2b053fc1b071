"""The options of `kernel` learners on the command line. Only argparse may be imported here."""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option, number, one_of
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

__all__ = ["OPTIONS"]

_ALL = (
    *epochs(10, "none", 5),
    *STOPPING,
    *UPDATES,
    *JOINT,
    *NOISE,
    *kernels("rbf", "linear", "poly", "rbf", "sigmoid", "precomputed"),
)
_VECTORS = (
    Option("prediction", "how the weight vectors of a run predict (vote)", one_of(*PREDICTION)),
    Option("normalize", "divide each score by the norm of its weight vector", SWITCH),
    Option("cache_size", "size of the kernel cache in MB (200)", number(kinds.rate)),
)
_BUDGET = (
    Option(
        "budget",
        "maximum number of mistakes to keep (100)",
        number(kinds.positive, "N"),
    ),
    Option(
        "budget_policy",
        "which example to discard when the budget is full (oldest)",
        one_of("oldest", "random", "forgetron", "projectron"),
    ),
    Option(
        "projection_distance",
        "project an example onto the kept ones if it is this close to their span (0)",
        number(kinds.amount),
        needs={"budget_policy": ("projectron",)},
    ),
)

#: By the names of the learners.
OPTIONS = {
    "kernel": (*_ALL, intercept(False), ADDED_FEATURE, *_VECTORS),
    "budgeted-kernel": (*_ALL, *_BUDGET),
}
