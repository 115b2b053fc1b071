"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.common.parameters import CONSTRAINTS, JOINT, NOISE
from perceptron_rs.common.progress import Callback
from perceptron_rs.common.sparse_weights import SparseWeights
from perceptron_rs.linear.base import LinearLearner

__all__ = ["Perceptron"]


class Perceptron(SparseWeights, LinearLearner):
    r"""Rosenblatt's perceptron: on a mistake, add the example to the weights.

    For each example x of class y (+1 or -1) the activation is ``a = w.x + b``. If ``y a <= 0`` the
    example is a mistake, and ``w += eta0 s y x``, ``b += eta0 s y``, where s is its sample weight times
    the weight of its class. More than two classes are learnt one against the rest, all in one pass
    over X. An epoch without a mistake ends the fit. If a hyperplane separates the classes, there is such an
    epoch, but with the default ``tol`` the fit can end before it: for the perceptron of the textbook, and of
    the convergence theorem, set ``tol=None`` and a large ``max_iter``.

    The learnt bits are the same for every storage type and layout of X, number of threads, machine,
    and engine.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        What each example takes from the weights, whether it is a mistake or not.
    alpha : float, default=0.0001
        Strength of the penalty, in [0, inf).
    l1_ratio : float, default=0.15
        The part of "elasticnet" that is "l1", in [0, 1].
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False it keeps its start value, 0 unless given.
    max_iter : int, default=1000
        Largest number of epochs of a ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=1e-3
        A class stops when its mean loss has failed ``n_iter_no_change`` times in a row to be
        lower by ``tol`` than the best one, in [0, inf). It always stops at the end of an epoch without
        a mistake. With None, only that and ``max_iter`` end a fit.
    shuffle : bool, default=True
        Whether ``fit`` visits the examples in a new random order in each epoch.
    verbose : int, default=0
        Above 0, a line about each epoch is printed.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). From start weights 0 a power of two only scales the weights;
        other values also change how they are rounded, and so which examples are mistakes.
    n_jobs : int or None, default=None
        Number of threads, as joblib reads it. It changes no bit of any result.
    random_state : int, RandomState instance or None, default=0
        Key of the random orders: an int in [0, 2**32 - 1] is the key itself, otherwise one number
        is drawn in each ``fit`` that shuffles.
    early_stopping : bool, default=False
        Whether ``fit`` keeps a stratified part of the examples aside and stops by the accuracy there,
        instead of the loss: a class stops when its accuracy has failed ``n_iter_no_change`` times in
        a row to be higher by ``tol`` than the best one. The part is not learnt from.
    validation_fraction : float, default=0.1
        The part that ``early_stopping`` keeps aside, in (0, 1).
    n_iter_no_change : int, default=5
        See ``tol``. In [1, 2**31 - 1].
    class_weight : dict, "balanced" or None, default=None
        Factor >= 0 of the steps on the examples of each class, ``{label: weight}``, 1 for classes
        that it does not name. "balanced" is ``n_samples / (n_classes * count of the class)``. With
        more than two classes it applies to a class's own examples, and not where they are the rest.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last one: its weights, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        With "mistake", an activation of exactly 0 is a mistake for every class, and two-class
        prediction is positive above 0 only. With "positive", 0 counts as positive for both.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, on its own. With "joint", an example is a
        mistake if another class scores as high as its own, and all of them are updated together.
    update : {"max", "uniform", "proportional"}, default="max"
        What a joint update moves down: the class that scored highest; all that scored as high as the
        true one or higher, in equal parts; or in proportion to their excess. Unused with "ovr".
    margin : float, default=0.0
        An example that is right by no more than this is a mistake, in [0, inf). Not with "joint".
    added_feature : float, default=0.0
        Value of a feature that each example has for itself while it is learnt from, in [0, inf). Above
        0, every data set can be separated. Not with "joint".
    max_mistakes_per_example : int or None, default=None
        Largest number of updates that an example may cause in a call, for each class.
    track_mistakes : bool, default=False
        Whether to count the mistakes made on each example (``mistakes_per_example_``).
    engine : {"rust", "reference"}, default="rust"
        What computes. Both give the same bits; the reference is slow, and made to be read.
    callback : callable or None, default=None
        Called with an `EpochRecord` after each epoch. If it returns true, the fit ends there.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends a fit with what it has learnt so far, and a warning. Otherwise
        ``KeyboardInterrupt`` is raised and the estimator is as it was before.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too, so that `reproduce` can name the first
        block of examples that differs. ``random_state`` must then be an integer.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights; one row for two classes, for the activation of ``classes_[1]``. A CSR matrix after
        ``sparsify``.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    n_iter_ : int
        Epochs run by the last ``fit``, the largest over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Epochs run for each class.
    n_mistakes_ : int
        Mistakes, which are updates, in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Mistakes in each epoch of the last call; 0 after a class has stopped.
    converged_ : bool
        Whether every class ended on an epoch without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Mistakes made on each example in the last call; with ``track_mistakes`` only.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Examples seen by each class since the last cold start, over all calls.
    t_ : int
        One more than the largest of ``n_seen_``.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation part after each epoch; with ``early_stopping`` only.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    Raises
    ------
    ValueError
        By ``fit``, for a parameter out of its range, and for an input that holds wrong values.

    See Also
    --------
    AveragedPerceptron : The same run, predicting with the average of its weights.

    Notes
    -----
    The parameters of `sklearn.linear_model.Perceptron` have the same names and defaults here. What
    differs stands in a table of the documentation, on the page "Coming from scikit-learn": among others, a
    fit draws a new order in each epoch, stops after an epoch without a mistake, leaves examples of weight
    0 out, and treats sparse data like dense.

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

    _learner: ClassVar[str] = "perceptron"
    _stored: ClassVar[dict[str, str]] = {"coef": "coef_", "intercept": "intercept_", "seen": "n_seen_"}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        **JOINT,
        **NOISE,
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        tie: str = "mistake",
        multi_class: str = "ovr",
        update: str = "max",
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        track_mistakes: bool = False,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        audit: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.tie = tie
        self.multi_class = multi_class
        self.update = update
        self.margin = margin
        self.added_feature = added_feature
        self.max_mistakes_per_example = max_mistakes_per_example
        self.track_mistakes = track_mistakes
        self.engine = engine
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt
        self.audit = audit
