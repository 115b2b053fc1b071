"""The two engines behind every estimator, and the protocol that both satisfy.

An engine is a module: the compiled core (``perceptron_rs._core``) or the readable
reference (``perceptron_rs.reference``). Both export the functions below with equal
signatures and equal results, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.settings import (
    AskForRow,
    Data,
    Epoch,
    KernelSpec,
    Settings,
    Solution,
    State,
)

__all__ = [
    "ENGINES",
    "AskForRow",
    "Engine",
    "EngineName",
    "KernelSpec",
    "OnePass",
    "Rows",
    "Run",
    "Solution",
    "State",
    "get_engine",
]

EngineName: TypeAlias = Literal["rust", "reference"]
ENGINES: tuple[EngineName, ...] = ("rust", "reference")


class Rows(Protocol):
    """Examples, checked once: made by ``dense_rows`` or ``csr_rows`` of the same engine."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""

    @property
    def canonical(self) -> bool:
        """False if a CSR row has unsorted or duplicate columns; such rows cannot be learnt from."""


class Run(Protocol):
    """A learner at work, made by ``start``; D decisions: one a plane, or one of all planes together."""

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once, in the order of the epoch of this number, for decisions that go on.

        Raises OverflowError, naming the epoch, if a number is not finite.
        """

    def end(self, decision: int) -> None:
        """Say that a decision goes on no more. OverflowError if what it predicts with is not finite."""

    def state(self) -> State:
        """Return a copy of the weights and of all else that the learner keeps."""

    def tracked(self) -> State:
        """Return what the settings track, by name.

        Of planes "mistakes_per_example" (n, D) and "activations" (n, K), those of the last visit of each
        example, NaN where there was none; of a chain "answers" uint32 (n,), the labels of each token at its
        last visit.
        """


class OnePass(Protocol):
    """Passes on the attributes of an estimator, made by ``one_pass``."""

    def learn(
        self,
        estimator: Any,
        rows: Any,
        y: NDArray[Any],
        encoded: bool = False,
        activations: NDArray[np.float64] | None = None,
        sample_weight: NDArray[np.float64] | None = None,
        also: dict[str, Any] | None = None,
        turns: list[Any] | None = None,
    ) -> bool:
        """Learn from the rows in their order and replace the attributes that change."""


class Engine(Protocol):
    """What an engine offers; the docstrings of the reference say what each function does."""

    ARITHMETIC_VERSION: int

    def dense_rows(self, values: NDArray[Any]) -> Rows:
        """Wrap a C-contiguous matrix of one of the nine storage types, without copying it."""

    def csr_rows(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_columns: int
    ) -> Rows:
        """Wrap the three arrays of a CSR matrix, without copying them."""

    def start(self, data: Data, state: State, settings: Settings) -> Run:
        """Begin a run of the learner of these settings; ``state`` is not modified.

        Raises ValueError if shapes do not agree, TypeError for arrays of another type.
        """

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
        margin_threshold: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        joint: str | None = None,
        penalty: tuple[float, float] | None = None,
        track_mistakes: bool = False,
    ) -> OnePass:
        """Read the parameters once, for many passes."""

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
        max_steps: int,
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
    ) -> State:
        """Random weights and intercepts of the layers of a multilayer perceptron."""

    def mlp_scores(
        self, rows: Any, state: State, *, activation: str, probabilities: bool, threads: int
    ) -> NDArray[np.float64]:
        """Activations (n, K) of the output neurons for every row, or probabilities."""

    def updates_until_right(
        self, x: NDArray[np.float64], y: int, w: NDArray[np.float64], b: float | None, *, step: float
    ) -> int:
        """Least number of updates in a row on one example after which it is right."""

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


def below(bound: int, *, seed: int, epoch: int, partition: int) -> int:
    """Whole number from 0 to ``bound - 1``: the first one that rule 7's generator of an epoch draws."""
    from perceptron_rs.reference.order import below as draw

    return draw(bound, seed=seed, epoch=epoch, partition=partition)


def get_engine(name: str) -> Engine:
    """Return the engine called ``name``: ``"rust"`` or ``"reference"``."""
    if name == "rust":
        from perceptron_rs import _core

        return _core
    if name == "reference":
        from perceptron_rs import reference

        return reference
    raise ValueError(f"engine must be one of {ENGINES}, got {name!r}")
