"""What kernel perceptrons predict with, and how."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.choices import BudgetPolicy, Prediction
from perceptron_rs.common.kernel_spec import spec_of
from perceptron_rs.common.mistake_log import survival_counts
from perceptron_rs.common.prediction.predictor import MistakeClassifier
from perceptron_rs.common.prediction.vote_shares import VoteShares
from perceptron_rs.common.rows.examples import ValidatedRows
from perceptron_rs.common.rows.selection import matrix_of, select_columns
from perceptron_rs.common.schema import History, Schema
from perceptron_rs.common.targets.planes import is_joint
from perceptron_rs.common.threads import n_threads
from perceptron_rs.common.turns import consistent
from perceptron_rs.engines import Engine, State, rows_of
from perceptron_rs.errors import ArgumentError, overflow
from perceptron_rs.kernel.schema import BUDGETED, KERNEL, check_log, check_members
from perceptron_rs.kernel.values import callable_values
from perceptron_rs.kernel.vectors import OF_VECTORS, log_of, state_of
from perceptron_rs.settings import KernelSpec
from perceptron_rs.state import rows_in

__all__ = [
    "PREDICTIONS",
    "BudgetedKernelPerceptronPredictor",
    "KernelLearnerPredictor",
    "KernelPerceptronPredictor",
]

#: Values of a callable that are asked for at a time, unless a single row has more.
_VALUES = 1 << 20
#: What may predict, and what the engines call it.
_ANSWERS = {"vote": "vote", "average": "average", "last": "last", "random": "drawn"}
PREDICTIONS = tuple(_ANSWERS)


class KernelLearnerPredictor(MistakeClassifier):
    """Sums of kernel values with mistaken examples."""

    kernel: Any
    n_seen_: NDArray[np.int64]
    _spec: KernelSpec  # with its gamma settled
    _seed: int  # of the last call that learnt

    @abstractmethod
    def _answer(self) -> str:
        """Return what predicts, as the engines call it."""

    @property
    @consistent
    def predictor_(self) -> State:
        """What predicts: the log of mistakes, the rows that it names, and the gamma of their kernel."""
        return (
            state_of(self._vectors, self.n_seen_, self._seed)
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
            Of a vote, the votes for minus the votes against, divided by their number, in [-1, 1]; in a
            joint decision, the votes for each class, divided by their number. Otherwise the activation of
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
        return self._scores(self._judged(X))

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
        state = state_of(self._vectors, self.n_seen_, self._seed, draws=answer.endswith("drawn"))
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
        found = []
        for rows in blocks:
            try:
                scores = engine.kernel_scores(
                    rows, stored_rows, state, kernel=self._spec, answers=[answer], threads=n_threads(self)
                )
            except OverflowError as error:
                raise overflow(error) from None
            found.append(scores[:, 0])
        return np.concatenate(found)

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
        check_log(arrays)

    def _answer(self) -> str:
        answer = _ANSWERS[self.prediction]
        if answer == "vote":
            return "joint vote" if is_joint(self) else answer
        return f"normalised {answer}" if self.normalize else answer

    def _check_prediction(self) -> None:
        super()._check_prediction()
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

    def _answer(self) -> str:
        return "last"
