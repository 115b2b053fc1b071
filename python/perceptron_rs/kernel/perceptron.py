"""The kernel perceptron as a scikit-learn estimator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine, LearntModel, RunState, State
from perceptron_rs.kernel.base import KernelLearner
from perceptron_rs.kernel.parameters import KernelPerceptronParameters
from perceptron_rs.kernel.predictor import (
    KERNEL,
    KERNEL_PREDICTIONS,
    KernelPerceptronPredictor,
    rows_of_callable,
)
from perceptron_rs.kernel.vectors import extended_log
from perceptron_rs.prediction.predictor import LearntAttribute
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import matrix_of
from perceptron_rs.schema.mistake_log import survival_counts
from perceptron_rs.schema.schema import Schema
from perceptron_rs.settings import Kernel
from perceptron_rs.state.turns import consistent
from perceptron_rs.training.train import Feeder

_MEGABYTE = 1 << 20


class KernelPerceptron(KernelPerceptronParameters, KernelLearner, KernelPerceptronPredictor):
    r"""Kernel perceptron: the perceptron in the feature space of a kernel.

    The model is the log of its mistakes: each mistake on an example :math:`x_k`, with the step :math:`c_k`,
    adds :math:`c_k K(x_k, x)` to the activation of every x. With the polynomial kernel of degree d, this is
    a perceptron on all products of d features, which are never computed [1]_. With more than two classes,
    each class is learnt against the rest, or all of them jointly.

    All kinds of prediction use the same fit, so ``prediction`` and ``normalize`` can be changed afterwards:
    the vote of all vectors of the run, their average, the last vector, or one drawn at random [2]_.

    Most of the time of a fit goes into the kernel values of all examples with each misclassified one. Most
    of the time of a prediction goes into the kernel values of its examples with all misclassified ones.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel :math:`K(x, z)`. "linear": :math:`x \cdot z`. "poly": :math:`(\gamma x \cdot z + r)^d`.
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`. "sigmoid": :math:`\tanh(\gamma x \cdot z + r)`.
        "precomputed": X is the matrix of kernel values of each example with each training example. A
        callable takes two matrices of examples and returns the kernel values of each row of the first with
        each row of the second. During a fit, a call asks for the values of all examples with one
        misclassified example. They are asked for again only if ``cache_size`` is too small to keep them. It
        must return the same values each time.
    degree : int, default=3
        Degree d of the "poly" kernel, from 1 to 100. Ignored by other kernels.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient :math:`\gamma` of "poly", "rbf" and "sigmoid", in (0, inf). "scale" is
        ``1 / (n_features * X.var())``, or 1 if the variance is 0; "auto" is ``1 / n_features``.
        ``partial_fit`` and a warm start keep the first value.
    coef0 : float, default=0.0
        Constant term r of "poly" and "sigmoid", finite. Ignored by other kernels.
    prediction : {"vote", "average", "last", "random"}, default="vote"
        How to predict. "vote": all vectors vote, each with its survival count; in a joint decision, each
        votes for the class with its largest activation, or for none if several have it. "average": with the
        average of the vectors over the examples. "last": with the last vector. "random": with one vector for
        each class, drawn when the estimator is fitted, with a probability proportional to its survival count.
    normalize : bool, default=False
        Whether to divide each activation by the norm of its vector in the feature space of the kernel, so
        that classes are compared by distances. Only changes a one-vs-rest ``prediction`` other than
        "vote"; not available for a joint vote.
    fit_intercept : bool, default=False
        Whether to learn an intercept.
    max_iter : int, default=10
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=None
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). A power of two only scales the activations. Other values also change how
        they are rounded, and so possibly which examples are mistakes. Thresholds such as ``tol`` do not scale
        with it.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling and of ``prediction="random"``. An int in [0, 2**32 - 1] is used in every
        call. Otherwise, each call that learns draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep what was
        learnt by the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops for a class when its validation accuracy has not improved on the best
        one by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    n_iter_no_change : int, default=5
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its vectors, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, no vote, and
        a model of two classes predicts the negative one. With "positive", it counts as positive in training,
        votes and predictions.
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    added_feature : float, default=0.0
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable. Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}, default="max"
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    cache_size : float, default=200
        Size of the cache for rows of kernel values, in megabytes, in (0, inf). Rows that are not kept are
        computed again, with the same bits. The reference engine has no cache.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    callback : callable or None, default=None
        Function that is called with an `EpochRecord` after each epoch. If it returns true, training stops.
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
    support_ : ndarray of shape (n_support,), int64
        Indices of the misclassified examples: their rows in the X of the call of ``fit`` or ``partial_fit``
        that stored them.
    support_vectors_ : ndarray or csr_matrix of shape (n_support, n_features)
        The misclassified examples, in the storage type of X. There are no rows if the kernel is
        precomputed.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Sum of the steps on each of them: the coefficients of the last vectors.
    mistakes_per_support_ : ndarray of shape (1, n_support) or (n_classes, n_support), int64
        Number of updates on each of them.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts after the last update.
    n_vectors_ : ndarray of shape (1,) or (n_classes,), int64
        Number of vectors: 1 plus the number of updates.
    survival_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        Survival count of each vector, the initial vector first.
    calibration_ : object
        What ``calibrate`` has found, with ``method``, ``slope`` and ``intercept``. Only available after it.
    recipe_ : object
        How texts, dictionaries or unscaled numbers become columns. Only of a file that holds such a recipe.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted. Of a matrix y of many labels, the numbers of its columns, or what
        ``partial_fit`` is told that they are; n_classes is then their number everywhere, also if it is 2.
    multilabel_ : bool
        Whether y had any number of labels for each example.
    n_iter_ : int
        Number of epochs of the last ``fit``, the maximum over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Number of epochs for each class.
    n_mistakes_ : int
        Number of mistakes in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Number of mistakes in each epoch of the last call; 0 for a class that has already stopped.
    loss_curve_ : list of float
        Mean perceptron loss of an example in each epoch, before its update, averaged over the classes; a
        class that has stopped counts as 0. Only available after ``fit``.
    converged_ : bool
        Whether the last epoch of every class was without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Number of mistakes on each example in the last call. Only available with ``track_mistakes=True``.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples visited for each class since the last cold start, over all calls; with
        ``early_stopping``, those up to the best epoch.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. The log of mistakes,
        the rows that it names and the gamma of their kernel.
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
    BudgetedKernelPerceptron : Keeps a bounded number of mistakes, for endless streams.
    VotedPerceptron : The same with a linear kernel, in the space of the features.

    References
    ----------
    .. [1] M. A. Aizerman, E. M. Braverman and L. I. Rozonoer, "Theoretical foundations of the potential
       function method in pattern recognition learning", Automation and Remote Control 25, 1964.
    .. [2] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999, pages 277-296: figure 1, and sections 3 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import KernelPerceptron
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    >>> y = np.array([0, 0, 1, 1])  # exclusive or: no line separates it
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, max_iter=100).fit(X, y)
    >>> model.converged_
    True
    >>> model.set_params(prediction="last").predict(X)
    array([0, 0, 1, 1])
    """

    _schema: ClassVar[Schema] = KERNEL
    _predictions: ClassVar[tuple[str, ...]] = KERNEL_PREDICTIONS

    intercept_: NDArray[np.float64]
    _norm: NDArray[np.float64]  # squared, of the last vectors

    @LearntAttribute
    def n_vectors_(self) -> NDArray[np.int64]:
        """Number of vectors, of each class."""
        numbers: NDArray[np.int64] = np.diff(self._model["log_start"]) + 1
        return numbers

    @LearntAttribute
    @consistent
    def survival_(self) -> list[NDArray[np.int64]]:
        """Survival count of each vector, for each class."""
        return survival_counts(self._vectors, self.n_seen_)

    def _cold_arrays(self, planes: int) -> State:
        return {"intercept": np.zeros(planes), "norm": np.zeros(planes)}

    def _begin(self, feeder: Feeder) -> LearntModel:
        state = {
            "sums": self._sums(feeder.engine, feeder.data),
            "intercept": self.intercept_,
            "norm": self._norm,
            "seen": self.n_seen_,
        }
        return self._owned(feeder.engine, state)

    def _settings(self, feeder: Feeder) -> Kernel:
        ask = None
        if callable(self.kernel):
            ask = rows_of_callable(self.kernel, matrix_of(feeder.data.stored, self.n_features_in_))
        return Kernel(
            **self._common_settings(feeder, Kernel),
            cache_bytes=int(min(float(self.cache_size) * _MEGABYTE, 2.0**62)),
            ask=ask,
        )

    def _keep(self, feeder: Feeder, state: RunState) -> None:
        vectors = extended_log(
            self._vectors,
            state,
            None if self.kernel == "precomputed" else feeder.data.stored,
            fit_intercept=bool(self.fit_intercept),
        )
        self._publish(vectors | {name: state[name] for name in ("intercept", "norm", "seen")})

    def _sums(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        """Return S (K, n) of the examples under the vectors so far."""
        if len(self._vectors["origin"]) == 0:
            return np.zeros((len(self.n_seen_), data.rows.shape[0]))
        return np.ascontiguousarray(self._answers(engine, data, "sum").T)

    def _prediction_parameters(self) -> dict[str, object]:
        own = {"prediction": self.prediction, "normalize": bool(self.normalize)}
        return super()._prediction_parameters() | own
