"""The parameters of learners of structures. Nothing that takes time may be imported here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perceptron_rs.choices import Decoding, EngineName, SequenceUpdate, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import (
    CALLBACK,
    EARLY_STOPPING,
    ENGINE,
    ETA0,
    MAX_ITER,
    N_ITER_NO_CHANGE,
    RANDOM_STATE,
    VERBOSE,
    EpochParameters,
    Parameters,
    PartitionParameters,
    StepParameters,
    allowed,
    parameter,
)
from perceptron_rs.common.options.kinds import SWITCH
from perceptron_rs.common.options.ranges import LARGEST, Choice, Other, Range

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy import float64
    from numpy.random import RandomState
    from numpy.typing import NDArray

    from perceptron_rs.sequence.progress import Callback

    Weights: TypeAlias = NDArray[float64]
else:  # they take long to import; `typing.get_type_hints` finds these
    RandomState = Callback = Weights = Any

__all__ = ["SequencePerceptronParameters", "StructuredPerceptronParameters"]


@dataclass(kw_only=True, eq=False, repr=False)
class SequencePerceptronParameters(PartitionParameters, StepParameters, EpochParameters):
    """Of `SequencePerceptron`."""

    max_iter: int = field(default=10, metadata=MAX_ITER)
    averaged: bool = parameter(
        True, SWITCH, "predict with averaged weights, or with the last ones", name="average"
    )
    transition_features: bool = parameter(False, SWITCH, "also learn weights of features for pairs of tags")
    eta0: float = field(default=1.0, metadata=ETA0)
    shuffle: bool = parameter(True, SWITCH, "shuffle the sentences in each epoch")
    decode: Decoding = parameter("viterbi", Choice(words(Decoding)))
    beam_width: int = parameter(
        8,
        kinds.POSITIVE,
        "beam width: keep the N best tags of each token",
        default="all",
        name="beam",
        sets={"decode": "beam"},
    )
    update: SequenceUpdate = parameter(
        "full",
        Choice(words(SequenceUpdate)),
        "with --beam: which part of a wrong sentence to update on",
        needs={"beam_width": ()},
    )
    early_stopping: bool = field(default=False, metadata=EARLY_STOPPING | {"text": None})
    validation_fraction: float = parameter(
        0.1,
        kinds.FRACTION,
        "hold out this share of the sentences, and keep the epoch that tags them best",
        default="",
        name="held_out",
        sets={"early_stopping": True},
    )
    n_iter_no_change: int = field(
        default=2,
        metadata=N_ITER_NO_CHANGE
        | {
            "text": "epochs without improvement on --held-out before stopping",
            "needs": {"validation_fraction": ()},
        },
    )
    min_count: int = parameter(1, Range(1, LARGEST, whole=True), "ignore features of fewer than N tokens")
    hash_columns: int | None = parameter(
        None,
        Range(1, LARGEST, whole=True, none=True),
        "hash features to N columns instead of keeping a vocabulary",
        excludes={"min_count": 1},
        because="which keeps no counts",
    )
    verbose: int = field(default=0, metadata=VERBOSE)
    callback: Callback | None = field(default=None, metadata=CALLBACK)


@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPerceptronParameters(Parameters):
    """Of `StructuredPerceptron`."""

    joint_feature: Callable[[Any, Any], Any] = field(
        metadata=allowed(Other(lambda: [callable])), kw_only=False
    )
    inference: Callable[[Any, Weights], Any] = field(
        metadata=allowed(Other(lambda: [callable])), kw_only=False
    )
    loss: Callable[[Any, Any], float] | None = field(default=None, metadata=CALLBACK)
    n_features: int | None = parameter(None, Range(1, LARGEST, whole=True, none=True))
    max_iter: int = field(default=10, metadata=MAX_ITER)
    averaged: bool = parameter(True, SWITCH)
    eta0: float = field(default=1.0, metadata=ETA0)
    shuffle: bool = parameter(True, SWITCH)
    random_state: int | RandomState | None = field(default=0, metadata=RANDOM_STATE)
    engine: EngineName = field(default="rust", metadata=ENGINE)
