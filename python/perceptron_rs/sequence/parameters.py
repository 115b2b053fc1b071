"""The parameters of learners of structures. Nothing that takes time may be imported here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perceptron_rs.choices import Decoding, EngineName, Scheme, SequenceUpdate, words
from perceptron_rs.parameters import groups, kinds
from perceptron_rs.parameters.groups import EpochParameters, Parameters, UpdateParameters, allowed, parameter
from perceptron_rs.parameters.kinds import SWITCH
from perceptron_rs.parameters.ranges import LARGEST, Choice, Other, Range

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy import float64
    from numpy.random import RandomState
    from numpy.typing import NDArray

    from perceptron_rs.sequence.progress import SequenceCallback

    Weights: TypeAlias = NDArray[float64]
else:  # they take long to import; `typing.get_type_hints` finds these
    RandomState = SequenceCallback = Weights = Any


def _constraints() -> list[object]:
    from perceptron_rs.sklearn_base import StrOptions

    return [StrOptions(set(words(Scheme))), list, tuple, None]


@dataclass(kw_only=True, eq=False, repr=False)
class SequencePerceptronParameters(UpdateParameters, EpochParameters):
    """Of `SequencePerceptron`.

    Parameters
    ----------
    n_jobs : int
        Number of threads of predictions, and of passes over partitions. The results do not depend on it.
    max_iter : int
        Maximum number of epochs. Training stops earlier after an epoch without a mistake.
    n_iter_no_change : int
        Number of epochs without improvement before ``early_stopping`` stops training.
    shuffle : bool
        Whether to shuffle the sequences before each epoch.
    random_state : int, RandomState instance or None
        Seed of the shuffling and of the choice of the validation set.
    early_stopping : bool
        Whether to hold out some sequences for validation, and stop when the accuracy on their tokens has
        not improved for ``n_iter_no_change`` epochs. The weights of the best epoch are kept.
    validation_fraction : float
        Fraction of the sequences that ``early_stopping`` holds out.
    warm_start : bool
        Whether ``fit`` continues from the previous call, with its weights and number of epochs.
    n_partitions : int or array-like of int
        Number of contiguous parts of the sequences that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are sequences; or the number of sequences in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``.
    averaged : bool
        Whether to predict with the averaged weights or with the last ones.
    transition_features : bool
        Whether to also learn weights of a token's features for pairs of its label and the previous one.
        These are n_features * n_classes**2 weights, so use it with few labels.
    eta0 : float
        Learning rate, above 0. It scales the weights; predictions can only change through rounding.
    decode : {"viterbi", "beam"}
        How to search for the best sequence: exactly ("viterbi"), or with the ``beam_width`` best labels of
        each token ("beam").
    beam_width : int
        Width of the beam, with ``decode="beam"``. Prefixes that end in the same label are merged, so the
        search is exact if the beam is as wide as the number of labels.
    update : {"full", "early", "max_violation"}
        Which part of a wrong sequence to update on. "full": the whole sequence. "early" (with a beam): the
        prefix up to the token where the beam loses the true sequence. "max_violation" (with a beam): the
        prefix where the best one in the beam exceeds the true one by most.
    constraints : {"iob2", "iobes", "bilou"}, list of pairs of labels, or None
        What no answer may hold: all that is no chunk of this scheme, such as an I-NP behind an O; or pairs
        (label, next label), of a label that must not be the first (None, label), or not the last
        (label, None). Answers are those of ``predict``, ``predict_k``, ``predict_margins``, ``decode_scores``
        and ``score``, and on the sequences that ``early_stopping`` holds out; what is learnt from are the
        best sequences of all.
    min_count : int
        Ignore attributes of fewer tokens than this. Only used if X contains attributes.
    hash_columns : int
        If None, keep a vocabulary of attributes. If a number, hash attributes to that many columns. Only
        used if X contains attributes.
    verbose : int
        If above 0, print a line about each epoch.
    callback : callable or None
        Function that is called with a `SequenceEpoch` after each epoch. If it returns true, training stops.
    """

    max_iter: int = field(default=10, metadata=groups.MAX_ITER)
    averaged: bool = parameter(
        True, SWITCH, "predict with averaged weights, or with the last ones", name="average"
    )
    transition_features: bool = parameter(False, SWITCH, "also learn weights of features for pairs of tags")
    eta0: float = field(default=1.0, metadata=groups.ETA0)
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
        excludes={"decode": "beam"},
    )
    constraints: Scheme | Sequence[tuple[Any, Any]] | None = parameter(
        None,
        Other(_constraints, {"choices": words(Scheme)}),
        "answer only with chunks as this scheme has them; learning does not look at it (none)",
        default="",
    )
    early_stopping: bool = field(default=False, metadata=groups.EARLY_STOPPING | {"text": None})
    validation_fraction: float = parameter(
        0.1,
        kinds.OPEN_UNIT_INTERVAL,
        "hold out this share of the sentences, and keep the epoch that tags them best",
        default="",
        name="held_out",
        sets={"early_stopping": True},
    )
    n_iter_no_change: int = field(
        default=2,
        metadata=groups.N_ITER_NO_CHANGE
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
    verbose: int = field(default=0, metadata=groups.VERBOSE)
    callback: SequenceCallback | None = field(default=None, metadata=groups.CALLBACK)


@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPerceptronParameters(Parameters):
    """Of `StructuredPerceptron`.

    Parameters
    ----------
    joint_feature : callable
        Function ``joint_feature(x, y)`` that returns a vector (an array or a SciPy sparse matrix), or a
        dict from columns to values.
    inference : callable
        Function ``inference(x, w)`` that returns the best y for the weights w, an array that it must not
        modify. For reproducible results, it must always break ties in the same way.
    loss : callable
        Function ``loss(y, z)`` that returns how wrong z is, 0 if it is correct. If None, the loss is 0 if y
        equals z, and 1 otherwise.
    n_features : int
        Length of w. If None, it is the length of the first vector. Required if ``joint_feature`` returns
        dicts.
    max_iter : int
        Maximum number of epochs. Training stops earlier after an epoch without a mistake.
    averaged : bool
        Whether to predict with the averaged weights or with the last ones.
    eta0 : float
        Learning rate, above 0.
    shuffle : bool
        Whether to shuffle the examples before each epoch.
    random_state : int, RandomState instance or None
        Seed of the shuffling.
    engine : {"rust", "reference"}
        Implementation that keeps the weights. Both give the same bits.
    """

    joint_feature: Callable[[Any, Any], Any] = field(
        metadata=allowed(Other(lambda: [callable])), kw_only=False
    )
    inference: Callable[[Any, Weights], Any] = field(
        metadata=allowed(Other(lambda: [callable])), kw_only=False
    )
    loss: Callable[[Any, Any], float] | None = parameter(None, Other(lambda: [callable, None]))
    n_features: int | None = parameter(None, Range(1, LARGEST, whole=True, none=True))
    max_iter: int = field(default=10, metadata=groups.MAX_ITER)
    averaged: bool = parameter(True, SWITCH)
    eta0: float = field(default=1.0, metadata=groups.ETA0)
    shuffle: bool = parameter(True, SWITCH)
    random_state: int | RandomState | None = field(default=0, metadata=groups.RANDOM_STATE)
    engine: EngineName = field(default="rust", metadata=groups.ENGINE)


# Its first two parameters have no default, and Python's own error is to name the class that users know.
StructuredPerceptronParameters.__init__.__qualname__ = "StructuredPerceptron.__init__"
