"""The two engines behind every estimator, and the protocol that both satisfy.

An engine is a module: the compiled core (``perceptron_rs._core``) or the readable
reference (``perceptron_rs.reference``). Both export the functions below with equal
signatures and equal results, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ENGINES",
    "AskForRow",
    "Engine",
    "KernelSpec",
    "NetworkReport",
    "OnEpoch",
    "OnePass",
    "Report",
    "Rows",
    "SequenceReport",
    "Solution",
    "State",
    "get_engine",
]

EngineName: TypeAlias = Literal["rust", "reference"]
ENGINES: tuple[EngineName, ...] = ("rust", "reference")

#: A learner's numbers, by name; arrays of one entry (or row) per plane.
#: ``coef`` float64 (K, d), ``intercept`` float64 (K,), ``seen`` int64 (K,): the examples seen, T.
#: The averaged perceptron adds ``coef_u`` float64 (K, d) and ``intercept_u`` float64 (K,); the pocket
#: perceptron adds, to the state that it returns, ``coef_pocket``, ``intercept_pocket``, ``pocket_errors``
#: float64 (K,) and ``pocket_run`` int64 (K,), and a list of swaps: ``swap_plane``, ``swap_epoch``, ``swap_t``
#: int64 and ``swap_errors`` float64; a penalty
#: adds ``ages`` int64 (K, d): the examples whose penalty on each weight is pending.
#: The voted perceptron returns the log of the call, plane by plane: ``log_start`` int64 (K + 1,), where each
#: plane's M entries begin and end; ``log_row`` and ``log_t`` int64 (M,), ``log_step`` float64 (M,).
State: TypeAlias = dict[str, NDArray[Any]]

#: Sees every whole epoch: its number, the mistakes (K,) and losses (K,) of the planes, the state if
#: asked for. Returns True to end the run, or booleans (K,) to end some planes; None goes on.
#: Given the number of an example, its kernel values with all of them, float64 (n,).
AskForRow: TypeAlias = Callable[[int], NDArray[np.float64]]

OnEpoch: TypeAlias = Callable[
    [int, NDArray[np.int64], NDArray[np.float64], State | None], bool | NDArray[np.bool_] | None
]


@dataclass(frozen=True)
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
        At least 1.
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1


class Rows(Protocol):
    """Examples, checked once: made by ``dense_rows`` or ``csr_rows`` of the same engine."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""

    @property
    def canonical(self) -> bool:
        """False if a CSR row has unsorted or duplicate columns; such rows cannot be learnt from."""


class Report(TypedDict):
    """What a fit returns. E epochs were run (the longest plane's), K planes."""

    state: State
    mistakes: NDArray[np.int64]  # (E, K): 0 after a plane has stopped; K is 1 for a joint decision
    losses: NDArray[np.float64]  # (E, K): mean perceptron loss, 0.0 after a plane has stopped
    n_iter: NDArray[np.int64]  # (K,)
    stopped: list[str]  # (K,): "clean", "tol", "max_iter", "callback" or "interrupt"
    mistakes_per_example: NDArray[np.int64] | None  # (n, K)
    activations: NDArray[np.float64] | None  # (n, K): before the update; NaN where none was computed


class SequenceReport(TypedDict):
    """What ``sequence_fit`` returns. E epochs were run."""

    #: Or averages or the last weights alone, and ``seen``; of the best epoch, if some sequences are held out.
    state: State
    sequence_errors: NDArray[np.int64]  # (E,): sequences that made an update
    token_errors: NDArray[np.int64]  # (E,): labels that differed in what these compared
    held_out_errors: NDArray[np.int64]  # (E,) or (0,): held-out tokens wrong after each whole epoch
    stopped: str  # "clean", "held_out", "max_iter", "callback" or "interrupt"
    seen: int  # sequences, in the end


class NetworkReport(TypedDict):
    """What ``mlp_fit`` returns."""

    coefs: list[NDArray[np.float64]]  # for each layer (neurons, neurons of the layer before)
    intercepts: list[NDArray[np.float64]]
    losses: NDArray[np.float64]  # (E,): mean logistic loss
    mistakes: NDArray[np.int64]  # (E,): examples for whose class the output did not speak
    stopped: str  # "tol" or "max_iter"


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


class OnePass(Protocol):
    """Passes over few rows on the attributes of an estimator: made by ``one_pass``, never changed."""

    def learn(self, attributes: dict[str, Any], rows: Any, y: NDArray[Any]) -> bool:
        """Learn from the rows in their order and replace the attributes that change."""


class Engine(Protocol):
    """What an engine offers; the docstrings of the reference say what each function does."""

    ARITHMETIC_VERSION: int

    def dense_rows(self, values: NDArray[Any]) -> Rows:
        """Wrap a C-contiguous matrix of one of the seven storage types, without copying it."""

    def csr_rows(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_columns: int
    ) -> Rows:
        """Wrap the three arrays of a CSR matrix, without copying them."""

    def fit(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        sample_weight: NDArray[np.float64] | None,
        *,
        learner: str,
        state: State,
        positive: NDArray[np.uint32],
        class_weight: NDArray[np.float64],
        eta0: float,
        tie: str,
        fit_intercept: bool,
        seed: int | None,
        first_epoch: int,
        max_iter: int,
        tol: float | None,
        n_iter_no_change: int,
        track_mistakes: bool,
        threads: int,
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        joint: str | None = None,
        penalty: tuple[float, float] | None = None,
        settle: bool = True,
        check: str = "run",
        record: bool = False,
        on_epoch: OnEpoch | None = None,
        with_state: bool = False,
        keep_on_interrupt: bool = False,
    ) -> Report:
        """Run epochs until every plane has stopped; ``state`` is not modified."""

    def one_pass(
        self,
        *,
        parameters: dict[str, Any],
        absent: Sequence[str],
        caches: Sequence[str],
        stored: dict[str, str],
        learner: str,
        positive: NDArray[np.uint32],
        class_weight: NDArray[np.float64],
        eta0: float,
        tie: str,
        fit_intercept: bool,
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        joint: str | None = None,
    ) -> OnePass:
        """Read the parameters once, for many passes over few rows."""

    def scores(
        self, rows: Any, coef: NDArray[np.float64], intercept: NDArray[np.float64], *, threads: int
    ) -> NDArray[np.float64]:
        """Activations (n, K) of every row under every plane."""

    def average(self, state: State) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Averaged (coef, intercept) of a state of the averaged perceptron."""

    def settled(self, state: State, *, eta0: float, penalty: tuple[float, float]) -> NDArray[np.float64]:
        """Weights (K, d) of a state with all pending penalties applied."""

    def votes(self, rows: Any, stored_rows: Any, state: State, *, threads: int) -> NDArray[np.int64]:
        """Votes (n, K) of all weight vectors of a log on every row."""

    def replay(self, stored_rows: Any, state: State, *, upto: NDArray[np.int64]) -> State:
        """Weights and their sums u after the first ``upto[k]`` mistakes of each plane of a log."""

    def kernel_fit(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        sample_weight: NDArray[np.float64] | None,
        *,
        kernel: KernelSpec,
        cache_bytes: int,
        state: State,
        positive: NDArray[np.uint32],
        class_weight: NDArray[np.float64],
        eta0: float,
        tie: str,
        fit_intercept: bool,
        seed: int | None,
        first_epoch: int,
        max_iter: int,
        tol: float | None,
        n_iter_no_change: int,
        track_mistakes: bool,
        threads: int,
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        joint: str | None = None,
        record: bool = False,
        on_epoch: OnEpoch | None = None,
        keep_on_interrupt: bool = False,
        ask: AskForRow | None = None,
    ) -> Report:
        """Run epochs of the kernel perceptron until every plane has stopped; ``state`` is not modified."""

    def kernel_fit_budget(
        self,
        rows: Any,
        stored_rows: Any,
        labels: NDArray[np.uint32],
        sample_weight: NDArray[np.float64] | None,
        *,
        kernel: KernelSpec,
        budget: int,
        policy: str,
        policy_seed: int,
        distance: float,
        state: State,
        positive: NDArray[np.uint32],
        class_weight: NDArray[np.float64],
        eta0: float,
        tie: str,
        seed: int | None,
        first_epoch: int,
        max_iter: int,
        tol: float | None,
        n_iter_no_change: int,
        track_mistakes: bool,
        margin: float = 0.0,
        max_mistakes_per_example: int | None = None,
        joint: str | None = None,
        on_epoch: OnEpoch | None = None,
        keep_on_interrupt: bool = False,
    ) -> Report:
        """Run epochs of the kernel perceptron that keeps at most so many examples; see ``kernel/kept.py``."""

    def kernel_scores(
        self,
        rows: Any,
        stored_rows: Any,
        state: State,
        *,
        kernel: KernelSpec,
        answers: Sequence[str],
        threads: int,
    ) -> NDArray[np.float64]:
        """Answers (n, A, K) of the vectors of a log for every row."""

    def kernel_matrix(
        self, rows: Any, others: Any, *, kernel: KernelSpec, threads: int
    ) -> NDArray[np.float64]:
        """Kernel values (n, m) of every row with every one of the others."""

    def scale_gamma(self, rows: Any) -> float:
        """Return one divided by the number of columns and the variance of all values; 1 if that is 0."""

    def separate(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        *,
        bias: str,
        tol: float,
        budget: int,
        solver: str,
        goal: str,
        threads: int,
    ) -> Solution:
        """Find the plane of largest margin, and an interval that contains that margin."""

    def margin(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        coef: NDArray[np.float64],
        intercept: float | None,
        *,
        normalize: bool,
        threads: int,
    ) -> tuple[float, float, NDArray[np.int64]]:
        """Bound the margin of a plane from both sides, and find the rows that are not on theirs."""

    def permutation(self, n: int, *, seed: int, epoch: int, partition: int) -> NDArray[np.uint32]:
        """Visiting order of an epoch."""

    def elementary(self, values: NDArray[np.float64], *, function: str) -> NDArray[np.float64]:
        """Exponential, logistic, hyperbolic tangent or logarithm of each number."""

    def mlp_start(
        self, columns: int, hidden: Sequence[int], outputs: int, *, activation: str, seed: int
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """Random weights and intercepts of the layers of a multilayer perceptron."""

    def mlp_fit(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        *,
        coefs: Sequence[NDArray[np.float64]],
        intercepts: Sequence[NDArray[np.float64]],
        activation: str,
        rate: float,
        alpha: float,
        batch_size: int,
        seed: int | None,
        first_epoch: int,
        max_iter: int,
        tol: float | None,
        n_iter_no_change: int,
    ) -> NetworkReport:
        """Run epochs of stochastic gradient steps until the loss no longer improves."""

    def mlp_scores(
        self,
        rows: Any,
        coefs: Sequence[NDArray[np.float64]],
        intercepts: Sequence[NDArray[np.float64]],
        *,
        activation: str,
        probabilities: bool,
    ) -> NDArray[np.float64]:
        """Activations (n, K) of the output neurons for every row, or probabilities."""

    def updates_until_right(
        self, x: NDArray[np.float64], y: int, w: NDArray[np.float64], b: float | None, *, step: float
    ) -> int:
        """Least number of updates in a row on one example after which it is right."""

    def sequence_fit(
        self,
        rows: Any,
        labels: NDArray[np.uint32],
        lengths: NDArray[np.int64],
        *,
        state: State,
        eta0: float,
        seed: int | None,
        first_epoch: int,
        max_iter: int,
        beam: int | None = None,
        update: str = "full",
        chosen: NDArray[np.uint32] | None = None,
        held_out: NDArray[np.uint32] | None = None,
        patience: int = 1,
        threads: int = 1,
        answer: str = "state",
        on_epoch: Callable[[int, int, int, int | None], bool | None] | None = None,
        keep_on_interrupt: bool = False,
    ) -> SequenceReport:
        """Learn from sequences until an epoch is clean or no better one is waited for."""

    def sequence_average(self, state: State) -> State:
        """Averaged weights of a state of sequences."""

    def sequence_decode(
        self,
        rows: Any,
        lengths: NDArray[np.int64],
        *,
        weights: State,
        threads: int,
        beam: int | None = None,
        allowed: NDArray[np.bool_] | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Best labels of every row, score of every sequence."""

    def structured_update(
        self,
        w: NDArray[np.float64],
        u: NDArray[np.float64],
        truth: tuple[NDArray[np.int64], NDArray[np.float64]],
        answer: tuple[NDArray[np.int64], NDArray[np.float64]],
        *,
        step: float,
        t: int,
    ) -> None:
        """Learn from one wrong answer: changes ``w`` and ``u``."""


def get_engine(name: str) -> Engine:
    """Return the engine called ``name``: ``"rust"`` or ``"reference"``."""
    if name == "rust":
        from perceptron_rs import _core

        return _core
    if name == "reference":
        from perceptron_rs import reference

        return reference
    raise ValueError(f"engine must be one of {ENGINES}, got {name!r}")
