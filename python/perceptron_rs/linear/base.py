"""What every linear learner shares: a fit in epochs, and what a learner may change of it."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from perceptron_rs.common.data import Examples, examples
from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode_new, label_array
from perceptron_rs.common.parameters import CONSTRAINTS, check_parameters, n_threads
from perceptron_rs.common.sklearn_callbacks import CallbackSupportMixin, FitTask, with_callbacks
from perceptron_rs.engines import Engine, Rows, State, get_engine
from perceptron_rs.linear.fitting import check_same_problem, learn, read_state, start_state
from perceptron_rs.linear.online import Online
from perceptron_rs.linear.penalty import forget_pending
from perceptron_rs.models.saved import Saved
from perceptron_rs.reference.arith.environment import standard

__all__ = ["LinearLearner"]


class LinearLearner(CallbackSupportMixin, Online, Saved, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier that one pass of an engine over examples makes better.

    A subclass gives its parameters (``__init__``), its rule (``_learner``, the engines' name of
    it) and where each number of the engines' state is kept on the estimator (``_stored``).
    """

    _learner: ClassVar[str]
    _stored: ClassVar[dict[str, str]]
    #: Other arrays that a fit leaves, for model files: kind of numbers and shape, as in models/layout.py.
    _kept: ClassVar[dict[str, tuple[Any, str]]] = {}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS
    _computed: ClassVar[tuple[str, ...]] = ()  # further attributes, that are properties
    _caches: ClassVar[tuple[str, ...]] = ()  # lists that are filled by a first reading, emptied by a pass
    _draws: ClassVar[bool] = False  # whether each call needs a seed, shuffled or not

    classes_: NDArray[Any]
    n_seen_: NDArray[np.int64]
    n_iter_: int
    _n_epochs: int  # run by ``fit`` since the last cold start: the next one's number

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from X and y in epochs, until the stopping rule ends it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, int8, uint8,
            int16, uint16 or int32 are read in place; anything else is converted once.
        y : array-like of shape (n_samples,)
            The class of each example: whole numbers, booleans or strings, at least two classes.
        coef_init : array-like of shape (n_classes, n_features) or (n_features,), default=None
            Weights to start from; one row, or one dimension, for two classes. Counters start
            again, as they do without ``warm_start``.
        intercept_init : array-like of shape (n_classes,), (1,) or (), default=None
            Intercepts to start from; a single one for two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor >= 0 of each example's step. An example of weight 0 is left out altogether.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a wrong shape, length or value, or if training overflows. The
            estimator is then as it was before the call.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If ``max_iter`` ended the fit, unless ``tol`` is None, or if Ctrl-C did.
        """
        with restored_on_error(self), standard():
            self._warn(self._fit(X, y, coef_init, intercept_init, sample_weight))
        return self

    # Inside restored_on_error: callbacks are torn down before an error takes away what they need.
    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> list[str]:
        self._check_parameters()
        engine = get_engine(self.engine)
        state = read_state(self) if self.warm_start and hasattr(self, "classes_") else None
        data = examples(self, engine, X, reset=True)
        classes, labels = encode_new(label_array(self, y, data.rows.shape[0]))
        if state is not None and (coef_init is None or intercept_init is None):
            check_same_problem(self, state, classes)
        if state is None or coef_init is not None or intercept_init is not None:
            state = start_state(self, classes, state, coef_init, intercept_init)
            self._n_epochs = 0
            forget_pending(self)
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
            (lambda part: examples(self, engine, _safe_indexing(X, part), reset=False))
            if self.early_stopping
            else None,
            first_epoch=self._n_epochs,
            max_iter=int(self.max_iter),
            tol=None if self.tol is None else float(self.tol),
            shuffle=bool(self.shuffle),
            settle=True,
        )
        self._n_epochs += self.n_iter_
        task.end()
        return report["stopped"]

    def _warn(self, stopped: list[str]) -> None:
        if self.tol is not None and "max_iter" in stopped:
            warnings.warn(
                f"max_iter={self.max_iter} epochs ended the fit before the stopping rule did; "
                f"raise max_iter, or set tol=None if the number of epochs is meant",
                ConvergenceWarning,
                stacklevel=4,
            )
        if "interrupt" in stopped:
            warnings.warn(
                f"ctrl-c ended the fit in epoch {self._n_epochs} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def t_(self) -> int:
        """One more than the number of examples seen since the last cold start."""
        return int(self.n_seen_.max()) + 1

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        """Raise ValueError for what scikit-learn's look at single parameters lets through."""
        check_parameters(self, for_partial_fit=for_partial_fit)

    def _begin(self, engine: Engine, data: Examples, state: State, seed: int | None) -> None:
        """Be told what a call of the engine starts with, for learners that need more than its state."""

    def _answer(
        self,
        engine: Engine,  # noqa: ARG002  for learners that compute their answer
        state: State,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights and intercepts that a state predicts with."""
        return state["coef"], state["intercept"]

    def _activations(self, engine: Engine, state: State, rows: Rows) -> NDArray[np.float64]:
        """Return what every row gets in a state, (n, K)."""
        return engine.scores(rows, *self._answer(engine, state), threads=n_threads(self))

    @classmethod
    def _check_kept(cls, tensors: dict[str, NDArray[Any]]) -> None:
        """Raise ValueError unless the arrays of ``_kept`` agree with each other."""

    def _publish(self, state: State) -> None:
        """Keep the numbers of the engine's state under the names of ``_stored``."""
        for name, attribute in self._stored.items():
            setattr(self, attribute, state[name])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
