"""What classifiers that learn in epochs share: a pass in the given order, and predictions made on the way."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import begin_record
from perceptron_rs.common.driver import Report
from perceptron_rs.common.labels import classes_like, encode, label_array, new_classes
from perceptron_rs.common.options.groups import MistakeParameters
from perceptron_rs.common.parameters import are_valid, check_parameters, validated
from perceptron_rs.common.rows.examples import Examples, examples
from perceptron_rs.common.scoring import Scoring
from perceptron_rs.common.turns import Turn, consistent
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.float_mode import standard
from perceptron_rs.typed import ConvergenceWarning

__all__ = ["OnlineClassifier"]


class OnlineClassifier(MistakeParameters, Scoring):
    """A classifier that a pass over examples makes better; a subclass gives `_learn_pass`."""

    classes_: NDArray[Any]
    n_iter_: int
    n_iter_per_class_: NDArray[np.int64]
    n_mistakes_: int
    mistakes_per_epoch_: NDArray[np.int64]
    mistakes_per_example_: NDArray[np.int64]
    converged_: bool
    loss_curve_: list[float]
    _n_epochs: int  # run by ``fit`` since the last cold start: the next one's number

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each example."""

    @consistent
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes, ``classes_[1]`` if the score of ``decision_function`` is positive (or 0, with
            ``tie="positive"``). Otherwise, the class with the largest score; in a tie, the first one.
        """
        scores = self.decision_function(X)
        return self.classes_[self._decide(scores.reshape(len(scores), -1))]

    @validated
    def predict_then_learn(
        self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], int]:
        """Predict each example before learning from it (progressive validation).

        Makes one pass in the given order and learns the same as ``partial_fit``. Each example is predicted
        with the current weights, learnt from the examples before it. Learners that predict with others,
        such as an average or a vote, use the current weights too, because these decide which examples are
        mistakes.

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
            Weights of the examples, above 0. An update is multiplied by the weight of its example.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted classes.
        n_errors : int
            Number of wrong predictions.

        Raises
        ------
        ValueError
            As for ``partial_fit``; also if an example has weight 0, because it is not visited.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from perceptron_rs import Perceptron
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Perceptron()
        >>> predicted, errors = model.predict_then_learn(X[::3], y[::3], classes=[0, 1, 2])
        >>> errors
        2
        """
        activations, labels, known = self._pass(X, y, classes, sample_weight, track_activations=True)
        index = self._decide(activations)
        return known[index], int(np.count_nonzero(index != labels))

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class that the scores (n, 1) or (n, K) speak for."""
        if scores.shape[1] > 1:
            return cast("NDArray[np.intp]", np.argmax(scores, axis=1))
        return (scores[:, 0] >= 0 if self.tie == "positive" else scores[:, 0] > 0).astype(np.intp)

    @validated
    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self._pass(X, y, classes, sample_weight)

    def _pass(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, track_activations: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[Any]]:
        """Run one pass; return activations, if they are tracked, class indices, and the classes."""
        with Turn(self) as turn, standard():
            first = not hasattr(self, "classes_")
            model = turn.twin() if first else self
            engine = get_engine(self.engine)
            given = new_classes(classes, model)
            data = examples(model, engine, X, reset=first)
            y = label_array(model, y, data.rows.shape[0])
            if first:
                model.classes_ = classes_like(given, y)
                model._n_epochs = 0
                begin_record(model)
            known = model.classes_
            labels = encode(y, known)
            activations = self._learn(
                turn, engine, data, labels, sample_weight, first=first, track_activations=track_activations
            )
        return activations, labels, known

    def _learn(
        self,
        turn: Turn,
        engine: Engine,
        data: Examples,
        labels: NDArray[np.uint32],
        sample_weight: Any,
        *,
        first: bool = False,
        track_activations: bool = False,
    ) -> NDArray[np.float64]:
        """Learn in one call of the engine if that can be, else in a run; return activations, if tracked."""
        # Not on a twin: as long as that has the arrays, too, the engine cannot learn where they stand.
        model = turn.twin() if first else self
        activations: NDArray[np.float64] | None = model._learn_quickly(
            data, labels, sample_weight, track_activations, first
        )
        if activations is not None:
            if first:
                turn.publish()
            return activations
        report = turn.twin()._learn_pass(
            engine, data, labels, sample_weight, first=first, track_activations=track_activations
        )
        found = np.zeros((0, 1)) if report.activations is None else report.activations
        if np.isnan(found).any():
            raise ArgumentError(
                "{weights} must be above 0, because examples of weight 0 are not visited",
                "use {predict} and {partial_fit} instead",
                cause="weightless",
            )
        turn.publish()
        return found

    def _learn_quickly(
        self,
        data: Examples,  # noqa: ARG002  for learners that have a quick way
        labels: NDArray[np.uint32],  # noqa: ARG002
        sample_weight: Any,  # noqa: ARG002
        track_activations: bool,  # noqa: ARG002
        first: bool = False,  # noqa: ARG002
    ) -> NDArray[np.float64] | None:
        """Learn in one call of the engine and return the activations, or learn nothing and return None."""
        return None

    @abstractmethod
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
        """Learn from one pass in the given order; ``first`` if nothing has been learnt before."""

    def _validate_params(self) -> None:
        # Called by scikit-learn before each ``fit``: a third of the time of a fit to few examples.
        if not are_valid(self):
            super()._validate_params()  # type: ignore[misc]  # BaseEstimator is beside this class

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        """Raise ValueError for what scikit-learn's look at single parameters lets through."""
        check_parameters(self, for_partial_fit=for_partial_fit)

    def _warn(self, stopped: list[str]) -> None:
        """Warn, on behalf of the caller of ``fit``, of a fit that did not end by its stopping rule."""
        if self.tol is not None and "max_iter" in stopped:
            warnings.warn(
                f"the fit reached max_iter={self.max_iter} epochs before the stopping criterion; raise "
                "max_iter, or set tol=None to use a fixed number of epochs",
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
