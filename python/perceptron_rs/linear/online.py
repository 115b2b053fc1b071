"""Learning in passes: from batch to batch, or one example after another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.data import Examples, examples, unchecked
from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode, label_array, new_classes
from perceptron_rs.common.validated import are_accepted, validated
from perceptron_rs.engines import Engine, Report, State, get_engine
from perceptron_rs.linear.few_rows import learn_few
from perceptron_rs.linear.fitting import check_same_problem, learn, read_state, start_state
from perceptron_rs.linear.predicting import Predicting
from perceptron_rs.reference.arith.environment import standard

__all__ = ["Online"]


class Online(Predicting):
    """The methods ``partial_fit`` and ``predict_then_learn``."""

    _n_epochs: int
    _check_parameters: Any

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, check_input: bool = True
    ) -> Self:
        """Learn from one pass over X and y in the given order, going on from what was learnt before.

        Batches one after another give what one pass over all of them gives. The attributes that
        report a fit (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...)
        describe this call alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            The class of each example.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever be seen; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor >= 0 of each example's step.
        check_input : bool, default=True
            With False, scikit-learn's validation is left out on a fitted estimator: X is a C-contiguous
            array or a CSR matrix of one of the storage types, y an array of labels, and the
            parameters are valid. The engine still checks shapes, types, and that numbers are finite.
            Up to 16 examples then take a few microseconds, if there are no weights of examples or
            classes, no penalty, ``callback``, ``verbose`` or ``track_mistakes``, and the learner is
            `Perceptron` or `AveragedPerceptron`. An attribute whose bits do not change, such as
            ``coef_`` after an example that is right, stays the same array; otherwise it is a new
            one, and arrays that were read before are never written to.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a wrong shape, length or value, if y holds a class that is not in
            ``classes_``, or if training overflows. The estimator is then as it was before.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings).
        """
        if check_input or not hasattr(self, "classes_"):
            return self._partial_fit(X, y, classes, sample_weight)
        if sample_weight is None and learn_few(self, X, y):
            return self
        with restored_on_error(self):
            engine = get_engine(self.engine)
            labels = encode(y, self.classes_)
            self._one_pass(engine, unchecked(engine, X), labels, sample_weight, read_state(self))
        return self

    @validated
    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        self._pass(X, y, classes, sample_weight)
        return self

    @validated
    def predict_then_learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], int]:
        """Predict each example before learning from it: progressive validation.

        One pass in the given order, which learns what ``partial_fit`` learns from it. Each example is
        predicted by the last weights that the examples before it have led to, in every learner (an
        averaged one too: these are the weights that its mistakes are judged by).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            The class of each example.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever be seen; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor above 0 of each example's step.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The class predicted for each example.
        n_errors : int
            How many of them are wrong.

        Raises
        ------
        ValueError
            As ``partial_fit``; also if an example has the weight 0, for it is not visited.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings).

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
        activations, labels = self._pass(X, y, classes, sample_weight, record=True)
        index = self._decide(activations)
        return self.classes_[index], int(np.count_nonzero(index != labels))

    def _pass(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, record: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Run one pass; return the activations of the examples, if recorded, and their class indices."""
        with restored_on_error(self), standard():
            if not are_accepted(self):
                self._check_parameters(for_partial_fit=True)
            engine = get_engine(self.engine)
            first = not hasattr(self, "classes_")
            given = new_classes(classes, self)
            data = examples(self, engine, X, reset=first)
            y = label_array(self, y, data.rows.shape[0])
            if first:
                self.classes_ = given
                self._n_epochs = 0
                state = start_state(self, given, None, None, None)
            else:
                state = read_state(self)
                check_same_problem(self, state, self.classes_)
            labels = encode(y, self.classes_)
            report = self._one_pass(engine, data, labels, sample_weight, state, record=record)
            activations = report["activations"]
            if activations is None:
                return np.zeros((0, 1)), labels
            if np.isnan(activations).any():
                raise ValueError(
                    "sample_weight and class_weight must be above 0 here: an example of weight 0 is not "
                    "visited; use predict and partial_fit"
                )
        return activations, labels

    def _one_pass(
        self,
        engine: Engine,
        data: Examples,
        labels: NDArray[np.uint32],
        sample_weight: Any,
        state: State,
        *,
        record: bool = False,
    ) -> Report:
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
            record=record,
        )
