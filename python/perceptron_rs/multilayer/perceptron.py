"""The multilayer perceptron as a scikit-learn estimator."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.engines import LearntModel, State
from perceptron_rs.errors import ArgumentError
from perceptron_rs.models.exporting import Exported
from perceptron_rs.models.saving import save
from perceptron_rs.multilayer.parameters import MultilayerPerceptronParameters
from perceptron_rs.multilayer.predictor import MULTILAYER, MultilayerPerceptronPredictor, n_outputs, sizes_of
from perceptron_rs.parameters.checks import shared_settings, validated
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.estimator import begin_anew
from perceptron_rs.prediction.scoring import Scoring
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.schema.schema import Schema
from perceptron_rs.settings import Network
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.turns import change, exclusive
from perceptron_rs.targets.weights import CallWeights, start_value
from perceptron_rs.training.feeders import InMemory
from perceptron_rs.training.train import Feeder, Trainable, train


class MultilayerPerceptron(
    MultilayerPerceptronParameters, Exported, Scoring, Trainable, MultilayerPerceptronPredictor
):
    """Multilayer perceptron, trained by plain stochastic gradient descent on the logistic loss.

    A single perceptron cannot learn exclusive or, because no line separates the two classes. One hidden
    layer with a nonlinear activation function is enough for that, and for any other continuous decision
    boundary. This estimator shows what one more layer adds, with the order and arithmetic of this package:
    the learnt weights are the same, to the last bit, for every storage type of X, machine and engine.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Number of neurons in each hidden layer, each at least 1. An empty sequence gives logistic
        regression.
    activation : {"logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers. The output layer uses the logistic function for two
        classes and softmax for more.
    alpha : float, default=0.0001
        Strength of the L2 penalty on the weights, in [0, inf).
    batch_size : int, default=1
        Number of examples in a batch, in [1, 2**31 - 1]. Each step uses the mean of their gradients.
    learning_rate_init : float, default=0.01
        Learning rate, in (0, inf). It stays the same in all epochs.
    max_iter : int, default=200
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    random_state : int, RandomState instance or None, default=0
        Seed of the initial weights and of the shuffling. An int in [0, 2**32 - 1] is used in every call.
        Otherwise, each ``fit`` and the first ``partial_fit`` draw their seed from the given generator, or
        from NumPy's global one if None.
    tol : float or None, default=0.0001
        Stopping criterion, in [0, inf). Training stops when the mean loss has not improved on the best loss
        by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. If None, only ``max_iter`` ends
        training.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights and number of epochs.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep the
        weights of the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops when its validation accuracy has not improved on the best one by at
        least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    n_iter_no_change : int, default=10
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, in the form ``{class_label: weight}``. Classes not listed have
        weight 1. The gradient and the loss of an example are multiplied by the weight of its class.
        "balanced" uses ``n_samples / (n_classes * np.bincount(y))`` and is available in ``fit`` only.
    n_jobs : int or None, default=None
        Number of threads that predict. None means 1, unless in a ``joblib.parallel_config`` context; -1
        means all processors. It does not change any bit of the results. ``fit`` uses one thread: each step
        needs the weights that the step before has left.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.

    Attributes
    ----------
    coefs_ : tuple of ndarray of shape (n_neurons of a layer, n_neurons of the next one), float64
        Weights of each layer, starting from the input. Setting them starts training anew from them.
    intercepts_ : tuple of ndarray of shape (n_neurons,), float64
        Intercepts of each layer, starting from the first after the input. Setting them starts training anew
        from them.
    calibration_ : object
        What ``calibrate`` has found, with ``method``, ``slope`` and ``intercept``. Only available after it.
    recipe_ : object
        How texts, dictionaries or unscaled numbers become columns. Only of a file that holds such a recipe.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_iter_ : int
        Number of epochs of the last ``fit``; 1 after ``partial_fit``.
    loss_ : float
        Mean loss of the last epoch.
    loss_curve_ : list of float
        Mean loss of each epoch of the last call, with the weights of the examples. The loss of each
        example is computed before the step of its batch.
    n_mistakes_ : int
        Number of mistakes in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1), int64
        Number of mistakes in each epoch of the last call. Each example is judged before the step of its
        batch.
    validation_scores_ : ndarray of shape (n_iter_, 1), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    converged_ : bool
        Whether the last epoch was whole and without a mistake. This alone does not end training.
    n_layers_ : int
        Number of layers, including input and output.
    n_outputs_ : int
        Number of output neurons: 1 for two classes, otherwise one for each class.
    out_activation_ : str
        "logistic" or "softmax".
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. ``coef_0``, ``intercept_0``
        and so on, with a row of weights for each neuron.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during ``fit``. Only available if X has feature names that are all
        strings.

    Raises
    ------
    ValueError
        Raised by ``fit`` if a parameter is out of range or the input contains invalid values.

    See Also
    --------
    Perceptron : A single layer, trained on mistakes.

    Notes
    -----
    Parameters that mean the same as in `sklearn.neural_network.MLPClassifier` have the same names. The
    defaults of ``batch_size``, ``learning_rate_init`` and ``random_state`` differ, there is no momentum,
    and the reported loss does not include the penalty. Rows of sparse data are made dense one at a time
    during training.

    References
    ----------
    .. [1] D. E. Rumelhart, G. E. Hinton, R. J. Williams, "Learning representations by back-propagating
       errors", Nature 323, 1986, pages 533-536.
    .. [2] X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", AISTATS 2010, equation 16.

    Examples
    --------
    >>> from perceptron_rs import MultilayerPerceptron, Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> Perceptron(tol=None, max_iter=100).fit(X, y).score(X, y) < 1
    True
    >>> model = MultilayerPerceptron((4,), activation="tanh", learning_rate_init=0.1, max_iter=2000, tol=None)
    >>> model.fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    _schema: ClassVar[Schema] = MULTILAYER
    _until_clean: ClassVar[bool] = False

    _fixed: ClassVar[tuple[str, ...]] = ("hidden_layer_sizes", "activation")
    _rate: ClassVar[str] = "learning_rate_init"
    _is_softmax: ClassVar[bool] = True
    _observer = None  # it has no callback

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, *, sample_weight: ArrayLike = None) -> Self:
        """Fit the model to X and y, in epochs, until the loss no longer improves.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Class labels: integers, booleans or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. The gradient and the loss of an example are multiplied by its
            weight. Examples of weight 0 are ignored.

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
            If ``max_iter`` ended the fit before the stopping criterion was met, unless ``tol`` is None.
        """
        train(self, InMemory("fit", X, y, sample_weight))
        return self

    @validated
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike = None, *, sample_weight: ArrayLike = None
    ) -> Self:
        """Make one pass over X and y in the given order, continuing from what was learnt before.

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
            Weights of the examples, at least 0. The gradient and the loss of an example are multiplied by its
            weight. Examples of weight 0 are ignored.

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
        train(self, InMemory("partial_fit", X, y, sample_weight, classes=classes))
        return self

    @property
    def coefs_(self) -> tuple[NDArray[np.float64], ...]:
        """Weights of each layer."""
        model = self._model
        return tuple(model[f"coef_{layer}"].T for layer in range(len(model.keys()) // 2))

    @coefs_.setter
    def coefs_(self, coefs: object) -> None:
        self._start_from(coefs=coefs)

    @property
    def intercepts_(self) -> tuple[NDArray[np.float64], ...]:
        """Intercepts of each layer."""
        model = self._model
        return tuple(model[f"intercept_{layer}"] for layer in range(len(model.keys()) // 2))

    @intercepts_.setter
    def intercepts_(self, intercepts: object) -> None:
        self._start_from(intercepts=intercepts)

    save = save

    @exclusive
    def _start_from(self, **arrays: Any) -> None:
        """Start anew from what is shown and these layers instead."""
        state: dict[str, NDArray[np.float64]] = {}
        shown = {"coefs": self.coefs_, "intercepts": self.intercepts_}
        for name, layers in arrays.items():
            if len(layers) != len(shown[name]):
                raise ValueError(
                    f"{name}_ must hold an array for each of {len(shown[name])} layers, got {len(layers)}"
                )
        for layer in range(len(shown["coefs"])):
            for name, known in shown.items():
                numbers = arrays.get(name, known)[layer]
                value = start_value(numbers, f"{name}_[{layer}]", known[layer].shape)
                state[f"{name[:-1]}_{layer}"] = value.T
        begin_anew(self, state)

    def _prediction_parameters(self) -> dict[str, object]:
        return {"learner": "multilayer", "activation": self.activation}

    def _restored(self, arrays: State, document: dict[str, object]) -> None:  # noqa: ARG002
        self._name_layers()
        change(self, loss=self.loss_curve_[-1])

    def _name_layers(self) -> None:
        """Set what classes and parameters say of the layers."""
        n = n_outputs(self.classes_)
        activation = "logistic" if n == 1 else "softmax"
        change(self, n_outputs=n, out_activation=activation, n_layers=len(sizes_of(self)) + 2)

    def _start(self, feeder: Feeder) -> LearntModel:
        """Return the layers to go on from, or layers of random weights."""
        if feeder.goes_on:
            return self._model_of(feeder.engine)
        self._name_layers()
        drawn = feeder.engine.mlp_start(
            self.n_features_in_, sizes_of(self), self.n_outputs_, activation=self.activation, seed=feeder.seed
        )
        return self._owned(feeder.engine, drawn)

    def _settings(self, feeder: Feeder) -> Network:
        seed = None if feeder.is_pass else feeder.seed
        return Network(
            **shared_settings(self, Network)
            | {
                "rate": float(self.learning_rate_init),
                "seed": seed if feeder.shuffles else None,
                "keep_on_interrupt": bool(self.keep_on_interrupt) and not feeder.is_pass,
            }
        )

    def _weigh(self, feeder: Feeder, sample: NDArray[np.float64] | None) -> CallWeights:
        """Return the weight of each example times that of its class."""
        if sample is None and self.class_weight is None:
            return CallWeights(None, np.ones((n_outputs(feeder.classes), 2)), None)
        weighed = super()._weigh(feeder, sample)
        planes, of_examples = weighed.planes, 1.0 if sample is None else sample
        of_classes = planes[0] if len(planes) == 1 else planes[:, 1]
        with np.errstate(over="ignore", under="ignore"):
            together: NDArray[np.float64] = of_classes[feeder.labels] * of_examples
            total = np.add.accumulate(together)[-1]
        if not total < math.inf:
            raise ArgumentError("{weights} are too large together", "scale them")
        return replace(weighed, sample=together)

    def _activations(self, feeder: Feeder, state: Any, examples: ValidatedRows) -> NDArray[np.float64]:
        return self._outputs(feeder.engine, examples.rows, state.state(), n_threads(self))

    def _reported(self, feeder: Feeder) -> dict[str, Any]:
        report = feeder.report
        if not len(report.losses):
            raise KeyboardInterrupt  # nothing was learnt that could be kept
        losses = report.losses[:, 0].tolist()
        return {
            "loss_curve": losses,
            "loss": losses[-1],
            "n_iter": len(losses),
            "mistakes_per_epoch": report.mistakes,
            "n_mistakes": int(report.mistakes.sum()),
            "converged": report.stopped != ["interrupt"] and bool(report.mistakes[-1, 0] == 0),
        }

    def _exports(self) -> ModuleType:
        from perceptron_rs.multilayer import exports

        return exports
