"""What linear models predict with, and how; `PackedModel` holds the columns with weights alone."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import settled_arrays
from perceptron_rs.choices import LinearPrediction, words
from perceptron_rs.engines import Engine, LinearModel, Model, Rows, State, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import Classifier, is_of, scores_of
from perceptron_rs.prediction.vote_shares import VoteShares
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.sparse import dense
from perceptron_rs.schema.columns import (
    COLUMNS,
    Places,
    Spread,
    is_by_column,
    packed,
    packed_model,
    spread,
    unpacked,
)
from perceptron_rs.schema.schema import COUNTS, EPOCHS, RUN_COUNTS, Array, History, Schema, StoredExamples
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.planes import assert_finite_weights

Value = TypeVar("Value", bound=np.generic)


class PackedModel:
    """What a linear learner has learnt, of a packed state; it never changes.

    It has what a model of the engine has, but does not learn; `whole` is a model that does. All columns take
    memory only when somebody reads one of its arrays.

    Parameters
    ----------
    engine : Engine
        The engine of `whole`.
    learner : str
        As the engines call it.
    state : dict of str to ndarray
        See `perceptron_rs.schema.columns`.
    """

    last_pass = None

    def __init__(self, engine: Engine, learner: str, state: State) -> None:
        self.engine, self.learner = engine, learner
        self._places = Places(state[COLUMNS].copy())
        state = {
            name: self._places.weights(array) if is_by_column(name, array) else array
            for name, array in state.items()
            if name != COLUMNS
        }
        self._few = get_engine("rust").Model.from_state(learner, state)
        self.shape = int(self._few.shape[0]), self._places.n_columns
        self.intercept, self.is_zero = self._few.intercept, self._few.is_zero

    @cached_property
    def whole(self) -> Model:
        """A model of the engine with all columns."""
        return self.engine.Model.from_state(self.learner, unpacked(self.packed()))

    @property
    def few(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of some columns and intercepts that predict: all that are not 0."""
        return self._few.coef, self.intercept

    @property
    def coef(self) -> NDArray[np.float64]:
        """Weights that predict."""
        return self._shown(self._few.coef)

    def packed(self) -> State:
        """Return the state."""
        return self._places.packed(self._few.state())

    def settled(self) -> dict[str, Any]:
        """Return its numbers with all pending penalties applied; weights as `Spread`."""
        return {
            name: self.spread(array) if is_by_column(name, array) else array
            for name, array in settled_arrays(self._few).items()
        }

    def spread(self, weights: NDArray[np.float64]) -> Spread:
        """Return weights that stand in their places."""
        few = np.ascontiguousarray(weights[:, self._places.places])
        return Spread(few, np.append(self._places.columns, self._places.n_columns))

    def state(self) -> State:
        """Return all that it takes to go on, with all columns."""
        return dict(self.whole.state())

    def keys(self) -> list[str]:
        """Return the names of its numbers."""
        return self._few.keys()

    def __contains__(self, name: object, /) -> bool:
        return name in self._few

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        array = self._few[name]
        return self._shown(array) if is_by_column(name, array) else array

    def _shown(self, array: NDArray[Value]) -> NDArray[Value]:
        whole = spread(array[:, self._places.places], self._places.columns, self._places.n_columns)
        whole.flags.writeable = False
        return whole

    def copy(self, *, last_pass: bool = True) -> Self:  # noqa: ARG002
        """Return the model, which never changes."""
        return self

    def scores(self, stored: State, threads: int) -> NDArray[np.float64] | None:
        """Return the activations (n, K) of rows under what predicts; None if that takes all columns."""
        rows = self._places.rows(stored) if "rows" not in stored else None
        if rows is None:
            return None
        indptr, indices, values = (rows[f"rows_{name}"] for name in ("indptr", "indices", "values"))
        own_rows = get_engine("rust").csr_rows(indptr, indices, values, self._places.width)
        return self._few.scores(own_rows, threads=threads)


if TYPE_CHECKING:
    from perceptron_rs.linear.vectors import Hyperplanes, Vectors, VotedModel

VOTED_PREDICTIONS = words(LinearPrediction)

_SEEN = Array("seen", "K", COUNTS, shown="n_seen_", reported=True)
#: What a fit leaves beside the weights in the pocket; none of weights that were set.
_of_pocket = partial(Array, group="pocket", predicts=False)


class LinearPredictor(Classifier):
    """Planes, one for each class, or one for two."""

    _takes_packed: ClassVar[bool] = True
    _learns_many: ClassVar[bool] = True
    _learnt: RunLearnt = RunLearnt()

    _model: LinearModel

    @property
    def coef_(self) -> MatrixLike:
        """Weights that predict."""
        return self._model.coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts that predict."""
        return self._model.intercept

    @consistent
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        r"""Return the activation :math:`w \cdot x + b` of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the activation of ``classes_[1]`` (of a joint decision, minus that of
            ``classes_[0]``). Otherwise, one column for each class, and so for each of many labels. The bits
            do not depend on the storage of X, the batch or ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape or contains NaN or infinity, or if the weights were set to such values.
        """
        return scores_of(self, X)

    def _assert_finite_weights(self) -> None:
        assert_finite_weights(coef_=dense(self.coef_), intercept_=self.intercept_)

    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        model, (n, columns) = self._model, data.rows.shape
        if columns != model.shape[1]:
            raise ValueError(f"coef_ must have the shape (n_planes, {columns}), got {model.shape}; fit again")
        if isinstance(model, PackedModel) and engine is model.engine is get_engine("rust"):
            scores = model.scores(data.stored, n_threads(self, n))
            if scores is not None:
                return scores
        model = self._model_of(engine)
        return self._scores_under(model, data.rows, n_threads(self, n))

    _scored_by: ClassVar[tuple[object, ...]] = (decision_function, _judge)

    def _scores_under(self, model: Any, rows: Rows, threads: int) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = model.scores(rows, threads=threads)
        return scores

    @property
    @consistent
    def predictor_(self) -> State:
        """What predicts."""
        return {"coef": dense(self.coef_), "intercept": self.intercept_}

    def _packed(self) -> State:
        model = self._model
        if isinstance(model, PackedModel):
            return model.packed()
        state = packed_model(cast("Model", model))
        return self._state() if state is None else state

    def _model_of(self, engine: Engine) -> LinearModel:
        model = self._model
        if isinstance(model, PackedModel):
            same = model if engine is model.engine else PackedModel(engine, model.learner, model.packed())
            return same.whole
        return model if is_of(engine, model) else self._model_from(engine, model.state())

    def _model_from(self, engine: Engine, state: State) -> LinearModel:
        if COLUMNS in state:
            return PackedModel(engine, self._schema.algorithm, state)
        model: LinearModel = engine.Model.from_state(self._schema.algorithm, unpacked(state))
        return model

    def _restored(self, arrays: State, document: dict[str, object]) -> None:  # noqa: ARG002
        # An average is computed when it is first read: here, where an error can name the file.
        model = self._model
        numbers = model.few if isinstance(model, PackedModel) else (model.coef, model.intercept)
        if not all(np.isfinite(array).all() for array in numbers):
            raise ValueError(
                "its weights are so large that their average is not finite; save the model again"
            )


class PerceptronPredictor(LinearPredictor):
    """The last weights of a perceptron."""

    _schema: ClassVar[Schema] = Schema(
        "perceptron",
        (
            Array("coef", "Kd", shown="coef_"),
            Array("intercept", "K", shown="intercept_"),
            _SEEN,
            # Penalties that are pending, which depends on how calls were cut.
            Array("ages", "Kd", COUNTS, group="pending", predicts=False, compared=False),
            Array("strengths", (3,), group="pending", predicts=False, compared=False),
            *EPOCHS,
        ),
        RUN_COUNTS,
    )


class AveragedPerceptronPredictor(LinearPredictor):
    """The average of all weight vectors of a run."""

    _schema: ClassVar[Schema] = Schema(
        "averaged",
        (
            Array("coef", "Kd", shown="last_coef_"),
            Array("intercept", "K", shown="last_intercept_"),
            Array("coef_u", "Kd", shown="_coef_u"),
            Array("intercept_u", "K", shown="_intercept_u"),
            _SEEN,
            *EPOCHS,
        ),
        RUN_COUNTS,
    )


class PocketPerceptronPredictor(LinearPredictor):
    """The weights with the fewest training errors."""

    _schema: ClassVar[Schema] = Schema(
        "pocket",
        (
            Array("coef", "Kd", shown="coef_"),
            Array("intercept", "K", shown="intercept_"),
            _SEEN,
            _of_pocket("last_coef", "Kd"),
            _of_pocket("last_intercept", "K"),
            _of_pocket("pocket_errors", "K", shown="pocket_errors_"),
            _of_pocket("pocket_run", "K", COUNTS, shown="pocket_run_"),
            _of_pocket("swap_plane", "m", COUNTS, shown="_swap_plane"),
            _of_pocket("swap_epoch", "m", COUNTS, shown="_swap_epoch"),
            _of_pocket("swap_t", "m", COUNTS, shown="_swap_t"),
            _of_pocket("swap_errors", "m", shown="_swap_errors"),
            _of_pocket("swap_average", "m", COUNTS, shown="_swap_average", most=1),
            *EPOCHS,
        ),
        RUN_COUNTS,
    )


class VotedPerceptronPredictor(VoteShares, LinearPredictor):
    """All weight vectors of a run."""

    _takes_packed: ClassVar[bool] = False

    prediction: LinearPrediction
    n_seen_: NDArray[np.int64]
    #: See `perceptron_rs.linear.vectors`. Numbers of stored rows and of rows of X do not predict.
    _schema: ClassVar[Schema] = Schema(
        "voted",
        (
            Array("coef", "Kd", label="_coef"),
            Array("intercept", "K", label="_intercept"),
            _SEEN,
            Array("vectors_coef", "Kd"),
            Array("vectors_intercept", "K"),
            Array("vectors_coef_u", "Kd", finite=False),
            Array("vectors_intercept_u", "K", finite=False),
            Array("vectors_first_t", "K", COUNTS, least=1),
            Array("vectors_first_row", "K", COUNTS, least=-1, predicts=False),
            Array("vectors_log_start", "S", COUNTS),
            Array("vectors_log_row", "M", COUNTS, predicts=False),
            Array("vectors_log_t", "M", COUNTS),
            Array("vectors_log_step", "M"),
            Array("vectors_log_bias", "M"),
            Array("vectors_log_origin", "M", COUNTS, predicts=False),
            StoredExamples("rd", prefix="vectors_", index="vectors_log_row"),
            Array("vectors_seed", (1,), COUNTS, predicts=False),
            *EPOCHS,
        ),
        RUN_COUNTS,
    )
    _model: VotedModel

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        r"""Return the normalized vote on each example, or the activation of the vector that predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With ``prediction="vote"``, the votes for minus the votes against, divided by the number of
            votes, in [-1, 1]; with :math:`w \cdot x + b = 0`, a vector votes neither for nor against, or,
            with ``tie="positive"``, for. Otherwise, the activation. For two classes, the score is that of
            ``classes_[1]``; otherwise, there is one column for each class. The bits do not depend on the
            storage of X, the batch or ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, contains NaN or infinity, or makes a vote overflow.
        """
        return super().decision_function(X)

    @property
    def _vectors(self) -> Vectors:
        """All vectors of the run."""
        try:
            return self._model.vectors
        except AttributeError:
            raise AttributeError(f"{type(self).__name__!r} object has no vectors; fit it first") from None

    def _check_arrays(self, arrays: State, history: History) -> None:
        from perceptron_rs.linear.vectors import check_vectors  # other learners need none of it

        super()._check_arrays(arrays, history)
        check_vectors(arrays)

    def _packed(self) -> State:
        return packed(self._state())

    def _model_of(self, engine: Engine) -> VotedModel:
        model = self._model
        return model if model.engine is engine else self._model_from(engine, model.state())

    def _model_from(self, engine: Engine, state: State) -> VotedModel:
        from perceptron_rs.linear.vectors import VotedModel

        return VotedModel.from_state(engine, unpacked(state))

    def _scores_under(self, model: VotedModel, rows: Rows, threads: int) -> NDArray[np.float64]:
        return model.scores(rows, self.prediction, self.tie, threads)

    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        if self.prediction not in VOTED_PREDICTIONS:
            raise ValueError(f"prediction must be one of {VOTED_PREDICTIONS}, got {self.prediction!r}")
        if self.prediction != "vote":
            self._predicting()
        return super()._judge(engine, data)

    @property
    @consistent
    def predictor_(self) -> State:
        """What predicts: the vectors that vote, or the weights and intercepts of the chosen ones."""
        if self.prediction == "vote":
            from perceptron_rs.linear.vectors import PREFIX

            return {f"{PREFIX}{name}": array for name, array in self._vectors.items()} | {
                "n_seen": self.n_seen_
            }
        return dict(zip(("coef", "intercept"), self._predicting(), strict=True))

    def _predicting(self) -> Hyperplanes:
        """Return the weights and intercepts of a kind of prediction that is no vote."""
        weights = self._model.weights(self.prediction)
        if not all(np.isfinite(numbers).all() for numbers in weights):
            raise ArgumentError(
                "{prediction} needs weights that are not finite",
                "scale the features",
                values={"prediction": self.prediction},
            )
        return weights
