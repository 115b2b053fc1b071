"""What fitted weights say of examples: activations and classes."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.common.data import examples
from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.parameters import n_threads
from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.common.weights import assert_finite_weights
from perceptron_rs.engines import Engine, Rows, get_engine
from perceptron_rs.float_mode import standard

__all__ = ["Predicting"]


class Predicting:
    """The methods ``decision_function`` and ``predict``."""

    engine: str
    tie: str
    classes_: NDArray[Any]
    coef_: Any
    intercept_: Any

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the activation w.x + b of every example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the activation for ``classes_[1]`` (of a joint decision, by how much it
            exceeds that for ``classes_[0]``); otherwise one column a class. The
            bits depend neither on the storage of X, nor on the batch, nor on ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape or holds a NaN or an infinity, or if weights were set to such.
        """
        check_is_fitted(self)
        with standard():
            engine = get_engine(self.engine)
            data = examples(self, engine, X, reset=False)
            try:
                scores = self._judge(engine, data.rows)
            except OverflowError as error:
                data.assert_finite(self)
                raise ValueError(str(error)) from None
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

    def _decide(self, activations: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class that the activations (n, K) speak for."""
        if activations.shape[1] > 1:
            return cast("NDArray[np.intp]", np.argmax(activations, axis=1))
        return (activations[:, 0] >= 0 if self.tie == "positive" else activations[:, 0] > 0).astype(np.intp)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes ``classes_[1]`` where the activation is positive (or 0, under
            ``tie="positive"``); otherwise the class of the largest activation, the first of equals.
        """
        scores = self.decision_function(X)
        index = self._decide(scores.reshape(-1, 1) if scores.ndim == 1 else scores)
        return self.classes_[index]

    def _judge(self, engine: Engine, rows: Rows) -> NDArray[np.float64]:
        """Return what every row gets, (n, K)."""
        coef = np.ascontiguousarray(dense(self.coef_), dtype=np.float64)
        intercept = np.ascontiguousarray(self.intercept_, dtype=np.float64)
        return engine.scores(rows, coef, intercept, threads=n_threads(self))
