"""Arguments and results of the engines, the same for both: data, and the settings of a learner.

Estimators check what their parameters mean, and the core what it needs; only a kernel, which a file may
hold, checks itself. Nothing here knows an engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.choices import LARGEST_DEGREE, KernelName, words

#: Given the number of an example, its kernel values with all of them, float64 (n,); the same ones each time.
AskForRow: TypeAlias = Callable[[int], NDArray[np.float64]]

KERNELS = words(KernelName)


class Epoch(NamedTuple):
    """What a run tells of an epoch; D decisions: one a plane, or one of all planes together."""

    mistakes: NDArray[np.int64]  # (D,): 0 of a decision that has ended
    losses: NDArray[np.float64]  # (D,): mean loss, 0.0 of a decision that has ended; of a chain wrong labels
    #: (D,): what learning shall lower, the losses or the errors of the pocket; 0.0 of one that has ended
    objectives: NDArray[np.float64]
    interrupted: bool  # Ctrl-C came, and ``keep_on_interrupt`` is set


class EpochPart(NamedTuple):
    """What a run tells of a part of an epoch, whose other examples are in other runs."""

    mistakes: NDArray[np.int64]  # (D,), as those of an `Epoch`
    losses: NDArray[np.float64]  # (D,): sums, with those of the parts before
    visits: NDArray[np.int64]  # (D,): examples that each decision has visited
    interrupted: bool  # as that of an `Epoch`


class Solution(TypedDict):
    """What ``separate`` returns: the margin lies between ``lower`` and ``upper``."""

    status: str  # "separable", "non_separable", "margin_at_most", "undecided" or "one_class"
    lower: float  # -inf unless the plane is certain to separate
    upper: float  # -inf if it is proved that no plane separates
    coef: NDArray[np.float64]  # (d,): the largest has a size in [1/2, 1), or all are 0
    intercept: float
    support: NDArray[np.int64]  # (k,): rows of positive weight, ascending
    dual_weights: NDArray[np.int64]  # (k,): those of each group sum to 2^53
    radius: float  # largest ||x_i|| of the raw rows, rounded up
    proof: str | None  # how it was proved that no plane separates: "pair", "verified" or "rational"
    solver: str  # the one that ran last
    work: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Examples, their classes and weights.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows`` of the engine
        n examples of d columns.
    labels : uint32 array of shape (n,)
        Class of each example.
    sample_weight : float64 array of shape (n,), or None for ones
        An example whose weight is 0 in every plane is left out before the order is drawn.
    stored_rows : like ``rows``, or None
        Of a learner on a budget, the rows that its state names besides ``rows``.
    """

    rows: Any
    labels: NDArray[np.uint32]
    sample_weight: NDArray[np.float64] | None = None
    stored_rows: Any = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sequences(Data):
    """Tokens, one after another: parameters are those of `Data`, whose rows are the tokens, and these.

    Parameters
    ----------
    lengths : int64 array of shape (m,)
        Tokens of each sequence.
    chosen : uint32 array, or None
        Numbers of the sequences to learn from, all without it; the orders are permutations of this list.
    """

    lengths: NDArray[np.int64]
    chosen: NDArray[np.uint32] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Settings:
    """What every learner has.

    Parameters
    ----------
    learner : str
        Its name.
    seed : int or None
        Key of a new permutation in every epoch; None visits the examples as they stand.
    keep_on_interrupt : bool
        Whether Ctrl-C within an epoch keeps what was learnt: in the reference up to the epoch before, in the
        core up to the last block of examples.
    """

    learner: str
    seed: int | None = None
    keep_on_interrupt: bool = False

    @property
    def decisions(self) -> int:
        """Number of decisions, D: each judges an example, and ends on its own."""
        return 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stepped(Settings):
    """A learner whose updates have a length: parameters are those of `Settings`, and these.

    Parameters
    ----------
    eta0 : float
        Learning rate, above 0.
    step : "constant", "pa1" or "pa2"
        What the length of a step is: the learning rate, or that of a passive-aggressive one. For
        "perceptron", "averaged" and "chain" only.
    C : float
        How long a passive-aggressive step may be, above 0.
    """

    eta0: float
    step: str = "constant"
    C: float = 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Linear(Stepped):
    """A linear learner: parameters are those of `Stepped`, and these.

    Parameters
    ----------
    learner : str
        Its name: that of the model.
    positive : uint32 array of shape (K,)
        The class that plane k tells from the others.
    class_weight : float64 array of shape (K, 2)
        Weights of the negative and of the positive examples of each plane.
    tie : "mistake" or "positive"
        Whether an activation of exactly 0 is always a mistake, or predicts +1.
    fit_intercept : bool
        If False, the intercept keeps its start value.
    margin_threshold : float
        tau, at least 0: an example that is right by no more than this is a mistake.
    added_feature : float
        delta, at least 0: the value of a feature that each example has for itself in this run.
    max_mistakes_per_example : int or None
        How many updates an example may cause in this run, in each plane.
    joint : "max", "uniform", "proportional" or None
        The planes are the classes of one decision, and this is how the downward part of an update
        is spread over the error set. ``positive`` is then 0, 1, ...
    penalty : tuple of two floats, or None
        Strengths of the l1 and of the l2 penalty that each example takes from the weights, for
        the perceptron only.
    settle : bool
        Whether all pending penalties are applied at the end of each epoch. If not, they stay in the state.
    check : "run", "ratchet", "update" or "epoch"
        When the pocket perceptron counts errors.
    average : bool
        Whether the pocket perceptron counts those of the average, too, at the end of each epoch.
    track_mistakes : bool
        Whether to count the mistakes made on each example.
    track_activations : bool
        Whether to keep the activations of the last epoch, each before the update that it led to.
    partition : int
        Number of the data among the parts that are learnt from side by side, for the orders (rule 7).
    threads : int
        They change no result; the reference has one.
    """

    learner: str
    positive: NDArray[np.uint32]
    class_weight: NDArray[np.float64]
    tie: str = "mistake"
    fit_intercept: bool = True
    margin_threshold: float = 0.0
    added_feature: float = 0.0
    max_mistakes_per_example: int | None = None
    joint: str | None = None
    penalty: tuple[float, float] | None = None
    settle: bool = True
    check: str = "run"
    average: bool = False
    track_mistakes: bool = False
    track_activations: bool = False
    partition: int = 0
    threads: int = 1

    @property
    def is_plain(self) -> bool:
        """Whether a pass takes nothing from the weights, and leaves no example out of one plane alone."""
        return self.penalty is None and bool(self.class_weight.all())

    @property
    def decisions(self) -> int:
        """One a plane, or one of all planes together."""
        return 1 if self.joint else len(self.positive)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """A kernel and its parameters; those that it has no use for are not looked at, but must be in range.

    Parameters
    ----------
    name : "linear", "poly", "rbf", "sigmoid" or "precomputed"
        ``x . z``; ``(gamma x . z + coef0) ** degree``; ``exp(-gamma ||x - z||^2)``;
        ``tanh(gamma x . z + coef0)``; the rows are those of a Gram matrix.
    gamma : float
        Above 0.
    coef0 : float
    degree : int
        From 1 to `LARGEST_DEGREE`.
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.gamma < math.inf:
            raise ValueError(f"gamma must be finite and above 0, got {self.gamma}")
        if not math.isfinite(self.coef0):
            raise ValueError(f"coef0 must be finite, got {self.coef0}")
        if not 1 <= self.degree <= LARGEST_DEGREE:
            raise ValueError(f"degree must be from 1 to {LARGEST_DEGREE}, got {self.degree}")
        if self.name not in KERNELS:
            raise ValueError(f"kernel must be one of {KERNELS}, got {self.name!r}")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kernel(Linear):
    """A kernel perceptron: parameters are those of `Linear`, and these; penalty, check, average stay unset.

    Parameters
    ----------
    kernel : KernelSpec
    cache_bytes : int
        Memory for rows of the Gram matrix that may be needed again. It changes no result.
    ask : callable or None
        Returns the kernel values of all rows with the one of a number, when they are needed. With it the
        kernel is "precomputed", and of the rows the number alone matters.
    """

    learner: str = field(default="kernel", init=False)
    kernel: KernelSpec
    cache_bytes: int
    ask: AskForRow | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Budget(Linear):
    """A kernel perceptron that keeps few examples: parameters are those that `Linear` gives it, and these.

    It has no intercept, and no option that needs the activations of all examples.

    Parameters
    ----------
    kernel : KernelSpec
    budget : int
        B, at least 1: the examples kept for each plane, or for all classes of a joint decision together.
    policy : "oldest", "random", "forgetron" or "projectron"
    policy_seed : int
        Key of what "random" draws.
    distance : float
        Up to which "projectron" projects an example, at least 0.
    """

    learner: str = field(default="budget", init=False)
    fit_intercept: bool = field(default=False, init=False)
    added_feature: float = field(default=0.0, init=False)
    kernel: KernelSpec
    budget: int
    policy: str
    policy_seed: int
    distance: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chain(Stepped):
    """The structured perceptron on linear chains: parameters are those of `Stepped`, and these.

    Parameters
    ----------
    beam : int or None
        How many labels of a token are kept in the search; None: all.
    update : "full", "early" or "max_violation"
        The prefix that is learnt from; all but the first need a beam.
    track_answers : bool
        Whether to keep the answer to each sequence, before the update that it led to.
    partition : int
        Number of the data among the parts that are learnt from side by side, for the orders (rule 7).
    """

    learner: str = field(default="chain", init=False)
    beam: int | None = None
    update: str = "full"
    track_answers: bool = False
    partition: int = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Network(Settings):
    """The multilayer perceptron: parameters are those of `Settings`, and these.

    Parameters
    ----------
    activation : "logistic", "relu" or "tanh"
        Function of the hidden neurons.
    rate : float
        Learning rate.
    alpha : float
        Strength of the penalty.
    batch_size : int
        Examples of a step, at least 1.
    """

    learner: str = field(default="network", init=False)
    activation: str
    rate: float
    alpha: float
    batch_size: int


def check_kept(state: State, budget: int, policy: str, *, sets: int, width: int, rows: int) -> None:
    """Raise ValueError for a state whose arrays do not agree, or that names rows that are not there."""
    start, members = state["kept_start"], len(state["kept_row"])
    if len(start) != sets + 1 or start[0] != 0 or start[-1] != members or (start[1:] < start[:-1]).any():
        raise ValueError(
            f"kept_start must rise from 0 to {members}, the number of members, in {sets + 1} numbers"
        )
    sizes = start[1:] - start[:-1]
    if sizes.max() > budget:
        raise ValueError(f"budget must be at least {sizes.max()}, what is kept already, got {budget}")
    factors = int(np.cumsum(sizes * (sizes + 1) // 2)[-1]) if policy == "projectron" else 0
    shapes = {
        "kept_number": (members,),
        "kept_step": (members, width),
        "kept_mistakes": (sets,),
        "kept_harm": (sets,),
    }
    for name, shape in (shapes | {"kept_factor": (factors,)}).items():
        if state[name].shape != shape:
            raise ValueError(f"{name} must have the shape {shape} for these sets, got {state[name].shape}")
        if not np.isfinite(state[name]).all():
            raise ValueError(f"{name} must be finite")
    if (state["kept_mistakes"] < 0).any():
        raise ValueError(f"kept_mistakes must be at least 0, got {state['kept_mistakes'].min()}")
    outside = state["kept_row"][(state["kept_row"] < 0) | (state["kept_row"] >= rows)]
    if len(outside):
        raise ValueError(f"kept_row must name one of {rows} rows, got {outside[0]}")
