"""What linear learners share: fits in epochs, passes, predictions, and what they show of their models.

``_model`` is all that has been learnt, and what its last pass did. Its arrays are views that nobody writes
to: those that a caller holds never change, and while nobody does, a pass learns where they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import begin_record
from perceptron_rs.common.driver import Report
from perceptron_rs.common.labels import check_classes, encode, encode_again, encode_new, label_array
from perceptron_rs.common.online import OnlineClassifier
from perceptron_rs.common.owner import Owner
from perceptron_rs.common.parameters import are_accepted, n_threads
from perceptron_rs.common.rows.examples import Examples, as_array, examples, unchecked
from perceptron_rs.common.sklearn_callbacks import FitTask
from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.common.terms import check_terms
from perceptron_rs.common.told import OF_PASS, Told
from perceptron_rs.common.turns import Turn, consistent, learning
from perceptron_rs.common.weights import assert_finite_weights, assert_same_planes, start_value
from perceptron_rs.engines import Engine, Rows, State, get_engine
from perceptron_rs.errors import overflow
from perceptron_rs.float_mode import standard
from perceptron_rs.linear.fitting import (
    check_same_problem,
    learn,
    learn_stream,
    start_state,
)
from perceptron_rs.linear.parameters import LinearParameters
from perceptron_rs.linear.penalty import arrays_of
from perceptron_rs.models.exported import Exported
from perceptron_rs.models.saved import Saved
from perceptron_rs.stream.fit import Options
from perceptron_rs.stream.learner import StreamFit
from perceptron_rs.stream.run import Learner as StreamLearner
from perceptron_rs.typed import (
    CallbackSupportMixin,
    check_is_fitted,
    fit_context,
    with_callbacks,
)

__all__ = ["LinearLearner"]


class LinearLearner(
    LinearParameters, CallbackSupportMixin, OnlineClassifier, StreamFit, Exported, Saved, Owner
):
    """A linear classifier that one pass of an engine over examples makes better.

    A subclass gives its parameters (a dataclass), its rule (``_learner``, the engines' name of it), and its
    schema.
    """

    _learner: ClassVar[str]
    _lasting: ClassVar[tuple[str, ...]] = ()  # parameters that what has been learnt depends on
    _draws: ClassVar[bool] = False  # whether each call needs a seed, shuffled or not

    n_seen_: NDArray[np.int64]
    validation_scores_: NDArray[np.float64]

    if not TYPE_CHECKING:
        locals().update({name: Told(name) for name in OF_PASS})

    @property
    def coef_(self) -> Any:
        """Weights that predict."""
        return self._model.coef

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._start_from(coef=coef)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts that predict."""
        intercept: NDArray[np.float64] = self._model.intercept
        return intercept

    @intercept_.setter
    def intercept_(self, intercept: Any) -> None:
        self._start_from(intercept=intercept)

    def _start_from(self, **given: Any) -> None:
        """Start anew from what is shown and these weights instead, as a fit with ``coef_init`` does."""
        known, engine = vars(self).get("_model"), get_engine(self.engine)
        if known is not None:
            given, planes = {"coef": known.coef, "intercept": known.intercept} | given, known.shape[0]
        else:  # the others come next
            planes = (
                len(np.atleast_2d(dense(given["coef"]))) if "coef" in given else np.size(given["intercept"])
            )
        coef = np.atleast_2d(dense(given.get("coef", np.zeros((planes, 0)))))
        intercept = given.get("intercept", np.zeros(planes))
        started = self._start(
            engine,
            *coef.shape,
            coef=start_value(coef, "coef_", (planes, coef.shape[1])),
            intercept=start_value(intercept, "intercept_", (planes,)),
        )
        self._begin_anew(started)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the model to X and y, in epochs, until a stopping criterion is met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, int8, uint8,
            int16, uint16 or int32 are read in place; anything else is converted once.
        y : array-like of shape (n_samples,)
            Class labels: integers, booleans or strings, of at least two classes.
        coef_init : array-like of shape (n_classes, n_features) or (n_features,), default=None
            Initial weights. For two classes, one row or a vector. Counters start from 0, as they do without
            ``warm_start``.
        intercept_init : array-like of shape (n_classes,), (1,) or (), default=None
            Initial intercepts. For two classes, one number.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.
            Examples of weight 0 are ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, or if training overflows. The estimator
            then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If ``max_iter`` ended the fit before the stopping criterion was met, unless ``tol`` is None; or
            if Ctrl-C ended it.
        """
        with learning(self) as model:
            model._warn(model._fit(X, y, coef_init, intercept_init, sample_weight))
        return self

    @with_callbacks
    @standard()
    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> list[str]:
        self._check_parameters()
        engine = get_engine(self.engine)
        state = self._model_of(engine) if self.warm_start and hasattr(self, "classes_") else None
        X = as_array(X)
        goes_on = state is not None and (coef_init is None or intercept_init is None)
        data = examples(self, engine, X, reset=not goes_on)
        given = label_array(self, y, data.rows.shape[0])
        if state is not None and goes_on:
            classes, labels = self.classes_, encode_again(given, self.classes_)
            check_same_problem(self, state, classes)
        else:
            classes, labels = encode_new(given)
        if state is None or coef_init is not None or intercept_init is not None:
            state = start_state(self, classes, state, coef_init, intercept_init)
            self._n_epochs = 0
            begin_record(self)
        self.classes_ = classes
        task = FitTask(self, X, y, sample_weight)
        report = learn(
            self,
            engine,
            data,
            labels,
            sample_weight,
            state,
            task,
            early_stopping=bool(self.early_stopping),
            first_epoch=self._n_epochs,
            max_iter=int(self.max_iter),
            tol=None if self.tol is None else float(self.tol),
            shuffle=bool(self.shuffle),
            settle=True,
        )
        self._n_epochs += self.n_iter_
        task.end()
        return report.stopped

    @with_callbacks
    @standard()
    def _fit_stream(self, source: Any, classes: Any, options: Options) -> list[str]:
        self._check_parameters()
        return learn_stream(self, source, classes, options).stopped

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, sample_weight: Any = None, check_input: bool = True
    ) -> Self:
        """Make one pass over X and y in the given order, continuing from what was learnt before.

        Consecutive batches give the same model as one pass over all of them. The time for a few sparse
        examples grows with their entries, and not with the number of features. Arrays that the caller has
        read and still holds, such as ``coef_``, are never modified. Attributes that describe a fit
        (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...) refer to this call
        alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur in y. Required in the first call. Labels of the
            data say their type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.
        check_input : bool, default=True
            If False and the estimator is fitted, skip scikit-learn's validation. X must then be a
            C-contiguous array or a CSR matrix of one of the storage types, y an array of labels, and the
            parameters must be valid. The engine still checks shapes and types, and that numbers are finite.
            `Perceptron` and `AveragedPerceptron` then learn from an example within a few
            microseconds, if no class and no example has weight 0, and there is no ``callback``, no ``audit``
            and no ``verbose``.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, if y contains a class that is not in
            ``classes_``, or if training overflows. The estimator then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).
        """
        if not check_input and self._learn_unchecked(X, y, sample_weight):
            return self
        if check_input or not hasattr(self, "classes_"):
            self._partial_fit(X, y, classes, sample_weight)
            return self
        if not are_accepted(self):
            self._check_parameters(for_partial_fit=True)
        with Turn(self) as turn:
            engine = get_engine(self.engine)
            data = unchecked(self, engine, X)
            labels = encode(y, self.classes_)
            if labels.shape != (data.rows.shape[0],):
                labels = encode(label_array(self, y, data.rows.shape[0]), self.classes_)
            if self.audit:
                self._learn(turn, engine, data, labels, sample_weight)
            else:
                turn.twin()._learn_pass(engine, data, labels, sample_weight, first=False)
                turn.publish()
        return self

    def _learn_unchecked(self, X: Any, y: Any, sample_weight: Any) -> bool:  # noqa: ARG002
        """Learn in one call of the engine; False: that cannot be, and nothing has been learnt."""
        return False

    def _learn_pass(
        self,
        engine: Engine,
        data: Examples,
        labels: NDArray[np.uint32],
        sample_weight: Any,
        *,
        first: bool,
        track_activations: bool = False,
    ) -> Report:
        if first:
            state = start_state(self, self.classes_, None, None, None)
        else:
            state = self._model_of(engine)
            check_same_problem(self, state, self.classes_)
        return learn(
            self,
            engine,
            data,
            labels,
            sample_weight,
            state,
            first_epoch=0,
            max_iter=1,
            tol=None,
            shuffle=False,
            settle=False,
            track_activations=track_activations,
        )

    @consistent
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the activation w.x + b of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the activation of ``classes_[1]`` (of a joint decision, minus that of
            ``classes_[0]``). Otherwise, one column for each class. The bits do not depend on the storage of
            X, the batch or ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape or contains NaN or infinity, or if the weights were set to such values.
        """
        check_is_fitted(self, "classes_")  # without a name, all attributes are looked at
        with standard():
            check_terms(self)
            engine = get_engine(self.engine)
            data = examples(self, engine, X, reset=False)
            try:
                scores = self._judge(engine, data)
            except OverflowError as error:
                data.assert_finite(self)
                raise overflow(error) from None
            if not np.isfinite(scores).all():
                data.assert_finite(self)
                assert_finite_weights(coef_=dense(self.coef_), intercept_=self.intercept_)
        check_classes(self.classes_, scores.shape[1])
        return self._scores(scores)

    def _scores(self, activations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what ``decision_function`` shows of the activations (n, K)."""
        if activations.shape[1] == 1:
            return activations.reshape(-1)
        if len(self.classes_) == 2:  # a joint decision of two classes
            return activations[:, 1] - activations[:, 0]
        return activations

    def _judge(self, engine: Engine, data: Examples) -> NDArray[np.float64]:
        """Return what every example gets, (n, K)."""
        model, (n, columns) = self._model_of(engine), data.rows.shape
        if columns != model.shape[1]:
            assert_same_planes(columns, coef_=model.coef, intercept_=model.intercept)
        return self._scores_under(model, data.rows, n_threads(self, n))

    def _scores_under(self, model: Any, rows: Rows, threads: int) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = model.scores(rows, threads=threads)
        return scores

    @property
    @consistent
    def predictor_(self) -> dict[str, NDArray[Any]]:
        """What predicts."""
        return {"coef": dense(self.coef_), "intercept": self.intercept_}

    def _prediction_parameters(self) -> dict[str, Any]:
        return {"learner": self._learner, "tie": self.tie}

    def _prediction_arrays(self) -> State:
        return {f"{name}_": array for name, array in self.predictor_.items()}

    def _restored(self, arrays: State, document: dict[str, Any]) -> None:  # noqa: ARG002
        # An average is computed when it is first read: here, where an error can name the file.
        if not (np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()):
            raise ValueError(
                "its weights are so large that their average is not finite; save the model again"
            )

    @property
    def t_(self) -> int:
        """One more than the number of examples seen since the last cold start."""
        return int(self.n_seen_.max()) + 1

    def _own_settings(self, n_examples: int) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings of a fit that no other linear learner has."""
        return {}

    def _begin(self, engine: Engine, data: Examples, state: Any, seed: int | None) -> Any:  # noqa: ARG002
        """Return what the engine starts with, of the model that a call goes on from."""
        return state

    def _begin_stream(
        self,
        engine: Engine,  # noqa: ARG002
        model: Any,
        seed: int | None,  # noqa: ARG002
    ) -> tuple[StreamLearner, Any]:
        """Return what a run over a stream carries from block to block, and its first state."""
        return StreamLearner(), model.copy(told=False)

    def _start(self, engine: Engine, planes: int, columns: int, **numbers: Any) -> Any:
        """Return the model of a cold start; numbers that are not given are 0."""
        model = engine.Model(self._learner, planes, columns)
        if not numbers:
            return model
        state = model.state() | numbers
        for array in state.values():
            array.flags.writeable = False  # it is taken over where it stands
        return engine.Model.from_state(self._learner, state)

    def _arrays(self, state: Any) -> State:
        """Return the state as arrays, for runs over partitions."""
        return arrays_of(self, state)

    def _activations(self, engine: Engine, state: Any, rows: Rows) -> NDArray[np.float64]:
        """Return what every row gets in a state, (n, K)."""
        return self._scores_under(self._owned(engine, state), rows, n_threads(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
