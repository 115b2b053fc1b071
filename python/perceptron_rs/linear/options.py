"""The options of `linear` learners on the command line. Only argparse may be imported here."""

from __future__ import annotations

from perceptron_rs.common import options
from perceptron_rs.common.options import SWITCH, Option, number, one_of

__all__ = ["OPTIONS"]

OPTIONS = (
    Option("multi_class", "one class against the rest, or all classes jointly (ovr)", one_of("ovr", "joint")),
    Option(
        "joint_update",
        "which classes a joint update demotes (max)",
        one_of("max", "uniform", "proportional"),
        needs={"multi_class": ("joint",)},
    ),
    Option(
        "margin_threshold",
        "margin that an example must exceed to count as correct (0)",
        number(options.amount),
    ),
    Option(
        "added_feature", "tolerate noise: value of an extra feature per example (0)", number(options.amount)
    ),
    Option(
        "max_mistakes_per_example",
        "tolerate noise: maximum number of updates that one example may cause",
        number(options.positive, "N"),
    ),
    Option("penalty", "regularization of the weights (none)", one_of("l2", "l1", "elasticnet")),
    Option(
        "alpha",
        "strength of the regularization (0.0001)",
        number(options.amount),
        needs={"penalty": ("l2", "l1", "elasticnet")},
    ),
    Option(
        "l1_ratio",
        "share of l1 in elasticnet, from 0 to 1 (0.15)",
        number(options.ratio),
        needs={"penalty": ("elasticnet",)},
    ),
    Option(
        "check",
        "when the pocket counts training errors (run)",
        one_of("run", "ratchet", "update", "epoch"),
    ),
    Option(
        "prediction",
        "how the weight vectors of a run predict (vote)",
        one_of("vote", "average", "last", "random", "longest"),
    ),
    Option(
        "max_vectors",
        "maximum number of vectors that a voted perceptron keeps",
        number(options.positive, "N"),
    ),
    Option("early_stopping", "stop when the score on a validation set stops improving", SWITCH),
    Option(
        "validation_fraction",
        "share of the examples in the validation set (0.1)",
        number(options.fraction),
        needs={"early_stopping": (True,)},
    ),
)
