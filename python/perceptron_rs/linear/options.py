"""The options of `linear` learners on the command line. Only argparse may be imported here."""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option, number, one_of
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

__all__ = ["OPTIONS"]

_ALL = (*epochs(1000, "0.001", 5), *UPDATES, intercept(True))
_PENALTY = (
    Option("penalty", "regularization of the weights (none)", one_of("l2", "l1", "elasticnet")),
    Option(
        "alpha",
        "strength of the regularization (0.0001)",
        number(kinds.amount),
        needs={"penalty": ("l2", "l1", "elasticnet")},
    ),
    Option(
        "l1_ratio",
        "share of l1 in elasticnet, from 0 to 1 (0.15)",
        number(kinds.ratio),
        needs={"penalty": ("elasticnet",)},
    ),
)
_CHECK = Option(
    "check",
    "when the pocket counts training errors (auto)",
    one_of("auto", "run", "ratchet", "update", "epoch"),
)
_AVERAGE = Option(
    "average", "also try the average of the weights for the pocket, after each epoch (the default)", SWITCH
)
_VECTORS = (
    Option(
        "prediction",
        "how the weight vectors of a run predict (vote)",
        one_of(*PREDICTION, "longest"),
    ),
    Option(
        "max_vectors",
        "maximum number of vectors that a voted perceptron keeps",
        number(kinds.positive, "N"),
    ),
)

#: By the names of the learners.
OPTIONS = {
    "perceptron": (*_ALL, *STOPPING, *JOINT, *NOISE, ADDED_FEATURE, *PARTITIONS, *_PENALTY),
    "averaged": (*_ALL, *STOPPING, *JOINT, *NOISE, ADDED_FEATURE, *PARTITIONS),
    "pocket": (*epochs(1000, "0.001", 100), *UPDATES, intercept(True), *STOPPING, _CHECK, _AVERAGE),
    "voted": (*_ALL, *STOPPING, *NOISE, ADDED_FEATURE, *_VECTORS),
}
