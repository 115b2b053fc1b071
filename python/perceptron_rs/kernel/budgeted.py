"""The kernel perceptron on a budget as a scikit-learn estimator."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.common.data import Examples
from perceptron_rs.common.driver import Report
from perceptron_rs.common.parameters import CONSTRAINTS, JOINT, NOISE
from perceptron_rs.common.progress import Callback
from perceptron_rs.common.scoring import Scoring
from perceptron_rs.engines import Engine, KernelSpec, State
from perceptron_rs.kernel.budget import Train, begin, fit
from perceptron_rs.kernel.support import KernelSupport
from perceptron_rs.kernel.training import KernelTraining
from perceptron_rs.kernel.values import KERNELS
from perceptron_rs.models.saved import Saved
from perceptron_rs.settings import POLICIES

__all__ = ["BudgetedKernelPerceptron"]

_LEFT_OUT = ("early_stopping", "validation_fraction", "fit_intercept")
_LARGEST = 2**31 - 1


class BudgetedKernelPerceptron(KernelTraining, KernelSupport, Saved, Scoring, BaseEstimator):  # type: ignore[misc]
    r"""The kernel perceptron that keeps a bounded number of mistakes, for streams that do not end.

    It learns as `KernelPerceptron` does: a mistake on an example :math:`x_k`, with the step
    :math:`c_k`, adds :math:`c_k K(x_k, x)` to the activation of every x. At most ``budget`` mistakes
    are kept; ``budget_policy`` says what makes room for the next one. Memory, and the time for an
    example, then stay bounded however many examples come. The last vector predicts.

    There is no intercept, which no mistake may outlast: give X a column of ones, or the kernel a
    ``coef0``.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
        :math:`x \cdot z`; :math:`(\gamma x \cdot z + r)^d`; :math:`\exp(-\gamma \|x - z\|^2)`;
        :math:`\tanh(\gamma x \cdot z + r)`; or X is the matrix of kernel values, of every example with
        every one that was fitted.
    budget : int, default=100
        Largest number of mistakes that are kept, for each class or for a joint decision as a whole, in
        [1, 2**31 - 1]. It cannot change between the calls of a run.
    budget_policy : {"oldest", "random", "forgetron", "projectron"}, default="oldest"
        What makes room when the budget is full: discard the oldest mistake; discard one drawn at random
        [1]_; shrink all steps, by as much as bounds the harm of discarding the oldest mistake, and
        discard it [2]_; or project the new mistake onto those kept, in the space of the kernel, and
        discard nothing [3]_. The mistake bounds of the last two need kernel values of at most 1 of
        each example with itself, as those of "rbf" are. "projectron" needs a positive definite kernel:
        not "sigmoid", nor "poly" with ``coef0`` below 0.
    projection_distance : float, default=0.0
        With "projectron", an example whose distance from the span of those kept is at most this is
        projected even if there is room, in [0, inf).
    degree : int, default=3
        d, at least 1.
    gamma : {"scale", "auto"} or float, default="scale"
        :math:`\gamma`, in (0, inf). "scale" is one divided by the number of features and the variance of
        X (1 if that is 0), "auto" one divided by the number of features. ``partial_fit`` and a warm start
        keep the first one.
    coef0 : float, default=0.0
        r, finite.
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
        Key of the random orders and of what ``budget_policy="random"`` draws: an int in [0, 2**32 - 1] is
        the key itself, otherwise one number is drawn in each call that learns.
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
    max_mistakes_per_example : int or None, default=None
        Largest number of updates that an example may cause in a call, for each class.
    multi_class : {"ovr", "joint"}, default="ovr"
        More than two classes: each against the rest, or all of them in one decision.
    update : {"max", "uniform", "proportional"}, default="max"
        How a joint decision spreads the downward part of an update over the classes that are
        not below the true one.
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
    support_ : ndarray of shape (n_support,), int64
        The mistaken examples that are kept: their rows in the X of the ``fit`` or ``partial_fit`` that
        stored them.
    support_vectors_ : ndarray or csr_matrix of shape (n_support, n_features)
        The examples that are kept, in their own storage; without rows for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Sum of the steps on each of them.
    mistakes_per_support_ : ndarray of shape (1, n_support) or (n_classes, n_support), int64
        Number of mistakes on each of them that are kept.
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
    KernelPerceptron : Keeps every mistake, and predicts by any of its vectors.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi and C. Gentile, "Tracking the best hyperplane with a simple budget
       perceptron", Machine Learning 69, 2007, pages 143-167: the randomized budget perceptron.
    .. [2] O. Dekel, S. Shalev-Shwartz and Y. Singer, "The Forgetron: a kernel-based perceptron on a budget",
       SIAM Journal on Computing 37, 2008, pages 1342-1372: the self-tuned Forgetron.
    .. [3] F. Orabona, J. Keshet and B. Caputo, "Bounded kernel-based online learning", Journal of Machine
       Learning Research 10, 2009, pages 2643-2666: algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import BudgetedKernelPerceptron
    >>> random = np.random.default_rng(0)
    >>> model = BudgetedKernelPerceptron(gamma=1.0, budget=30, budget_policy="projectron")
    >>> for _ in range(10):
    ...     X = random.normal(size=(200, 2))
    ...     model = model.partial_fit(X, X[:, 0] * X[:, 1] > 0, classes=[False, True])
    >>> model.support_vectors_.shape
    (30, 2)
    """

    _computed: ClassVar[tuple[str, ...]] = ("support_", "dual_coef_", "mistakes_per_support_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in CONSTRAINTS.items() if name not in _LEFT_OUT},
        **{name: rule for name, rule in NOISE.items() if name != "added_feature"},
        **JOINT,
        "budget": [Interval(Integral, 1, _LARGEST, closed="both")],
        "budget_policy": [StrOptions(set(POLICIES))],
        "projection_distance": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions(set(KERNELS))],
        "degree": [Interval(Real, 1, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
    }

    _spec: KernelSpec  # with its gamma settled
    _seed: int  # of the last call that learnt
    _kept: State  # what is kept, as the engines have it; ``_vectors`` are made of it
    _policy_seed: int | None  # of the first call of a run

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        budget: int = 100,
        budget_policy: str = "oldest",
        projection_distance: float = 0.0,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
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
        max_mistakes_per_example: int | None = None,
        multi_class: str = "ovr",
        update: str = "max",
        track_mistakes: bool = False,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        audit: bool = False,
    ) -> None:
        self.kernel = kernel
        self.budget = budget
        self.budget_policy = budget_policy
        self.projection_distance = projection_distance
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
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
        self.max_mistakes_per_example = max_mistakes_per_example
        self.multi_class = multi_class
        self.update = update
        self.track_mistakes = track_mistakes
        self.engine = engine
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt
        self.audit = audit

    def _begin(self, planes: int) -> None:
        begin(self, planes)

    def _run(
        self,
        engine: Engine,
        data: Examples,
        seed: int,
        shared: dict[str, Any],
        train: Train,
    ) -> Report:
        return fit(self, engine, data, seed, shared, train)

    def _answer(self) -> str:
        return "last"

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        super()._check_parameters(for_partial_fit=for_partial_fit)
        budget, policy, distance = self.budget, self.budget_policy, self.projection_distance
        if isinstance(budget, bool) or not isinstance(budget, Integral) or not 1 <= int(budget) <= _LARGEST:
            raise ValueError(f"budget must be a whole number of at least 1, got {budget!r:.80}")
        if policy not in POLICIES:
            raise ValueError(f"budget_policy must be one of {POLICIES}, got {policy!r:.80}")
        if not isinstance(distance, Real) or not 0 <= float(distance) < math.inf:
            raise ValueError(
                f"projection_distance must be a finite float64 of at least 0, got {distance!s:.80}"
            )
        if callable(self.kernel):
            raise ValueError(
                "a callable kernel is not available with a budget; name a kernel, or compute the matrix of "
                "kernel values and set kernel='precomputed'"
            )
        indefinite = self.kernel == "sigmoid" or (self.kernel == "poly" and float(self.coef0) < 0)
        if policy == "projectron" and indefinite:
            raise ValueError(
                f"budget_policy='projectron' needs a kernel that is positive definite, got "
                f"kernel={self.kernel!r} with coef0={self.coef0!r}; set another policy or kernel, or a "
                f"larger coef0"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
