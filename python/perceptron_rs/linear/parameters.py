"""The parameters of `linear` learners. Nothing that takes time may be imported here."""

from dataclasses import dataclass, field

from perceptron_rs.choices import LinearPrediction, Penalty, PocketCheck, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import (
    FIT_INTERCEPT,
    N_ITER_NO_CHANGE,
    AddedFeatureParameters,
    JointParameters,
    MistakeParameters,
    PartitionParameters,
    StepParameters,
    parameter,
)
from perceptron_rs.common.options.kinds import SWITCH
from perceptron_rs.common.options.ranges import LARGEST, Choice, Range

__all__ = [
    "AveragedPerceptronParameters",
    "LinearParameters",
    "PerceptronParameters",
    "PocketPerceptronParameters",
    "VotedPerceptronParameters",
]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearParameters(MistakeParameters):
    """Of all linear learners."""

    fit_intercept: bool = field(default=True, metadata=FIT_INTERCEPT)


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronParameters(
    PartitionParameters, StepParameters, AddedFeatureParameters, JointParameters, LinearParameters
):
    """Of `Perceptron`."""

    penalty: Penalty | None = parameter(
        None, Choice(words(Penalty), none=True), "regularization of the weights"
    )
    alpha: float = parameter(
        0.0001, kinds.AMOUNT, "strength of the regularization", needs={"penalty": ("l2", "l1", "elasticnet")}
    )
    l1_ratio: float = parameter(
        0.15, kinds.SHARE, "share of l1 in elasticnet, from 0 to 1", needs={"penalty": ("elasticnet",)}
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedPerceptronParameters(
    PartitionParameters, StepParameters, AddedFeatureParameters, JointParameters, LinearParameters
):
    """Of `AveragedPerceptron`."""


@dataclass(kw_only=True, eq=False, repr=False)
class PocketPerceptronParameters(LinearParameters):
    """Of `PocketPerceptron`."""

    check: PocketCheck = parameter(
        "auto", Choice(words(PocketCheck)), "when the pocket counts training errors"
    )
    average: bool = parameter(
        True, SWITCH, "also try the average of the weights for the pocket, after each epoch"
    )
    n_iter_no_change: int = field(default=100, metadata=N_ITER_NO_CHANGE)


@dataclass(kw_only=True, eq=False, repr=False)
class VotedPerceptronParameters(AddedFeatureParameters, LinearParameters):
    """Of `VotedPerceptron`."""

    prediction: LinearPrediction = parameter(
        "vote", Choice(words(LinearPrediction)), "how the weight vectors of a run predict"
    )
    max_vectors: int | None = parameter(
        None,
        Range(1, LARGEST, whole=True, none=True),
        "maximum number of vectors that a voted perceptron keeps",
    )
