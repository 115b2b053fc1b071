"""The two engines behind every estimator, and the protocol that both satisfy.

An engine is a module: the compiled core (``perceptron_rs._core``) or the readable
reference (``perceptron_rs.reference``). Both export the functions below with equal
signatures and equal results, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs.arrays.csr import StoredRows, csr_of
from perceptron_rs.arrays.named import State as State
from perceptron_rs.choices import EngineName

if TYPE_CHECKING:  # what predicts needs none of them
    from perceptron_rs.settings import Data, Epoch, EpochPart, KernelSpec, Linear, Settings, Solution


ENGINES: tuple[EngineName, ...] = get_args(EngineName)


class Rows(Protocol):
    """Examples, checked once: made by ``dense_rows`` or ``csr_rows`` of the same engine."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""

    @property
    def canonical(self) -> bool:
        """False if a CSR row has unsorted or duplicate columns; such rows cannot be learnt from."""


#: Rows, a rule and a model made by the engine that takes them: it takes no others, which no protocol can say.
OwnRows: TypeAlias = Any
OwnRule: TypeAlias = Any
OwnModel: TypeAlias = Any
SearchWeights: TypeAlias = Any


class Run(Protocol):
    """A learner at work, made by ``start``; D decisions: one a plane, or one of all planes together."""

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once, in the order of the epoch of this number, for decisions that go on.

        Raises OverflowError, naming the epoch, if a number is not finite.
        """

    def end(self, decision: int) -> None:
        """Say that a decision goes on no more. OverflowError if what it predicts with is not finite."""

    def state(self) -> RunState:
        """Return what has been learnt so far, as arrays if the run is no engine's."""

    def tracked(self) -> State:
        """Return what the settings track, by name.

        Of planes "mistakes_per_example" (n, D) and "activations" (n, K), those of the last visit of each
        example, NaN where there was none; of a chain "answers" uint32 (n,), the labels of each token at its
        last visit.
        """


class RunOfModel(Run, Protocol):
    """A run of an engine."""

    def state(self) -> Model:
        """Return what has been learnt so far."""


class RunOfPlanes(RunOfModel, Protocol):
    """A run of a learner whose examples are judged by planes."""

    def part(
        self, number: int, losses: NDArray[np.float64], data: Data | None = None, seed: int | None = None
    ) -> EpochPart:
        """Visit examples as ``epoch`` does, where they are a part of those of the epoch.

        ``losses`` (D,) are the sums of the parts before, to which those of these examples are added in the
        order of the visits. With ``data`` the run of a linear learner goes on with these examples, in an
        order that is drawn from ``seed``.
        """

    @property
    def last_part(self) -> EpochPart | None:
        """What the last ``part`` has returned: it changes in one step with what is learnt."""


class Rule(Protocol):
    """What parameters say of a pass, as an engine keeps it."""


class Pass(Protocol):
    """What a pass over n examples did, for D decisions and K planes."""

    @property
    def mistakes(self) -> NDArray[np.int64]:
        """Mistakes of each decision, (1, D)."""

    @property
    def n_mistakes(self) -> int:
        """Mistakes of all decisions."""

    @property
    def mistakes_per_example(self) -> NDArray[np.int64] | None:
        """Mistakes (n, D); None unless they were tracked."""

    @property
    def activations(self) -> NDArray[np.float64] | None:
        """Activations (n, K) before the updates; None unless they were tracked."""

    @property
    def note(self) -> object:
        """The note of the call."""


class LearntModel(Protocol):
    """What a learner has learnt: arrays of its state by name. Nobody writes to one that it has given out.

    A model of a learner that learns in runs alone (kernels, budgets, sequences, layers) never changes.
    """

    @property
    def is_zero(self) -> bool:
        """Whether nothing has been learnt: all numbers are zeros, and need not be read."""

    @property
    def last_pass(self) -> Pass | None:
        """What the last pass did; None if the model comes from a run or a state."""

    def keys(self) -> list[str]:
        """Return the names of its numbers."""

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        """Return numbers by name; weights with all pending penalties applied."""

    def state(self) -> State:
        """Return all that it takes to go on, as arrays.

        If penalties are pending, "coef" are the weights without them, "ages" says of each weight how many
        examples they are of, and "strengths" are eta0 and the strengths l1 and l2.
        """

    def copy(self, *, last_pass: bool = True) -> LearntModel:
        """Return another one that changes on its own; without ``last_pass``, that is None."""


#: What a run starts from and leads to: a model, or the arrays of one over blocks or partitions.
RunState: TypeAlias = LearntModel | State


class LinearModel(LearntModel, Protocol):
    """What a linear learner has learnt, whatever holds it: K planes of d columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of planes, number of columns."""

    @property
    def coef(self) -> NDArray[np.float64]:
        """Weights (K, d) that predict."""

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercepts (K,) that predict."""


class Model(LinearModel, Protocol):
    """A model of an engine, the only one that writes to what it has learnt; of a linear learner it learns."""

    def state(self, columns: NDArray[np.int64] | None = None) -> State:
        """Return all that it takes to go on, as `LearntModel.state`; of planes also of some columns alone."""

    def columns(self) -> NDArray[np.int64]:
        """Return the numbers of the columns in which anything has been learnt; they rise.

        What is pending on weights of 0 is nothing, but for that of the first column if there is nothing else.
        """

    def used(self, name: str | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the columns in which weights of that name have anything, and these; None: what predicts."""

    def learn(
        self,
        rule: OwnRule,
        rows: OwnRows,
        y: NDArray[np.generic],
        sample_weight: NDArray[np.generic] | None = None,
        owner: dict[str, Any] | None = None,
        turns: list[Any] | None = None,
        *,
        encoded: bool = False,
        track_activations: bool = False,
        note: object = None,
    ) -> bool:
        """Make one pass over the rows in order; ``last_pass`` then says what it did.

        Parameters
        ----------
        rule : Rule
            Of the same engine.
        rows : C-contiguous matrix, tuple of the arguments of ``csr_rows``, or made by that or ``dense_rows``
        y : array of shape (n,)
            Their classes, in the kind of type that those of the rule have.
        sample_weight : array of shape (n,)
            Weights of the examples, above 0.
        owner : dict
            Attributes of an estimator, of which ``_learnt`` must have this model when the pass is made: what
            reads rows and labels may run code of others. None: nobody is asked.
        turns : list
            Those who have a turn to change an estimator; there must be none then. None: the caller has it, so
            that others may run meanwhile.
        encoded : bool
            Whether y holds indices of classes instead, as uint32.
        track_activations : bool
            Whether to record the activations before the updates.
        note : object
            Is kept with the pass, if there is one.

        Returns
        -------
        bool
            False if nothing was done: the owner has another model, somebody has a turn, or others would run
            meanwhile and the caller has none. After an error nothing has changed, either.
        """

    def scores(self, rows: OwnRows, *, threads: int) -> NDArray[np.float64]:
        """Activations (n, K) of every row under what predicts."""

    def first_largest(self, rows: OwnRows, *, threads: int) -> NDArray[np.int64] | None:
        """Return the plane with the first largest of these, of every row; None if not all are finite."""

    def copy(self, *, last_pass: bool = True) -> Model:
        """Return another one that learns on its own; without ``last_pass``, that is None."""


class Models(Protocol):
    """The models of an engine."""

    def __call__(self, learner: str, planes: int, columns: int) -> Model:
        """Return a model that has learnt nothing: zeros."""

    def from_state(self, learner: str, state: State) -> Model:
        """Return a model of these arrays, which it copies unless a model has given them out."""


class Engine(Protocol):
    """What an engine offers; the docstrings of the reference say what each function does."""

    ARITHMETIC_VERSION: int

    def dense_rows(self, values: NDArray[np.generic]) -> Rows:
        """Wrap a C-contiguous matrix of one of the nine storage types, without copying it."""

    def csr_rows(
        self,
        indptr: NDArray[np.generic],
        indices: NDArray[np.generic],
        values: NDArray[np.generic],
        n_columns: int,
    ) -> Rows:
        """Wrap the three arrays of a CSR matrix, without copying them."""

    def start(self, data: Data, model: OwnModel, settings: Settings) -> RunOfModel:
        """Begin a run of the learner that the settings name, from what a model has learnt.

        The run does not change the model.

        Raises ValueError if shapes do not agree, TypeError for arrays of another type.
        """

    @property
    def Model(self) -> Models:  # noqa: N802  a class
        """What learns, and what has been learnt."""

    @property
    def Rule(self) -> Callable[[Linear, NDArray[np.generic]], Rule]:  # noqa: N802  a class
        """What parameters say of a pass, read once for many passes."""

    def scores(
        self, rows: OwnRows, coef: NDArray[np.float64], intercept: NDArray[np.float64], *, threads: int
    ) -> NDArray[np.float64]:
        """Activations (n, K) of every row under every plane."""

    def votes(
        self, rows: OwnRows, stored_rows: OwnRows, state: State, *, tie: str, threads: int
    ) -> NDArray[np.int64]:
        """Votes (n, K) of all weight vectors of a log on every row."""

    def replay(self, stored_rows: OwnRows, state: State, *, upto: NDArray[np.int64]) -> State:
        """Weights and their sums u after the first ``upto[k]`` mistakes of each plane of a log."""

    def kernel_scores(
        self,
        rows: OwnRows,
        stored_rows: OwnRows,
        state: State,
        *,
        kernel: KernelSpec,
        answers: Sequence[str],
        tie: str,
        threads: int,
    ) -> NDArray[np.float64]:
        """Answers (n, A, K) of the vectors of a log for every row."""

    def kernel_matrix(
        self, rows: OwnRows, others: OwnRows, *, kernel: KernelSpec, threads: int
    ) -> NDArray[np.float64]:
        """Kernel values (n, m) of every row with every one of the others."""

    def scale_gamma(self, rows: OwnRows) -> float:
        """Return one divided by the number of columns and the variance of all values; 1 if that is 0."""

    def separate(
        self,
        rows: OwnRows,
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
        rows: OwnRows,
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
        self, rows: OwnRows, state: State, *, activation: str, probabilities: bool, threads: int
    ) -> NDArray[np.float64]:
        """Activations (n, K) of the output neurons for every row, or probabilities."""

    def updates_until_right(
        self, x: NDArray[np.float64], y: int, w: NDArray[np.float64], b: float | None, *, step: float
    ) -> int:
        """Least number of updates in a row on one example after which it is right."""

    def sequence_average(self, state: State) -> State:
        """Averaged weights of a state of sequences."""

    def sequence_weights(self, weights: State) -> SearchWeights:
        """Make weights that predict ready for many searches, which take them in their place."""

    def sequence_decode(
        self,
        rows: OwnRows,
        lengths: NDArray[np.int64],
        *,
        weights: SearchWeights,
        threads: int,
        beam: int | None = None,
        allowed: NDArray[np.bool_] | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Best labels of every row, score of every sequence."""

    def sequence_k_best(
        self,
        rows: OwnRows,
        lengths: NDArray[np.int64],
        *,
        weights: SearchWeights,
        k: int,
        threads: int,
        beam: int | None = None,
        allowed: NDArray[np.bool_] | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
        """Best label sequences of every sequence, one after another, their scores, and how many each has."""

    def sequence_margins(
        self,
        rows: OwnRows,
        lengths: NDArray[np.int64],
        *,
        weights: SearchWeights,
        threads: int,
        beam: int | None = None,
        allowed: NDArray[np.bool_] | None = None,
        forbidden: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Best labels of every row, and how far the best ones with another label there are behind."""

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
    return _core._first_draw(seed, epoch, partition) * bound >> 64


def get_engine(name: str) -> Engine:
    """Return the engine called ``name``: ``"rust"`` or ``"reference"``."""
    if not isinstance(name, str) or name not in ENGINES:
        raise ValueError(f"engine must be one of {ENGINES}, got {name!r:.80}")
    if name == "rust":
        return _core
    from perceptron_rs import reference

    return reference


def rows_of(engine: Engine, stored: StoredRows, columns: int) -> Rows:
    """Return stored rows as the engine has them."""
    arrays = {name: np.require(array, requirements=["C", "A"]) for name, array in stored.items()}
    if "rows" in arrays:
        return engine.dense_rows(arrays["rows"])
    return engine.csr_rows(*csr_of(arrays), columns)


def instruction_sets() -> list[str]:
    """Return the instruction sets of this processor that the core has code for, the widest last."""
    return _core._instruction_sets()


@contextmanager
def forced_instruction_set(name: str | None) -> Iterator[None]:
    """Let the core compute with this instruction set within a block; None: with the widest one."""
    _core._force_instruction_set(name)
    try:
        yield
    finally:
        _core._force_instruction_set(None)
