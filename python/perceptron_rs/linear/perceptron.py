"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import settled_arrays
from perceptron_rs.engines import LearntModel, State
from perceptron_rs.linear.parameters import PerceptronParameters
from perceptron_rs.linear.passes import PassLearner
from perceptron_rs.linear.predictor import PerceptronPredictor
from perceptron_rs.schema.schema import Schema
from perceptron_rs.settings import Linear


class Perceptron(PerceptronParameters, PassLearner):
    r"""Rosenblatt's perceptron: on a mistake, add the example to the weights.

    The activation of an example x with label y (+1 or -1) is :math:`a = w \cdot x + b`. If :math:`y a \le 0`,
    the example is a mistake, and the weights are updated: :math:`w \leftarrow w + \eta\, s\, y\, x`, :math:`b
    \leftarrow b + \eta\, s\, y`, where s is the weight of the example times that of its class. With more than
    two classes, each class is learnt against the rest, all in one pass over X.

    Training stops after an epoch without a mistake. If a hyperplane separates the classes, there is such an
    epoch, but with the default ``tol`` training can stop before it. For the perceptron of the textbook, and
    of the convergence theorem, set ``tol=None`` and a large ``max_iter``.

    The learnt weights are the same, to the last bit, for every storage type and layout of X, number of
    threads, machine and engine.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty that shrinks the weights at each example, whether it is a mistake or not.
    alpha : float, default=0.0001
        Strength of the penalty, in [0, inf).
    l1_ratio : float, default=0.15
        Mixing parameter of "elasticnet", in [0, 1]: 0 is "l2", 1 is "l1".
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    max_iter : int, default=1000
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=0.001
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    step : {"constant", "pa1", "pa2"}, default="constant"
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float, default=1.0
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling. An int in [0, 2**32 - 1] gives the same orders in each call of ``fit``.
        Otherwise, each ``fit`` that shuffles draws its seed from the given generator, or from NumPy's
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
        Whether ``fit`` continues from the previous call, with its weights, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}, default="max"
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    added_feature : float, default=0.0
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable. Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    n_partitions : int or array-like of int, default=1
        Number of contiguous parts of the examples that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are examples; or the number of examples in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``, ``added_feature`` and ``max_mistakes_per_example``.
    mixing : {"uniform", "mistakes"}, default="uniform"
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
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
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights. With two classes, there is one row, for ``classes_[1]``. A CSR matrix after ``sparsify``.
        After ``partial_fit`` under a penalty, they are computed when they are first read.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts.
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
        Number of mistakes, and so of updates, in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Number of mistakes in each epoch of the last call; 0 for a class that has already stopped.
    loss_curve_ : list of float
        Mean perceptron loss of an example in each epoch, before its update, averaged over the classes; a
        class that has stopped counts as 0. Only available after ``fit``.
    converged_ : bool
        Whether the last epoch of every class was without a mistake. For the setting of the convergence
        theorem, set ``tol=None`` and a large ``max_iter``.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Number of mistakes on each example in the last call. Only available with ``track_mistakes=True``.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples visited for each class since the last cold start, over all calls; with
        ``early_stopping``, those up to the best epoch.
    t_ : int
        Maximum of ``n_seen_``, plus 1.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name: ``coef``, ``intercept``.
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
    AveragedPerceptron : Makes the same updates, and predicts with the average of the weights.

    Notes
    -----
    The parameters of `sklearn.linear_model.Perceptron` have the same names and defaults here. The page
    "Coming from scikit-learn" of the documentation lists all differences. Each epoch draws a new random
    order. A fit stops after an epoch without a mistake. Examples of weight 0 are ignored. Sparse data is
    treated like dense data.

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
       organization in the brain", Psychological Review 65(6), 1958, pages 386-408.
    .. [2] A. B. J. Novikoff, "On convergence proofs for perceptrons", Symposium on the Mathematical
       Theory of Automata 12, 1962, pages 615-622.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import Perceptron
    >>> X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    >>> y = np.array([-1, 1, 1, -1, -1, 1])
    >>> model = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
    >>> model.coef_
    array([[3., 1.]])
    >>> model.mistakes_per_epoch_
    array([[3],
           [0]])
    >>> model.converged_
    True
    >>> model.predict([[2, 1], [-2, 1]])
    array([ 1, -1])
    """

    _schema: ClassVar[Schema] = PerceptronPredictor._schema

    def _settings_of(self, planes: NDArray[np.float64], seed: int | None, **options: object) -> Linear:
        return super()._settings_of(planes, seed, penalty=_strengths(self), **options)

    def _arrays(self, state: LearntModel) -> State:
        """Return a state as arrays; penalties are pending only if they are those of the estimator."""
        arrays, now = super()._arrays(state), _strengths(self)
        pending = arrays.get("strengths")
        if pending is not None and (now is None or pending.tolist() != [self.eta0, *now]):
            return settled_arrays(state)
        return arrays


def _strengths(learner: Perceptron) -> tuple[float, float] | None:
    """Return the strengths of the l1 and the l2 penalty of an example; None without a penalty."""
    if learner.penalty is None or learner.alpha == 0:
        return None
    if not learner.eta0 * learner.alpha < math.inf:
        raise ValueError(f"alpha must be finite times eta0, {learner.eta0}, got {learner.alpha}; lower one")
    of_l1 = {"l2": 0.0, "l1": 1.0, "elasticnet": float(learner.l1_ratio)}[learner.penalty]
    return float(learner.alpha) * of_l1, float(learner.alpha) * (1.0 - of_l1)
