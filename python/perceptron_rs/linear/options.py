"""The parameters of `linear` learners: what each may be, for validation and for the command line.

Nothing that takes time may be imported here.
"""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option
from perceptron_rs.common.options.ranges import Range, Words
from perceptron_rs.common.options.shared import (
    ADDED_FEATURE,
    JOINT,
    NOISE,
    PARTITIONS,
    PREDICTION,
    STOPPING,
    UPDATES,
    epochs,
    intercept,
)

__all__ = ["CHECK", "OPTIONS", "PENALTY", "VECTORS"]

_ALL = (*epochs(1000, "0.001", 5), *UPDATES, intercept(True))
PENALTY = (
    Option("penalty", "regularization of the weights (none)", Words(("l2", "l1", "elasticnet"), none=True)),
    Option(
        "alpha",
        "strength of the regularization (0.0001)",
        kinds.AMOUNT,
        needs={"penalty": ("l2", "l1", "elasticnet")},
    ),
    Option(
        "l1_ratio",
        "share of l1 in elasticnet, from 0 to 1 (0.15)",
        kinds.SHARE,
        needs={"penalty": ("elasticnet",)},
    ),
)
CHECK = (
    Option(
        "check",
        "when the pocket counts training errors (auto)",
        Words(("auto", "run", "ratchet", "update", "epoch")),
    ),
    Option(
        "average",
        "also try the average of the weights for the pocket, after each epoch (the default)",
        SWITCH,
    ),
)
VECTORS = (
    Option(
        "prediction",
        "how the weight vectors of a run predict (vote)",
        Words((*PREDICTION, "longest")),
    ),
    Option(
        "max_vectors",
        "maximum number of vectors that a voted perceptron keeps",
        Range(1, whole=True, none=True),
    ),
)

#: By the names of the learners.
OPTIONS = {
    "perceptron": (*_ALL, *STOPPING, *JOINT, *NOISE, ADDED_FEATURE, *PARTITIONS, *PENALTY),
    "averaged": (*_ALL, *STOPPING, *JOINT, *NOISE, ADDED_FEATURE, *PARTITIONS),
    "pocket": (*epochs(1000, "0.001", 100), *UPDATES, intercept(True), *STOPPING, *CHECK),
    "voted": (*_ALL, *STOPPING, *NOISE, ADDED_FEATURE, *VECTORS),
}
