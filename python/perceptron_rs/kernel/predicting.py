"""What the vectors of the kernel perceptron say of examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.common.data import examples
from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.parameters import check_parameters
from perceptron_rs.engines import State, get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.kernel.answers import answers
from perceptron_rs.kernel.terms import check_terms
from perceptron_rs.kernel.values import check_kernel
from perceptron_rs.kernel.vectors import counts_of

__all__ = ["KernelPredicting"]


class KernelPredicting:
    """The methods ``decision_function`` and ``predict``."""

    kernel: Any
    tie: str
    engine: str
    classes_: NDArray[Any]
    n_seen_: NDArray[np.int64]
    _vectors: State
    _answer: Any  # what predicts, as the engines call it: a method of each learner

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the normalized vote on each example, or the activation of the vector that predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples; with ``kernel="precomputed"``, their kernel values with all training examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With ``prediction="vote"``, the votes for minus the votes against, divided by their number, in
            [-1, 1]; in a joint decision, the votes for each class, divided by their number. Otherwise, the
            activation, divided by the norm of its vector if ``normalize=True``. For two classes, the score
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
        check_is_fitted(self)
        with standard():
            self._check_parameters()
            check_terms(self)
            engine = get_engine(self.engine)
            data = examples(self, engine, X, reset=False)
            data.assert_finite(self)
            answer = self._answer()
            scores = answers(self, engine, data, answer)
            if answer in ("vote", "joint vote"):
                number = np.array([count.sum() for count in counts_of(self._vectors, self.n_seen_)])
                scores = scores / np.maximum(number, 1)
            check_classes(self.classes_, scores.shape[1])
            if scores.shape[1] == 1:
                return scores.reshape(-1)
            if len(self.classes_) == 2:  # a joint decision of two classes
                difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
                return difference
            return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes, ``classes_[1]`` if the score is positive (or 0, with ``tie="positive"``).
            Otherwise, the class with the largest score; in a tie, the first one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            index = (scores >= 0 if self.tie == "positive" else scores > 0).astype(np.intp)
        else:
            index = np.argmax(scores, axis=1)
        return self.classes_[index]

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        check_parameters(self, for_partial_fit=for_partial_fit)
        check_kernel(self)
