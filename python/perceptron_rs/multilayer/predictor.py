"""What a multilayer perceptron has learnt, and how it predicts with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.scalars import number
from perceptron_rs.choices import Activation
from perceptron_rs.engines import Engine, Rows, State
from perceptron_rs.parameters.ranges import LARGEST
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import Classifier, calibrated, judged, scores_of
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.schema.schema import EPOCHS, RUN_COUNTS, Array, History, Schema
from perceptron_rs.state.fitted_attributes import Shown
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import consistent

if TYPE_CHECKING:
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron


def sizes_of(model: MultilayerPerceptron) -> tuple[int, ...]:
    """Return the number of neurons of each hidden layer."""
    layers = model.hidden_layer_sizes
    sizes = [layers] if number(layers, whole=True) is not None else list(layers)
    if not all(1 <= (number(size, whole=True) or 0) <= LARGEST for size in sizes):
        raise ValueError(f"hidden_layer_sizes must be whole numbers of at least 1, got {layers!r:.80}")
    return tuple(int(size) for size in sizes)


def n_outputs(classes: NDArray[np.generic]) -> int:
    """Return the number of output neurons."""
    return 1 if len(classes) == 2 else len(classes)


def _layers(model: MultilayerPerceptron) -> Iterator[Array]:
    """Give the weights and intercepts of each layer: as many as the parameters and classes say."""
    inputs: str | int = "d"
    for layer, outputs in enumerate((*sizes_of(model), n_outputs(model.classes_))):
        yield Array(f"coef_{layer}", (outputs, inputs))
        yield Array(f"intercept_{layer}", (outputs,))
        inputs = outputs


_REPORTS = {array.name: array for array in EPOCHS}

MULTILAYER = Schema(
    "multilayer",
    (
        _layers,
        replace(_REPORTS["mistakes_per_epoch"], axes=("E", 1)),
        replace(_REPORTS["validation_scores"], axes=("E", 1)),
        replace(_REPORTS["loss_curve"], needed=True, reported=True),
    ),
    RUN_COUNTS,
    engine_name="network",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkLearnt(RunLearnt):
    """What a network has beside its layers."""

    loss: float | None = None
    n_outputs: int | None = None
    out_activation: str | None = None
    n_layers: int | None = None


class MultilayerPerceptronPredictor(Classifier):
    """Layers of neurons."""

    activation: Activation
    _learnt: NetworkLearnt = NetworkLearnt()
    loss_ = Shown[float]("loss")
    n_outputs_ = Shown[int]("n_outputs")
    out_activation_ = Shown[str]("out_activation")
    n_layers_ = Shown[int]("n_layers")
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
        return scores_of(self, X)

    @consistent
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the probability of each class: what the output neurons say, or ``calibrate`` has found.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class, in the order of ``classes_``.
        """
        if self._learnt.calibration is not None:
            return calibrated(self, X)
        p = judged(self, X, partial(self._judge, probabilities=True))
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p

    def _judge(
        self, engine: Engine, data: ValidatedRows, *, probabilities: bool = False
    ) -> NDArray[np.float64]:
        threads = n_threads(self, data.rows.shape[0])
        return self._outputs(engine, data.rows, self._model.state(), threads, probabilities=probabilities)

    def _outputs(
        self, engine: Engine, rows: Rows, state: State, threads: int, *, probabilities: bool = False
    ) -> NDArray[np.float64]:
        """Return what the output neurons give for these layers."""
        options: dict[str, Any] = {"activation": str.__str__(self.activation), "probabilities": probabilities}
        return engine.mlp_scores(rows, state, **options, threads=threads)

    def _assert_finite_weights(self) -> None:
        raise ValueError("an activation of the network is not finite; scale the features as in the fit")

    @property
    def predictor_(self) -> State:
        """What predicts: the weights of each layer, a row for each neuron, and its intercepts."""
        return self._model.state()

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        if history["n_iter"] < 1:
            raise ValueError("the history must hold an epoch or more")
