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
    allowed,
)
from perceptron_rs.common.options.kinds import SWITCH
from perceptron_rs.common.options.ranges import Choice, Range

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

    penalty: Penalty | None = field(
        default=None, metadata=allowed(Choice(words(Penalty), none=True), "regularization of the weights")
    )
    alpha: float = field(
        default=0.0001,
        metadata=allowed(
            kinds.AMOUNT, "strength of the regularization", needs={"penalty": ("l2", "l1", "elasticnet")}
        ),
    )
    l1_ratio: float = field(
        default=0.15,
        metadata=allowed(
            kinds.SHARE, "share of l1 in elasticnet, from 0 to 1", needs={"penalty": ("elasticnet",)}
        ),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedPerceptronParameters(
    PartitionParameters, StepParameters, AddedFeatureParameters, JointParameters, LinearParameters
):
    """Of `AveragedPerceptron`."""


@dataclass(kw_only=True, eq=False, repr=False)
class PocketPerceptronParameters(LinearParameters):
    """Of `PocketPerceptron`."""

    check: PocketCheck = field(
        default="auto",
        metadata=allowed(Choice(words(PocketCheck)), "when the pocket counts training errors"),
    )
    average: bool = field(
        default=True,
        metadata=allowed(SWITCH, "also try the average of the weights for the pocket, after each epoch"),
    )
    n_iter_no_change: int = field(default=100, metadata=N_ITER_NO_CHANGE)


@dataclass(kw_only=True, eq=False, repr=False)
class VotedPerceptronParameters(AddedFeatureParameters, LinearParameters):
    """Of `VotedPerceptron`."""

    prediction: LinearPrediction = field(
        default="vote",
        metadata=allowed(Choice(words(LinearPrediction)), "how the weight vectors of a run predict"),
    )
    max_vectors: int | None = field(
        default=None,
        metadata=allowed(
            Range(1, whole=True, none=True), "maximum number of vectors that a voted perceptron keeps"
        ),
    )
