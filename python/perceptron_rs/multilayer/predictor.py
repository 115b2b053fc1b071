"""What a multilayer perceptron predicts with, and how."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.choices import Activation
from perceptron_rs.common.prediction.predictor import Classifier
from perceptron_rs.common.schema import History, Schema
from perceptron_rs.common.targets.planes import check_classes
from perceptron_rs.common.threads import n_threads
from perceptron_rs.common.turns import consistent
from perceptron_rs.engines import State, get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.multilayer.schema import MULTILAYER

__all__ = ["MultilayerPerceptronPredictor"]


class MultilayerPerceptronPredictor(Classifier):
    """Layers of neurons."""

    activation: Activation
    _schema: ClassVar[Schema] = MULTILAYER

    @consistent
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
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

    @consistent
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
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

    def _outputs(self, X: MatrixLike, *, probabilities: bool) -> NDArray[np.float64]:
        with standard():
            self._assert_ready()
            engine = get_engine(self.engine)
            data = self._examples(engine, X)
            out = engine.mlp_scores(
                data.rows,
                self._model.state(),
                activation=self.activation,
                probabilities=probabilities,
                threads=n_threads(self, data.rows.shape[0]),
            )
            if not np.isfinite(out).all():
                data.assert_finite(self)
                raise ValueError(
                    "an activation of the network is not finite; scale the features as in the fit"
                )
        check_classes(self.classes_, out.shape[1])
        return out

    @property
    def predictor_(self) -> dict[str, NDArray[np.float64]]:
        """What predicts: the weights of each layer, a row for each neuron, and its intercepts."""
        state: dict[str, NDArray[np.float64]] = self._model.state()
        return state

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        if history["n_iter"] < 1:
            raise ValueError("the history must hold an epoch or more")
