"""What kernel perceptrons have learnt, and how they predict with it; the kernel, also as a callable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import rows_in
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.choices import BudgetPolicy, Prediction
from perceptron_rs.engines import Engine, Rows, State, rows_of
from perceptron_rs.errors import ArgumentError, named_overflow
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.kernel.vectors import OF_VECTORS, log_of, vote_state
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import Classifier, scores_of
from perceptron_rs.prediction.vote_shares import VoteShares
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import matrix_of, select_columns
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.schema.kernel_spec import KERNEL_ARRAY, settled_kernel, spec_of
from perceptron_rs.schema.mistake_log import survival_counts
from perceptron_rs.schema.schema import COUNTS, EPOCHS, RUN_COUNTS, Array, History, Schema, StoredExamples
from perceptron_rs.settings import AskForRow, KernelSpec, check_kept
from perceptron_rs.state.fitted_attributes import Shown
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.planes import is_joint

_SHARED = (
    Array("seen", "K", COUNTS, shown="n_seen_", label="seen", reported=True),
    KERNEL_ARRAY,
    Array("origin", "r", COUNTS, shown="support_", predicts=False),
    *EPOCHS,
)
_COUNTS = RUN_COUNTS | {"seed": "_seed"}

KERNEL = Schema(
    "kernel",
    (
        *_SHARED,
        Array("intercept", "K", shown="intercept_"),
        Array("norm", "K", shown="_norm", predicts=False),
        Array("log_start", "S", COUNTS),
        Array("log_row", "M", COUNTS, predicts=False),
        Array("log_t", "M", COUNTS),
        Array("log_step", "M"),
        Array("log_bias", "M"),
        Array("log_norm", "M"),
        StoredExamples("rc", index="log_row"),
    ),
    _COUNTS,
)

#: The members of the sets; the log of mistakes is made of them.
BUDGETED = Schema(
    "budgeted-kernel",
    (
        *_SHARED,
        Array("kept_start", "s", COUNTS),
        Array("kept_row", "m", COUNTS, predicts=False),
        Array("kept_number", "m", COUNTS),
        Array("kept_step", "mw"),
        Array("kept_mistakes", "g", COUNTS),
        Array("kept_harm", "g"),
        Array("kept_factor", "f"),
        StoredExamples("rc", index="kept_row"),
        # The key of what the policy "random" draws.
        Array(
            "kept_seed",
            (1,),
            COUNTS,
            attribute="_policy_seed",
            predicts=False,
            compared=False,
            pack=np.atleast_1d,
            unpack=np.ndarray.item,
        ),
    ),
    _COUNTS,
    engine_name="budget",
)


def check_kernel_log(arrays: State) -> None:
    """Raise ValueError unless the log of mistakes leads to the intercepts and norms."""
    start, n_rows = arrays["log_start"], len(arrays["origin"])
    if start[0] != 0 or (np.diff(start) < 0).any() or start[-1] != len(arrays["log_row"]):
        raise ValueError("the tensor log_start must rise from 0 to the number of mistakes")
    if arrays["log_row"].max(initial=-1) >= n_rows:
        raise ValueError(f"the tensor log_row must name one of {n_rows} rows")
    for k, (intercept, norm, seen) in enumerate(
        zip(arrays["intercept"], arrays["norm"], arrays["seen"], strict=True)
    ):
        plane = slice(start[k], start[k + 1])
        times = arrays["log_t"][plane]
        if (np.diff(times, prepend=0) < 1).any() or times.max(initial=0) > seen:
            raise ValueError("the tensor log_t must rise within each plane to the examples seen")
        last_intercept = np.add.accumulate(np.concatenate([[0.0], arrays["log_bias"][plane]]))[-1]
        last_norm = np.concatenate([[0.0], arrays["log_norm"][plane]])[-1]
        if last_intercept != intercept or last_norm != norm:
            raise ValueError("the tensors log_... do not lead to the intercept and norm of the file")


def check_members(model: BudgetedKernelPerceptronPredictor, arrays: State) -> None:
    """Raise ValueError unless the members are those of sets on a budget."""
    width = len(arrays["seen"]) if is_joint(model) else 1
    sets, rows = len(arrays["seen"]) // width, len(arrays["origin"])
    check_kept(arrays, int(model.budget), model.budget_policy, sets=sets, width=width, rows=rows)
    numbers = np.split(arrays["kept_number"], arrays["kept_start"][1:-1])
    for number, mistakes, seen in zip(numbers, arrays["kept_mistakes"], arrays["seen"], strict=False):
        if (np.diff(number, prepend=0) < 1).any() or not number.max(initial=0) <= mistakes <= seen:
            raise ValueError("the tensor kept_number must rise within each set to the number of its mistakes")


#: Values of a callable that are asked for at a time, unless a single row has more.
_VALUES = 1 << 20
#: What may predict, and what the engines call it.
_ANSWER_OF = {"vote": "vote", "average": "average", "last": "last", "random": "drawn"}
KERNEL_PREDICTIONS = tuple(_ANSWER_OF)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class KernelLearnt(RunLearnt):
    """What kernel learners have beside the log of mistakes."""

    spec: KernelSpec | None = None  # with its gamma settled
    seed: int | None = None  # of the last call that learnt
    policy_seed: int | None = None  # of the first call of a run


class KernelLearnerPredictor(Classifier):
    """Sums of kernel values with mistaken examples."""

    kernel: Any
    n_seen_: NDArray[np.int64]
    _learns_many: ClassVar[bool] = True
    _learnt: KernelLearnt = KernelLearnt()
    _spec = Shown[KernelSpec]("spec")
    _seed = Shown[int]("seed")
    _policy_seed = Shown[int | None]("policy_seed", optional=True)

    @abstractmethod
    def _answer(self) -> str:
        """Return what predicts, as the engines call it."""

    @property
    @consistent
    def predictor_(self) -> State:
        """What predicts: the log of mistakes, the rows that it names, and the gamma of their kernel."""
        return (
            vote_state(self._vectors, self.n_seen_, self._seed)
            | rows_in(self._vectors)
            | {"origin": self._vectors["origin"], "gamma": np.array(self._spec.gamma)}
        )

    @consistent
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the normalized vote on each example, or the activation of the vector that predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples; with ``kernel="precomputed"``, their kernel values with all training examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of a vote, the votes for minus the votes against, divided by the number of votes, in [-1, 1]; in a
            joint decision, the votes for each class, divided by that number. With an activation of 0, a
            vector votes neither for nor against, or, with ``tie="positive"``, for; in a joint decision, it
            votes for none of several classes with its largest activation. Otherwise the activation of
            the weight vector that predicts, which `KernelPerceptron` can normalize. For two classes, it
            is that of ``classes_[1]`` (in a joint decision, minus that of ``classes_[0]``); otherwise,
            there is one column for each class. The bits do not depend on the storage of X, the batch or
            ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, contains NaN or infinity, or makes an activation overflow.
        """
        return scores_of(self, X)

    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        data.assert_finite(self)
        answer = self._answer()
        scores = self._answers(engine, data, answer)
        if answer in ("vote", "joint vote"):
            number = np.array([count.sum() for count in survival_counts(self._vectors, self.n_seen_)])
            scores = scores / np.maximum(number, 1)
        return scores

    def _answers(self, engine: Engine, data: ValidatedRows, answer: str) -> NDArray[np.float64]:
        """Return one kind of answer (n, K).

        The values of a callable are not kept: it is asked for those of a block of rows with all stored ones.
        """
        state = vote_state(self._vectors, self.n_seen_, self._seed)
        support, columns = len(self._vectors["origin"]), self.n_features_in_
        if callable(self.kernel) or self.kernel == "precomputed":
            stored_rows = engine.dense_rows(np.zeros((support, 1), np.uint8))  # their values are in the rows
        else:
            stored_rows = rows_of(engine, rows_in(self._vectors), columns)
        if callable(self.kernel):
            X, others = matrix_of(data.stored, columns), matrix_of(rows_in(self._vectors), columns)
            step = max(1, _VALUES // max(1, support))
            blocks = (
                engine.dense_rows(callable_values(self.kernel, X[start : start + step], others))
                for start in range(0, X.shape[0], step)
            )
        else:
            rows = data.rows
            if self.kernel == "precomputed":
                rows = select_columns(engine, data.stored, self._vectors["origin"], rows.shape[1])
            blocks = (block for block in [rows])
        answers = []
        for rows in blocks:
            try:
                scores = engine.kernel_scores(
                    rows,
                    stored_rows,
                    state,
                    kernel=self._spec,
                    answers=[answer],
                    tie=self.tie,
                    threads=n_threads(self),
                )
            except OverflowError as error:
                raise named_overflow(error) from None
            answers.append(scores[:, 0])
        return np.concatenate(answers)

    def _sizes(self, history: History) -> dict[str, int]:
        sizes = super()._sizes(history)
        # With precomputed kernel values no rows are stored: one column stands for them.
        return sizes | {"c": 1 if self.kernel == "precomputed" else sizes["d"]}

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        seen, columns = arrays["seen"], history["n_features"]
        if is_joint(self) and (seen != seen[0]).any():
            raise ValueError("the tensor seen must hold one number for all classes of a joint decision")
        if self.kernel == "precomputed" and arrays["origin"].max(initial=-1) >= columns:
            raise ValueError(f"the tensor origin must name columns below {columns}")
        spec_of(self, arrays)

    def _restored(self, arrays: State, document: dict[str, object]) -> None:  # noqa: ARG002
        self._spec = spec_of(self, arrays)

    @property
    def _vectors(self) -> State:
        """The log of mistakes, and the rows that it names."""
        return {name: array for name, array in self._model.state().items() if name.startswith(OF_VECTORS)}


class KernelPerceptronPredictor(VoteShares, KernelLearnerPredictor):
    """The log of all mistakes."""

    prediction: Prediction
    normalize: bool
    _schema: ClassVar[Schema] = KERNEL

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        check_kernel_log(arrays)

    def _answer(self) -> str:
        answer = _ANSWER_OF[self.prediction]
        if answer == "vote":
            return "joint vote" if is_joint(self) else answer
        return f"normalised {answer}" if self.normalize else answer

    def _check_prediction(self) -> None:
        super()._check_prediction()
        check_among("prediction", self.prediction, *KERNEL_PREDICTIONS)
        if self.normalize and self.prediction == "vote" and is_joint(self):
            raise ArgumentError(
                "{normalize} is not available with {prediction} and {multi_class}, where each vector votes "
                "by its activations",
                "set {normalize} or another {prediction}",
                values={"normalize": True, "prediction": "vote", "multi_class": "joint"},
                settings={"normalize": False},
            )


class BudgetedKernelPerceptronPredictor(KernelLearnerPredictor):
    """The mistakes on a budget."""

    budget: int
    budget_policy: BudgetPolicy
    coef0: float
    _schema: ClassVar[Schema] = BUDGETED

    def _sizes(self, history: History) -> dict[str, int]:
        sizes = super()._sizes(history)
        width = sizes["K"] if is_joint(self) else 1
        return sizes | {"w": width, "g": sizes["K"] // width, "s": sizes["K"] // width + 1}

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        check_members(self, arrays)

    def _set_state(self, state: State) -> None:
        super()._set_state(state | log_of(state, len(state["seen"])))

    def _check_prediction(self) -> None:
        super()._check_prediction()
        if self.budget_policy == "projectron" and (
            self.kernel == "sigmoid" or (self.kernel == "poly" and float(self.coef0) < 0)
        ):
            raise ArgumentError(
                "{budget_policy} needs a kernel that is positive definite, got {kernel} with {coef0}",
                "set another policy or kernel, or a larger {coef0}",
                values={"budget_policy": "projectron", "kernel": self.kernel, "coef0": self.coef0},
            )

    def _answer(self) -> str:
        return "last"


#: Examples that a callable is given at a time, at most: what it computes on its way stays small.
_BLOCK = 4096
#: Returns the kernel values of the rows of one matrix with those of another.
KernelFunction: TypeAlias = Callable[[Any, Any], MatrixLike]
PRECOMPUTED = KernelSpec("precomputed")


def kernel_spec(estimator: Any, engine: Engine, rows: Rows) -> KernelSpec:
    """Return the kernel with its gamma settled by these rows."""
    if callable(estimator.kernel):
        return PRECOMPUTED
    parameters = str.__str__(estimator.kernel), estimator.gamma, estimator.degree, estimator.coef0
    return settled_kernel(*parameters, engine, rows)


def callable_values(kernel: KernelFunction, X: MatrixLike, others: MatrixLike) -> NDArray[np.float64]:
    """Return the values of a callable for all rows of X with all others."""
    with foreign():
        returned = kernel(X, others)
        values = np.asarray(returned.toarray() if is_sparse(returned) else returned)
    needed = (X.shape[0], others.shape[0])
    if values.shape != needed:
        raise ValueError(
            f"kernel must return an array of shape {needed} for blocks of {needed[0]} and {needed[1]} rows, "
            f"got shape {values.shape}"
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(f"kernel must return real numbers, got the dtype {values.dtype}")
    with np.errstate(over="ignore"):
        values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"kernel must return finite numbers, got {values[~np.isfinite(values)][0]}")
    return values


def rows_of_callable(kernel: KernelFunction, X: MatrixLike) -> AskForRow:
    """Return what gives the values of a callable for all rows of X with one of them."""

    @standard()
    def ask(number: int) -> NDArray[np.float64]:
        one = X[number : number + 1]
        blocks = (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))
        return np.concatenate([callable_values(kernel, block, one)[:, 0] for block in blocks])

    return ask
