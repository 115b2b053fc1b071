"""The parameters of `multilayer` learners. Nothing that takes time may be imported here."""

from dataclasses import dataclass, field
from typing import Any

from perceptron_rs.choices import Activation, ClassWeight, words
from perceptron_rs.parameters import groups, kinds
from perceptron_rs.parameters.groups import EpochParameters, allowed, parameter
from perceptron_rs.parameters.ranges import LARGEST, Choice, Other, Range

_SIZES = Range(1, LARGEST, whole=True, many=1)


@dataclass(kw_only=True, eq=False, repr=False)
class MultilayerPerceptronParameters(EpochParameters):
    """Of `MultilayerPerceptron`.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads that predict. None means 1, unless in a ``joblib.parallel_config`` context; -1
        means all processors. It does not change any bit of the results. ``fit`` uses one thread: each step
        needs the weights that the step before has left.
    random_state : int, RandomState instance or None
        Seed of the initial weights and of the shuffling. An int in [0, 2**32 - 1] is used in every call.
        Otherwise, each ``fit`` and the first ``partial_fit`` draw their seed from the given generator, or
        from NumPy's global one if None.
    early_stopping : bool
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep the
        weights of the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops when its validation accuracy has not improved on the best one by at
        least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    warm_start : bool
        Whether ``fit`` continues from the previous call, with its weights and number of epochs.
    hidden_layer_sizes : int or sequence of int
        Number of neurons in each hidden layer, each at least 1. An empty sequence gives logistic
        regression.
    activation : {"logistic", "tanh", "relu"}
        Activation function of the hidden layers. The output layer uses the logistic function for two
        classes and softmax for more.
    alpha : float
        Strength of the L2 penalty on the weights, in [0, inf).
    batch_size : int
        Number of examples in a batch, in [1, 2**31 - 1]. Each step uses the mean of their gradients.
    learning_rate_init : float
        Learning rate, in (0, inf). It stays the same in all epochs.
    class_weight : dict, "balanced" or None
        Weights of the classes, at least 0, in the form ``{class_label: weight}``. Classes not listed have
        weight 1. The gradient and the loss of an example are multiplied by the weight of its class.
        "balanced" uses ``n_samples / (n_classes * np.bincount(y))`` and is available in ``fit`` only.
    tol : float or None
        Stopping criterion, in [0, inf). Training stops when the mean loss has not improved on the best loss
        by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. If None, only ``max_iter`` ends
        training.
    """

    hidden_layer_sizes: Any = field(
        default=(100,),
        metadata=allowed(
            Other(_SIZES.constraint, {"type": kinds.sizes, "metavar": "N"}, _SIZES.accepts),
            "neurons in each hidden layer, such as 100 or 50,20",
        ),
        kw_only=False,
    )
    activation: Activation = parameter(
        "relu", Choice(words(Activation)), "activation function of the hidden layers"
    )
    alpha: float = parameter(0.0001, kinds.AMOUNT, "strength of the L2 penalty")
    batch_size: int = parameter(1, kinds.POSITIVE, "examples per gradient step")
    learning_rate_init: float = parameter(0.01, kinds.RATE, "learning rate")
    class_weight: ClassWeight | None = field(default=None, metadata=groups.CLASS_WEIGHT)
    max_iter: int = field(default=200, metadata=groups.MAX_ITER)
    tol: float | None = field(default=1e-4, metadata=groups.TOL)
    n_iter_no_change: int = field(default=10, metadata=groups.N_ITER_NO_CHANGE)
