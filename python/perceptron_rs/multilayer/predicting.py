"""What a network says of examples: activations, classes and probabilities."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.rows.examples import examples
from perceptron_rs.engines import get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.multilayer.network import layers

__all__ = ["MultilayerPredicting"]


class MultilayerPredicting:
    """The methods ``decision_function``, ``predict`` and ``predict_proba``."""

    activation: str
    engine: str
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the activations of the output neurons.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the activation of ``classes_[1]``. Otherwise, one column for each class.
        """
        z = self._outputs(X, probabilities=False)
        return z.reshape(-1) if z.shape[1] == 1 else z

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes, ``classes_[1]`` if the activation is positive. Otherwise, the class with the
            largest activation; in a tie, the first one.
        """
        z = self.decision_function(X)
        index = (z > 0).astype(np.intp) if z.ndim == 1 else np.argmax(z, axis=1)
        return cast("NDArray[Any]", self.classes_[index])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class, in the order of ``classes_``.
        """
        p = self._outputs(X, probabilities=True)
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p

    def _outputs(self, X: Any, *, probabilities: bool) -> NDArray[np.float64]:
        check_is_fitted(self)
        with standard():
            engine = get_engine(self.engine)
            data = examples(self, engine, X, reset=False)
            out = engine.mlp_scores(
                data.rows, *layers(self), activation=self.activation, probabilities=probabilities
            )
            if not np.isfinite(out).all():
                data.assert_finite(self)
                raise ValueError(
                    "an activation of the network is not finite; scale the features as in the fit"
                )
        check_classes(self.classes_, out.shape[1])
        return out
