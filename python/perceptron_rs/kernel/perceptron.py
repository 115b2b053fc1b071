"""The kernel perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.common.data import Examples
from perceptron_rs.common.driver import Report
from perceptron_rs.common.parameters import CONSTRAINTS, JOINT, NOISE
from perceptron_rs.common.planes import is_joint
from perceptron_rs.common.progress import Callback
from perceptron_rs.common.scoring import Scoring
from perceptron_rs.engines import Engine, KernelSpec
from perceptron_rs.kernel.budget import Train
from perceptron_rs.kernel.fitting import begin, fit
from perceptron_rs.kernel.support import KernelSupport
from perceptron_rs.kernel.training import KernelTraining
from perceptron_rs.kernel.values import KERNELS, is_number
from perceptron_rs.kernel.vectors import counts_of
from perceptron_rs.models.saved import Saved

__all__ = ["KernelPerceptron"]

_LEFT_OUT = ("early_stopping", "validation_fraction")
#: What may predict, and what the engines call it.
_ANSWERS = {"vote": "vote", "average": "average", "last": "last", "random": "drawn"}
PREDICTIONS = tuple(_ANSWERS)


class KernelPerceptron(KernelTraining, KernelSupport, Saved, Scoring, BaseEstimator):  # type: ignore[misc]
    r"""The perceptron in the space of a kernel.

    What is learnt is the log of mistakes: each mistake on an example :math:`x_k`, with the step
    :math:`c_k`, adds :math:`c_k K(x_k, x)` to the activation of every x. With the polynomial kernel of
    degree d that is a perceptron over all products of d features, which are never computed [1]_. More
    than two classes are learnt one against the rest, or jointly.

    All kinds of prediction come from the same fit, so ``prediction`` and ``normalize`` may be
    changed afterwards: the vote of all vectors that the run went through, their average, the last one, or
    one drawn at random [2]_.

    The time of a fit is mostly that of the kernel values of all examples with each mistaken one; that of
    a prediction is that of its kernel values with all mistaken examples.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        :math:`x \cdot z`; :math:`(\gamma x \cdot z + r)^d`; :math:`\exp(-\gamma \|x - z\|^2)`;
        :math:`\tanh(\gamma x \cdot z + r)`; X is the matrix of kernel values, of every example with every
        one that was fitted; or a function of two matrices of examples that returns the kernel values
        of each row of the first with each one of the second. A fit asks for the values of all examples
        with one that was mistaken, when they are needed, and again only if ``cache_size`` was too
        small to keep them; it must return the same values each time.
    degree : int, default=3
        d, at least 1.
    gamma : {"scale", "auto"} or float, default="scale"
        :math:`\gamma`, in (0, inf). "scale" is one divided by the number of features and the variance of
        X (1 if that is 0), "auto" one divided by the number of features. ``partial_fit`` and a warm start
        keep the first one.
    coef0 : float, default=0.0
        r, finite.
    prediction : {"vote", "average", "last", "random"}, default="vote"
        What predicts: the vote of all vectors, each with the number of examples that it survived (in a
        joint decision, for the class of its largest activation); their average over the examples; the last
        vector; or one vector for each class, drawn at random by the survival counts when the estimator is
        fitted.
    normalize : bool, default=False
        Whether each activation is divided by the norm of its vector in the space of the kernel, so that
        classes are compared by their distances. For each ``prediction`` but the vote, which it cannot change;
        for the vote of a joint decision it is refused.
    fit_intercept : bool, default=False
        Whether to learn an intercept.
    max_iter : int, default=10
        Largest number of epochs of a ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=None
        A class stops when its mean loss has failed ``n_iter_no_change`` times in a row to be
        lower by ``tol`` than the best one, in [0, inf). It always stops at the end of an epoch without
        a mistake. With None, only that and ``max_iter`` end a fit.
    shuffle : bool, default=True
        Whether ``fit`` visits the examples in a new random order in each epoch.
    verbose : int, default=0
        Above 0, a line about each epoch is printed.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). It only scales the activations.
    n_jobs : int or None, default=None
        Number of threads, as joblib reads it. It changes no bit of any result.
    random_state : int, RandomState instance or None, default=0
        Key of the random orders and of the vector that ``prediction="random"`` draws: an int in
        [0, 2**32 - 1] is the key itself, otherwise one number is drawn in each call that learns.
    n_iter_no_change : int, default=5
        See ``tol``. In [1, 2**31 - 1].
    class_weight : dict, "balanced" or None, default=None
        Factor >= 0 of the steps on the examples of each class, ``{label: weight}``, 1 for classes
        that it does not name. "balanced" is ``n_samples / (n_classes * count of the class)``. With
        more than two classes it applies to a class's own examples, and not where they are the rest.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last one: its vectors, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        With "mistake", an activation of exactly 0 is a mistake for every class, and two-class
        prediction is positive above 0 only. With "positive", 0 counts as positive for both.
    margin : float, default=0.0
        An example that is right by no more than this is a mistake, in [0, inf). Not with "joint".
    added_feature : float, default=0.0
        Value of a feature that each example has for itself while it is learnt from, in [0, inf). Above
        0, every data set can be separated. Not with "joint".
    max_mistakes_per_example : int or None, default=None
        Largest number of updates that an example may cause in a call, for each class.
    multi_class : {"ovr", "joint"}, default="ovr"
        More than two classes: each against the rest, or all of them in one decision.
    update : {"max", "uniform", "proportional"}, default="max"
        How a joint decision spreads the downward part of an update over the classes that are
        not below the true one.
    track_mistakes : bool, default=False
        Whether to count the mistakes made on each example (``mistakes_per_example_``).
    cache_size : float, default=200
        Megabytes for rows of kernel values that may be needed again, in (0, inf). A row that is not kept
        is computed again, with the same bits. The reference engine keeps none.
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
    support_ : ndarray of shape (n_support,), int64
        The mistaken examples: their rows in the X of the ``fit`` or ``partial_fit`` that stored them.
    support_vectors_ : ndarray or csr_matrix of shape (n_support, n_features)
        The mistaken examples, in their own storage; without rows for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Sum of the steps made on each of them, for the last vectors.
    mistakes_per_support_ : ndarray of shape (1, n_support) or (n_classes, n_support), int64
        Number of updates made on each of them.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        The last intercepts.
    n_vectors_ : ndarray of shape (1,) or (n_classes,), int64
        Number of vectors: one more than the updates.
    survival_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        Survival count of each vector, the start first.
    classes_ : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    n_iter_ : int
        Epochs run by the last ``fit``, the largest over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Epochs run for each class.
    n_mistakes_ : int
        Mistakes in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Mistakes in each epoch of the last call; 0 after a class has stopped.
    converged_ : bool
        Whether every class ended on an epoch without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Mistakes made on each example in the last call; with ``track_mistakes`` only.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Examples seen by each class since the last cold start, over all calls.
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
    BudgetedKernelPerceptron : Keeps a bounded number of mistakes, for streams that do not end.
    VotedPerceptron : The same in the space of the features themselves.

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

    _stored: ClassVar[dict[str, str]] = {"norm": "_norm"}
    _computed: ClassVar[tuple[str, ...]] = ("support_", "dual_coef_", "mistakes_per_support_", "survival_")
    _predictions: ClassVar[tuple[str, ...]] = PREDICTIONS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in CONSTRAINTS.items() if name not in _LEFT_OUT},
        **NOISE,
        **JOINT,
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [Interval(Real, 1, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "prediction": [StrOptions(set(PREDICTIONS))],
        "normalize": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    intercept_: NDArray[np.float64]
    _norm: NDArray[np.float64]
    _spec: KernelSpec  # with its gamma settled
    _seed: int  # of the last call that learnt

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        prediction: str = "vote",
        normalize: bool = False,
        fit_intercept: bool = False,
        max_iter: int = 10,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        tie: str = "mistake",
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        multi_class: str = "ovr",
        update: str = "max",
        track_mistakes: bool = False,
        cache_size: float = 200,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        audit: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.prediction = prediction
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.tie = tie
        self.margin = margin
        self.added_feature = added_feature
        self.max_mistakes_per_example = max_mistakes_per_example
        self.multi_class = multi_class
        self.update = update
        self.track_mistakes = track_mistakes
        self.cache_size = cache_size
        self.engine = engine
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt
        self.audit = audit

    @property
    def n_vectors_(self) -> NDArray[np.int64]:
        """Number of vectors, of each class."""
        numbers: NDArray[np.int64] = np.diff(self._vectors["log_start"]) + 1
        return numbers

    @property
    def survival_(self) -> list[NDArray[np.int64]]:
        """Survival count of each vector, of each class."""
        return counts_of(self._vectors, self.n_seen_)

    def _begin(self, planes: int) -> None:
        begin(self, planes)

    def _run(
        self,
        engine: Engine,
        data: Examples,
        seed: int,  # noqa: ARG002  of learners that draw
        shared: dict[str, Any],
        train: Train,
    ) -> Report:
        return fit(self, engine, data, shared, train)

    def _answer(self) -> str:
        answer = _ANSWERS[self.prediction]
        if answer == "vote":
            return "joint vote" if is_joint(self) else answer
        return f"normalised {answer}" if self.normalize else answer

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        super()._check_parameters(for_partial_fit=for_partial_fit)
        if self.prediction not in PREDICTIONS:
            raise ValueError(f"prediction must be one of {PREDICTIONS}, got {self.prediction!r}")
        if not is_number(self.cache_size, above_zero=True):
            raise ValueError(f"cache_size must be a finite float64 above 0, got {self.cache_size!r:.80}")
        if not isinstance(self.normalize, (bool, np.bool_)):
            raise ValueError(f"normalize must be True or False, got {self.normalize!r:.80}")
        if self.normalize and self.prediction == "vote" and is_joint(self):
            raise ValueError(
                "normalize=True is not available with prediction='vote' and multi_class='joint', where each "
                "vector votes by its activations; set normalize=False or another prediction"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
